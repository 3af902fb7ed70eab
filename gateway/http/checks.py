"""What must hold of every row, however it was written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gateway.http.route import Gate, Row, Surface
from policies.traffic.csrf import CsrfToken, ReadFromOurPage, WriteFromOurPage

_COOKIE = "session"
_READING = frozenset({"GET", "HEAD"})


def check_surfaces(surfaces: Iterable[Surface]) -> list[str]:
    """
    Return a line for each row that must not be served.

    Without a permission, a limit or a declared failure; or behind a cookie
    without the layers against forged requests.
    """
    return [
        f"{row.name}: {problem}"
        for surface in surfaces
        for gate in surface.gates
        for row in gate.rows
        for problem in _problems(surface, gate, row)
    ]


def _problems(surface: Surface, gate: Gate[Any], row: Row[Any]) -> Iterable[str]:
    """Name what is wrong with one row."""
    if row.needs is None and not gate.opens:
        yield "no permission"
    if row.needs is not None and not gate.policies:
        yield "a permission that no policy asks for"
    if row.needs is not None and not row.fails:
        yield "no declared failure"
    if (row.takes.body is None) is not (row.limits.body_bytes == 0):
        yield "a body without a limit, or a limit without a body"
    if row.limits.body_bytes > surface.body_bytes:
        yield "a body larger than its surface takes"
    if gate.scheme == _COOKIE and not _is_guarded(gate, row):
        yield "a cookie without its guards against forged requests"


def _is_guarded(gate: Gate[Any], row: Row[Any]) -> bool:
    """Say whether a cookie gate asks where a request comes from, and a write for its token."""
    asked = {type(policy) for policy in gate.policies}
    if row.method in _READING:
        return bool(asked & {ReadFromOurPage, WriteFromOurPage})
    return {WriteFromOurPage, CsrfToken} <= asked
