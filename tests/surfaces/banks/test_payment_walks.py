"""Payments that no notice told of, found by a walk at every bank, with the charge that they pay."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from gateway.core.money import Money
from gateway.events.model import EventType
from gateway.store.tables.core import charges, events
from provider_adapters.testing import simulators
from tests.surfaces.banks.every_bank import AtBank, EveryBank
from tests.surfaces.banks.matrix_cells import charge

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def told(bank: AtBank) -> list[tuple[str, str]]:
    """Walk, and return the end-to-end id and the charge of each payment that was told."""
    world = bank.office.world
    for task in ("feed readers", "payment walks"):
        await world.run_task(task)
    wanted = select(events.c.e2e_id, events.c.reference).where(
        events.c.account_id == bank.account.id, events.c.type == EventType.PIX_RECEIVED.value
    )
    return [
        (row.e2e_id, row.reference)
        for row in await world.gateway.kernel.store.database.rows(wanted)
    ]


@pytest.mark.parametrize("name", simulators.names())
async def test_payments_with_and_without_a_charge_are_found(every_bank: EveryBank, name: str):
    bank = every_bank[name]
    wanted = charge(bank)
    bank.office.world.gateway.services.feed_readers.note(bank.account.id)
    before = await told(bank)
    assert (await bank.person("POST", "/pix/qrcode", wanted)).status == 201

    body = {"value": 1.5}
    paid = await bank.control.post("accounts", bank.bank_account, "incoming", body=body)
    await bank.pay_newest_charge()
    found = [each for each in await told(bank) if each not in before]

    assert len(found) == 2
    assert paid["e2e_id"].upper() in {each.upper() for each, named in found if not named}
    assert sorted(named for _, named in found) == ["", wanted["reference"]]
    database = bank.office.world.gateway.kernel.store.database
    [row] = await database.rows(select(charges).where(charges.c.reference == wanted["reference"]))
    assert (row.state, row.paid_centavos) == ("Paid", Money(10_50).centavos)
