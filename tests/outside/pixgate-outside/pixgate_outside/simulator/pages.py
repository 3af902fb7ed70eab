"""How the simulated bank gives lists: items are skipped."""

from __future__ import annotations

from collections.abc import Sequence

from provider_adapters.testing.bank.accounts import Entry
from provider_adapters.testing.bank.dialect import BankRequest
from provider_adapters.testing.bank.messages import invalid

_LARGEST = 100


def cut(
    request: BankRequest, entries: Sequence[Entry]
) -> tuple[Sequence[Entry], dict[str, object]]:
    """Return the part of a list that is asked for, and what the page says beside it."""
    size = max(1, min(_number(request, "limit", _LARGEST), _LARGEST))
    start = _number(request, "skip", 0)
    return entries[start : start + size], {"more": len(entries) > start + size}


def _number(request: BankRequest, name: str, default: int) -> int:
    """Read a number of the query; raises ``INVALID_REQUEST``."""
    text = request.query.get(name, str(default))
    if not (text.isascii() and text.isdigit()):
        problem = f"{name} is a number"
        raise invalid(problem)
    return int(text)
