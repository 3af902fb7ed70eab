"""A payout with its tries as one line of JSON; the same rows always give the same bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from gateway.store.tables.columns import Record, reference_digest
from gateway.store.tables.core import attempts, payouts

_WORK: Final = frozenset(
    {"lease_until", "next_check_at", "check_owner", "check_until", "review", "exception"}
)
"""Columns of payouts that only one under way uses, or that follow from others."""
_DIGESTS: Final = frozenset({"reference_sha256", "payee_digest", "payee_folded"})
_OF_PAYOUT: Final = tuple(name for name in payouts.c.keys() if name not in _WORK | _DIGESTS)  # noqa: SIM118 - a collection of columns
_OF_ATTEMPT: Final = tuple(
    name
    for name in attempts.c.keys()  # noqa: SIM118 - the same
    if name not in {"account_id", "reference_sha256"}
)
_DOCUMENTS: Final = frozenset({"destination", "destination_sent", "key_owner", "evidence"})
"""Columns that hold JSON, which is written as it is."""


def line(payout: Record, tries: Sequence[Record]) -> bytes:
    """Write the row of a payout and those of its tries, oldest first."""
    document = _document(payout, _OF_PAYOUT)
    document["attempts"] = [_document(each, _OF_ATTEMPT) for each in tries]
    return json.dumps(document, separators=(",", ":"), default=_written).encode() + b"\n"


def read(written: bytes) -> Mapping[str, Any]:
    """Read a line; raises ``ValueError`` for one that is no payout."""
    document: Mapping[str, Any] = json.loads(written)
    if not isinstance(document, dict) or not set(_OF_PAYOUT) <= document.keys():
        problem = "a line is no payout"
        raise ValueError(problem)
    return document


def digest_of(document: Mapping[str, Any]) -> bytes:
    """Return the key of a payout's row within its account."""
    return reference_digest(document["reference"])


def _document(row: Record, names: Sequence[str]) -> dict[str, Any]:
    found = {name: getattr(row, name) for name in names}
    for name in _DOCUMENTS & found.keys():
        found[name] = None if found[name] is None else json.loads(found[name])
    return found


def _written(value: Any) -> str:  # noqa: ANN401 - what JSON has no form for
    if isinstance(value, datetime):
        value = value.astimezone(UTC).replace(tzinfo=None)
        return f"{value.isoformat(timespec='microseconds')}Z"
    text: str = value.isoformat()
    return text
