"""Answers below the application, to malformed and incomplete requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from http import HTTPStatus
from typing import Final

import orjson
from aiohttp import hdrs

from gateway.core import trace
from gateway.core.catalogue import ErrorCode
from gateway.core.errors import DRAINING

SERVER: Final = "pixgate"
"""The ``Server`` header: no library's name, and no version."""
_HEADERS: Final[Mapping[str, str]] = {
    hdrs.CONTENT_TYPE: "application/json; charset=utf-8",
    hdrs.CACHE_CONTROL: "no-store",
    hdrs.SERVER: SERVER,
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer with our error body; the last one of its connection."""

    status: int
    body: bytes
    headers: Mapping[str, str]


def error_body(error: ErrorCode, trace_id: str, message: str = "", **more: str) -> bytes:
    """
    Write the one body every refusal has (contract 2.2).

    Args:
        error: The catalogued code.
        trace_id: Of the request.
        message: Another one than the code's own.
        more: Further fields behind it, on the surfaces of people.
    """
    body = {"code": error.code, "message": message or error.message, "trace_id": trace_id, **more}
    return orjson.dumps(body)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusals:
    """
    Bodies of refusals below the application, and the callback that gets notified.

    Attributes:
        new_trace_id: Makes the trace id: an invalid request may not hold a valid one.
        on_refusal: Called for every refusal, for the log line and the metrics; must
            not raise.
        links: The ``Link`` to the page of a code, by code.
    """

    new_trace_id: Callable[[], str] = trace.new_trace_id
    on_refusal: Callable[[ErrorCode, str], None] = lambda _error, _trace_id: None
    links: Mapping[str, str] = field(default_factory=dict)

    def answer(self, error: ErrorCode) -> Refusal:
        """Make the answer."""
        trace_id = self.new_trace_id()
        self.on_refusal(error, trace_id)
        headers: dict[str, str] = {"X-Trace-ID": trace_id, **_HEADERS}
        if error is DRAINING:  # another process takes over within a second
            headers[hdrs.RETRY_AFTER] = "1"
        if link := self.links.get(error.code):
            headers[hdrs.LINK] = link
        return Refusal(error.status, error_body(error, trace_id), headers)


def to_bytes(refusal: Refusal, *, is_bodiless: bool) -> bytes:
    """Write a refusal where aiohttp cannot answer; an answer to HEAD has no body even then."""
    lines = [
        f"HTTP/1.1 {refusal.status} {HTTPStatus(refusal.status).phrase}",
        *map(": ".join, refusal.headers.items()),
        f"Content-Length: {len(refusal.body)}",
        "Connection: close",
        f"Date: {formatdate(usegmt=True)}",
        "\r\n",
    ]
    head = "\r\n".join(lines).encode()
    return head if is_bodiless else head + refusal.body
