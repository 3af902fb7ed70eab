"""Payouts at Efí through a serving gateway: whatever the bank and the wire do."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote

import pytest

from gateway.app.build_callbacks import path_of, secrets_of
from gateway.domain.bank.provider_callbacks import CallbackOrder
from gateway.operations.backoffice.bank_callbacks import CallbackRegistrations
from gateway.runtime.providers import ConnectedBanks
from tests.surfaces.answers import Answer
from tests.surfaces.backoffice.test_operations import BANK_PAYEE
from tests.surfaces.banks.every_bank import PREFIX, AtBank, EveryBank
from tests.surfaces.banks.test_matrix_cells import days
from tests.surfaces.world import order

pytestmark = pytest.mark.asyncio(loop_scope="module")

BANK = "efi"
TO_ACCOUNT = {"method": "bank_account", "destination": BANK_PAYEE}


@pytest.fixture
def bank(every_bank: EveryBank) -> AtBank:
    return every_bank[BANK]


def payout(bank: AtBank, **changed: object) -> dict[str, Any]:
    return order(f"efi-{uuid.uuid4()}", bank.office.world.today(), **changed)


async def ended(bank: AtBank, reference: str) -> dict[str, Any]:
    """Read a payout until it is no longer processing."""
    async with asyncio.timeout(20):
        while True:
            found = (await bank.partner("GET", f"/withdraw/{reference}")).document
            if found["status"] != "processing":
                return dict(found)
            await asyncio.sleep(0.05)


async def executed(bank: AtBank) -> list[int]:
    return [row["centavos"] for row in (await bank.control.get("executions"))["data"]]


async def newest_key(bank: AtBank) -> str:
    return str((await bank.control.get("executions"))["data"][-1]["key"])


@asynccontextmanager
async def failing(bank: AtBank, operation: str, fault: str, **more: object) -> AsyncIterator[None]:
    await bank.control.post("faults", body={"operation": operation, "fault": fault, **more})
    try:
        yield
    finally:
        await bank.control.delete("faults")


def said(answer: Answer) -> tuple[int, object]:
    return answer.status, answer.document.get("code", answer.document.get("status"))


@pytest.mark.parametrize("to", [{}, TO_ACCOUNT], ids=["key", "account"])
async def test_a_payout_settles_and_is_paid_once(bank: AtBank, to: dict[str, object]):
    before, wanted = await executed(bank), payout(bank, **to)

    first = await bank.partner("POST", "/withdraw", wanted)
    again = await bank.partner("POST", "/withdraw", wanted)

    assert (said(first), said(again)[0]) == ((200, "processing"), 200)
    assert (await ended(bank, wanted["reference"]))["status"] == "paid"
    assert await executed(bank) == [*before, 1050]


async def test_a_payout_that_the_bank_fails_later_has_failed(bank: AtBank):
    before, wanted = await executed(bank), payout(bank, value=777.02)

    assert said(await bank.partner("POST", "/withdraw", wanted)) == (200, "processing")

    found = await ended(bank, wanted["reference"])
    assert (found["status"], found["failure"]["code"]) == ("failed", "OTHER")
    assert await executed(bank) == before


@pytest.mark.parametrize("fault", ["malformed", "reset_after"])
async def test_an_unknown_payout_is_found_by_our_key(bank: AtBank, fault: str):
    """The first answer says so, the second request asks, and nothing is sent again."""
    before, wanted = await executed(bank), payout(bank)
    async with failing(bank, "payout", fault):
        unknown = await bank.partner("POST", "/withdraw", wanted)
    again = await bank.partner("POST", "/withdraw", wanted)

    assert (said(unknown), said(again)[0]) == ((502, "SVC.PIX.010"), 200)
    assert (await ended(bank, wanted["reference"]))["status"] == "paid"
    assert await executed(bank) == [*before, 1050]


async def test_a_payout_that_may_have_left_is_never_sent_again(bank: AtBank):
    """The bank never had it; nothing says when that is proven, so a person decides at last."""
    before, wanted = await executed(bank), payout(bank)
    async with failing(bank, "payout", "reset_before"):
        unknown = await bank.partner("POST", "/withdraw", wanted)
    again = await bank.partner("POST", "/withdraw", wanted)

    assert (said(unknown), said(again)) == ((502, "SVC.PIX.010"), (200, "processing"))
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
    async with asyncio.timeout(20):
        while (await refunded(bank, wanted["reference"]))["status"] != "paid":
            await asyncio.sleep(0.05)


async def refunded(bank: AtBank, reference: str) -> dict[str, Any]:
    return dict((await bank.person("GET", f"/pix/refunds/{reference}")).document)


@asynccontextmanager
async def told_at(bank: AtBank, order: CallbackOrder) -> AsyncIterator[None]:
    """Have the bank send callbacks to an address."""
    world = bank.office.world
    kernel = world.gateway.kernel
    registrations = CallbackRegistrations(
        accounts=kernel.store.accounts,
        banks=ConnectedBanks(world.gateway.connections, kernel.keys.sealer.open),
        audit=kernel.store.audit,
        acting=world.office.acting,
    )
    made = await registrations.register(bank.account, order)
    try:
        yield
    finally:
        await registrations.remove(bank.account, made.id)


async def callbacks(bank: AtBank, key: str) -> list[dict[str, Any]]:
    listed = await bank.office.ask("GET", "/backoffice/v1/webhooks?limit=100")
    return [each for each in listed.document["data"] if each["subject"] == key]


async def done(bank: AtBank, key: str) -> dict[str, Any]:
    async with asyncio.timeout(20):
        while not any(each["state"] == "done" for each in await callbacks(bank, key)):
            await asyncio.sleep(0.05)
    (found,) = await callbacks(bank, key)
    return found


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
