"""What must hold of every row, however it was written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gateway.http.route import Gate, Row, Surface

_MAY_BE_OPEN = frozenset({"info", "health", "error_codes"})


def check_surfaces(surfaces: Iterable[Surface]) -> list[str]:
    """Return a line for each row without a permission, a limit or a declared failure."""
    return [
        f"{row.name}: {problem}"
        for surface in surfaces
        for gate in surface.gates
        for row in gate.rows
        for problem in _problems(surface, gate, row)
    ]


def _problems(surface: Surface, gate: Gate[Any], row: Row[Any]) -> Iterable[str]:
    """Name what is wrong with one row."""
    if row.needs is None and row.name.split(".")[-1] not in _MAY_BE_OPEN:
        yield "no permission"
    if row.needs is not None and not gate.policies:
        yield "a permission that no policy asks for"
    if row.needs is not None and not row.fails:
        yield "no declared failure"
    if (row.takes.body is None) is not (row.limits.body_bytes == 0):
        yield "a body without a limit, or a limit without a body"
    if row.limits.body_bytes > surface.body_bytes:
        yield "a body larger than its surface takes"
