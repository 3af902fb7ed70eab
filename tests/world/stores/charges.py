"""What several tests of charges share."""

from __future__ import annotations

from datetime import timedelta

from gateway.app.store import Store
from gateway.banks.port.charges import ChargeType
from gateway.charges.model import ChargeRecord, ChargeState
from gateway.charges.store import StoredCharges
from tests.world.stores.samples import ACCOUNT, NOW

SECOND = timedelta(seconds=1)


def records(store: Store) -> StoredCharges:
    return StoredCharges(store.database)


def charge(number: int = 1, **changed: object) -> ChargeRecord:
    plain: dict[str, object] = {
        "id": f"00000000-0000-4000-8000-{number:012}",
        "account_id": ACCOUNT,
        "reference": f"cob-{number}",
        "provider": "sandbox",
        "type": ChargeType.DYNAMIC,
        "reusable": False,
        "centavos": 1050,
        "state": ChargeState.ACTIVE,
        "created_at": NOW + number * SECOND,
        "expires_at": None,
        "updated_at": NOW,
    }
    return ChargeRecord(**{**plain, **changed})  # type: ignore[arg-type]
