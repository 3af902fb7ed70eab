"""Movements of a bank's statement, by default debits of payouts."""

from __future__ import annotations

from gateway.banks.port.charges import Party
from gateway.banks.port.statements import Direction, Entry
from tests.world.payouts import VALUE
from tests.world.standing import NOON


def movement(**fields: object) -> Entry:
    plain = {
        "provider_id": "trf_7",
        "e2e_id": "E7",
        "direction": Direction.DEBIT,
        "is_pix": True,
        "value": VALUE,
        "description": "",
        "counterparty": Party(),
        "created_at": NOON,
    }
    return Entry(**{**plain, **fields})  # type: ignore[arg-type]
