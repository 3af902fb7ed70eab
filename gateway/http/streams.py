"""Answers that go on after their first bytes: what is counted, and why one was cut."""

from __future__ import annotations

from contextlib import aclosing

from gateway.http.rendering import translate
from gateway.http.table import RoutedRow
from gateway.net.server.writing import Pieces
from gateway.telemetry.records import AccessRecord


async def counted(record: AccessRecord, first: bytes, rest: Pieces) -> Pieces:
    """Join the first bytes of a body with the rest, and count them while they are written."""
    async with aclosing(rest):
        if first:
            record.bytes_out = len(first)
            yield first
        async for piece in rest:
            record.bytes_out += len(piece)
            yield piece


def why_cut(problem: Exception, place: RoutedRow | None) -> str:
    """Say why an answer is not whole: the caller went, was too slow, or a failure of ours."""
    match problem:
        case ConnectionError():
            return "caller_gone"
        case TimeoutError():
            return "caller_slow"
        case _:
            return translate(problem, place).reason
