"""An identifier for every movement that is the same in every report."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC

from gateway.domain.bank.statements import Entry

_LENGTH = 32


def stable_ids(account_id: str, entries: Iterable[Entry]) -> Sequence[str]:
    """
    Name each movement by what a bank does not change about it; no two alike.

    Banks repeat ids (a fee under the payment's, a return under the payout's),
    so an id counts together with instant, direction and value. What is
    alike in all that is numbered; being of one instant, it is always in the
    same window.
    """
    seen: Counter[str] = Counter()
    ids = []
    for entry in entries:
        digest = _digest(account_id, entry)
        seen[digest] += 1
        ids.append(digest if seen[digest] == 1 else f"{digest}-{seen[digest]}")
    return ids


def _digest(account_id: str, entry: Entry) -> str:
    """Digest what stays; names and descriptions only where the bank gives no id."""
    known = entry.provider_id or entry.e2e_id
    words = "" if known else f"{entry.description}\0{entry.counterparty.name}"
    parts = (
        account_id,
        known,
        words,
        entry.direction.value,
        str(entry.value.centavos),
        entry.created_at.astimezone(UTC).isoformat(),
    )
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:_LENGTH]
