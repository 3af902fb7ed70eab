"""Payouts at Woovi through a serving gateway: whatever the bank and the wire do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateway.app.banks import path_of
from gateway.banks.port.payout_orders import PayoutMethod, PayoutOrder, PixDestination
from gateway.banks.port.pix_keys import PixKeyType
from gateway.banks.port.provider_callbacks import CallbackOrder
from gateway.banks.port.providers import Settled, Unknown
from gateway.core.clocks import Deadline
from gateway.core.money import Money
from tests.surfaces.banks.every_bank import PREFIX, AtBank, EveryBank
from tests.surfaces.banks.paying import (
    TO_ACCOUNT,
    done,
    ended,
    executed,
    failing,
    newest_key,
    payout,
    said,
    told_at,
)
from tests.world.backoffice.operations import BANK_PAYEE

pytestmark = pytest.mark.asyncio(loop_scope="module")

BANK = "woovi"


@pytest.fixture
def bank(every_bank: EveryBank) -> AtBank:
    return every_bank[BANK]


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"value": 777.02}, "REJECTED"),
        ({**TO_ACCOUNT, "destination": {**BANK_PAYEE, "account": "1010103"}}, "ACCOUNT_INVALID"),
        ({**TO_ACCOUNT, "destination": {**BANK_PAYEE, "account": "2222222"}}, "INSUFFICIENT_FUNDS"),
        ({**TO_ACCOUNT, "destination": {**BANK_PAYEE, "account": "5555555"}}, "LIMIT_EXCEEDED"),
    ],
)
async def test_a_payout_that_the_bank_fails_later_says_why(
    bank: AtBank, changed: dict[str, object], code: str
):
    """The accounts are those of the bank's own test environment."""
    before, wanted = await executed(bank), payout(bank, **changed)

    assert said(await bank.partner("POST", "/withdraw", wanted)) == (200, "processing")

    found = await ended(bank, wanted["reference"])
    assert (found["status"], found["failure"]["code"]) == ("failed", code)
    assert await executed(bank) == before


async def test_a_known_key_is_the_payout_that_it_stands_for(bank: AtBank):
    """The bank refuses a repetition; the adapter reads it back, and compares."""
    world, wanted = bank.office.world, payout(bank)
    await bank.partner("POST", "/withdraw", wanted)
    await ended(bank, wanted["reference"])
    before, key = await executed(bank), await newest_key(bank)
    at = world.gateway.services.banks.of(bank.account)
    assert at is not None
    to = wanted["destination"]
    again = PayoutOrder(
        provider_key=key,
        method=PayoutMethod.PIX,
        value=Money(1050),
        destination=PixDestination(
            name=to["name"],
            tax_number="52998224725",
            key_type=PixKeyType(to["key_type"]),
            key=to["key"],
        ),
        description="",
    )
    adapter = world.gateway.connections[PREFIX + BANK].adapter
    by = Deadline(60, lambda: 0.0)

    same = await adapter.create_payout(at.account, again, by)
    more = await adapter.create_payout(at.account, replace(again, value=Money(1051)), by)

    assert isinstance(same, Settled)
    assert isinstance(more, Unknown)
    assert await executed(bank) == before


async def test_what_can_never_be_sent_and_what_is_not_there_is_refused(bank: AtBank):
    before = await executed(bank)
    nobody = {**TO_ACCOUNT, "destination": {**BANK_PAYEE, "bank_number": "998"}}

    for changed in (nobody, {"value": 9_999_999.99}):
        refused = await bank.partner("POST", "/withdraw", payout(bank, **changed))
        assert said(refused) == (400, "SVC.PIX.010")
    assert await executed(bank) == before


async def test_too_many_calls_for_the_bank_are_not_sent_and_may_be_repeated(bank: AtBank):
    before, wanted = await executed(bank), payout(bank)
    async with failing(bank, "payout", "status", status=429):
        refused = await bank.partner("POST", "/withdraw", wanted)

    assert said(refused) == (502, "SVC.ACC.005")
    assert await executed(bank) == before


async def test_a_callback_is_proven_by_the_key_that_the_bank_shows(bank: AtBank):
    world = bank.office.world
    path = path_of(PREFIX + BANK, world.gateway.kernel.keys.derivation)
    wanted = payout(bank)
    asked = CallbackOrder(url=f"http://127.0.0.1:{world.port}{path}")
    async with told_at(bank, asked):
        await bank.partner("POST", "/withdraw", wanted)
        told = await done(bank, await newest_key(bank))
    forged = await world.call("POST", path, data=b"{}", headers={"x-webhook-signature": "AAAA"})

    assert (told["kind"], told["provider"]) == ("payout", PREFIX + BANK)
    assert forged.status == 401
    assert (await ended(bank, wanted["reference"]))["status"] == "paid"


async def test_a_payment_is_given_back_in_part_and_once(bank: AtBank):
    body = {"value": 50.0}
    income = await bank.control.post("accounts", bank.bank_account, "incoming", body=body)
    path = f"/pix/transactions/{income['e2e_id']}/refunds"
    wanted = {"reference": "woovi-refund", "value": 20.0}

    first = await bank.person("POST", path, wanted)
    again = await bank.person("POST", path, wanted)
    other = await bank.person("POST", path, {**wanted, "value": 19.0})

    assert first.document["transaction"]["e2e_id"] == income["e2e_id"]
    assert again.document["return_id"] == first.document["return_id"]
    assert (first.status, again.status, other.status) == (200, 200, 409)
    given = (await bank.control.get("refunds"))["data"]
    assert [each["centavos"] for each in given].count(2000) == 1
