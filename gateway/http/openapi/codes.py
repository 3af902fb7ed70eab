"""Every code that a row can answer with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from gateway.domain.kernel import errors
from gateway.domain.kernel.catalogue import ErrorCode
from gateway.http.route import Gate, Row

_EVERYWHERE: Final = (
    errors.MALFORMED_REQUEST,
    errors.BODY_TOO_LARGE,
    errors.REQUEST_TIMEOUT,
    errors.HEADERS_TOO_LARGE,
    errors.OVERLOADED,
    errors.DRAINING,
    errors.INTERNAL,
)


def codes_of(gate: Gate[Any], row: Row[Any]) -> list[ErrorCode]:
    """Return every code a row can answer with, each once."""
    found: dict[str, ErrorCode] = {}
    sources: Iterable[Sequence[ErrorCode]] = (
        _EVERYWHERE,
        *(policy.refuses for policy in gate.policies),
        row.takes.refuses,
        tuple(row.fails.values()),
        row.raises,
    )
    for source in sources:
        found.update((error.name, error) for error in source)
    return list(found.values())
