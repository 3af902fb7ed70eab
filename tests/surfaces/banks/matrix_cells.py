"""What several tests of matrix cells share."""

from __future__ import annotations

import uuid

from tests.surfaces.banks.every_bank import AtBank


def charge(bank: AtBank) -> dict[str, object]:
    """Return a charge as every bank takes it: not all have expiries, and some want a payer."""
    return {
        "reference": uuid.uuid4().hex,
        "type": "Dynamic",
        "key": bank.keys[0],
        "value": 10.5,
        "payer": {"name": "Maria Silva", "tax_number": "529.982.247-25", "message": "pedido"},
        "description": "um pedido",
    }


def days(bank: AtBank) -> dict[str, str]:
    today = bank.office.world.today()
    return {"init": today, "ends": today}
