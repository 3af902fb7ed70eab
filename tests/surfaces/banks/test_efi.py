"""Payouts at Efí through a serving gateway: whatever the bank and the wire do."""

from __future__ import annotations

import json
import uuid
from typing import Any
from urllib.parse import quote

import pytest

from gateway.app.banks import path_of, secrets_of
from gateway.banks.port.provider_callbacks import CallbackOrder
from tests.surfaces.banks.every_bank import PREFIX, AtBank, EveryBank
from tests.surfaces.banks.matrix_cells import days
from tests.surfaces.banks.paying import done, ended, executed, newest_key, payout, said, told_at
from tests.world.backoffice.operations import BANK_PAYEE
from tests.world.waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="module")

BANK = "efi"


@pytest.fixture
def bank(every_bank: EveryBank) -> AtBank:
    return every_bank[BANK]


async def test_a_payout_that_the_bank_fails_later_has_failed(bank: AtBank):
    before, wanted = await executed(bank), payout(bank, value=777.02)

    assert said(await bank.partner("POST", "/withdraw", wanted)) == (200, "processing")

    found = await ended(bank, wanted["reference"])
    assert (found["status"], found["failure"]["code"]) == ("failed", "OTHER")
    assert await executed(bank) == before


async def test_what_can_never_be_sent_is_refused(bank: AtBank):
    before = await executed(bank)
    nobody = {**BANK_PAYEE, "bank_number": "999"}
    unknown = {**payout(bank)["destination"], "key": "notfound@example.com"}

    for changed in (
        {"method": "bank_account", "destination": nobody},
        {"destination": unknown},
        {"destination": {**unknown, "key": "owner@example.com"}},
    ):
        refused = await bank.partner("POST", "/withdraw", payout(bank, **changed))
        assert said(refused) == (400, "SVC.PIX.010")
    assert await executed(bank) == before


async def test_a_paid_charge_is_given_back_in_part(bank: AtBank):
    """Once, however often it is asked for; at the bank a derived txid is its reference."""
    reference = f"pedido/{uuid.uuid4()}"
    charge = {
        "reference": reference,
        "type": "Dynamic",
        "key": bank.keys[0],
        "value": 10.5,
        "payer": {"name": "Maria Silva", "tax_number": "529.982.247-25", "message": "pedido"},
        "description": "um pedido",
    }
    made = await bank.person("POST", "/pix/qrcode", charge)
    await bank.pay_newest_charge()
    place = quote(reference, safe="")
    wanted = {"reference": uuid.uuid4().hex, "value": 3.25, "description": "uma parte"}
    given = [
        await bank.person("POST", f"/pix/transactions/{place}/refunds", wanted) for _ in range(2)
    ]

    assert [made.status, *(each.status for each in given)] == [201, 200, 409]
    listed = await bank.person("POST", "/pix/transactions/search", days(bank))
    assert 3.25 in [each["refunded"] for each in listed.document["data"]]

    async def is_refunded() -> bool:
        return bool((await refunded(bank, wanted["reference"]))["status"] == "paid")

    await until(is_refunded)


async def refunded(bank: AtBank, reference: str) -> dict[str, Any]:
    return dict((await bank.person("GET", f"/pix/refunds/{reference}")).document)


async def test_a_callback_is_proven_by_its_secret_step(bank: AtBank):
    world = bank.office.world
    path = path_of(PREFIX + BANK, world.gateway.kernel.keys.derivation)
    secret = secrets_of(
        PREFIX + BANK, world.gateway.kernel.settings, world.gateway.kernel.keys.derivation
    ).shared_or_derived[0]
    asked = CallbackOrder(url=f"http://127.0.0.1:{world.port}{path}", secret=secret)
    wanted = payout(bank)
    async with told_at(bank, asked):
        await bank.partner("POST", "/withdraw", wanted)
        key = await newest_key(bank)
        told = await done(bank, key)

    assert (told["kind"], told["provider"]) == ("payout", PREFIX + BANK)
    assert (await ended(bank, wanted["reference"]))["status"] == "paid"
    body = json.dumps({"pix": [{"gnExtras": {"idEnvio": key}}]}).encode()
    forged = await world.call("POST", f"{path}/{'0' * 64}", data=body)
    assert forged.status in {401, 404}
