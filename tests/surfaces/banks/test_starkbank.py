"""Payouts at Stark Bank through a serving gateway: whatever the bank and the wire do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateway.app.banks import path_of
from gateway.banks.port.payout_orders import PayoutMethod, PayoutOrder, PixDestination
from gateway.banks.port.pix_keys import PixKeyType
from gateway.banks.port.provider_callbacks import CallbackOrder
from gateway.banks.port.providers import Settled, Unknown
from gateway.callbacks.registrations import MissedEvents
from gateway.core.clocks import Deadline
from gateway.core.money import Money
from tests.surfaces.banks.every_bank import PREFIX, AtBank, EveryBank
from tests.surfaces.banks.paying import (
    callbacks,
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

BANK = "starkbank"


@pytest.fixture
def bank(every_bank: EveryBank) -> AtBank:
    return every_bank[BANK]


async def test_a_payout_that_the_bank_fails_later_has_failed(bank: AtBank):
    before, wanted = await executed(bank), payout(bank, value=777.02)

    assert said(await bank.partner("POST", "/withdraw", wanted)) == (200, "processing")

    found = await ended(bank, wanted["reference"])
    assert (found["status"], found["failure"]["code"]) == ("failed", "OTHER")
    assert await executed(bank) == before


async def test_a_known_key_is_the_payout_that_it_stands_for(bank: AtBank):
    """The bank refuses it with a word that nothing lists; the tag tells what is there."""
    connection = bank.office.world.gateway.connections[PREFIX + BANK]
    services, wanted = bank.office.world.gateway.services, payout(bank)
    await bank.partner("POST", "/withdraw", wanted)
    await ended(bank, wanted["reference"])
    before, key = await executed(bank), await newest_key(bank)
    at = services.banks.of(bank.account)
    assert at is not None
    destination = PixDestination(
        name="Maria Silva",
        tax_number="52998224725",
        key_type=PixKeyType.EMAIL,
        key="maria@example.com",
    )
    order_again = PayoutOrder(
        provider_key=key,
        method=PayoutMethod.PIX,
        value=Money(1050),
        destination=destination,
        description="",
    )
    by = Deadline(60, lambda: 0.0)

    same = await connection.adapter.create_payout(at.account, order_again, by)
    more = replace(order_again, value=Money(1051))
    other = await connection.adapter.create_payout(at.account, more, by)

    assert isinstance(same, Settled)
    assert isinstance(other, Unknown)
    assert await executed(bank) == before


async def test_a_directory_that_fails_sends_nothing_and_may_be_repeated(bank: AtBank):
    wanted, before = payout(bank), await executed(bank)
    async with failing(bank, "keys", "status", status=500, count=None):
        refused = await bank.partner("POST", "/withdraw", wanted)
    assert (said(refused), await executed(bank)) == ((502, "SVC.ACC.005"), before)

    assert said(await bank.partner("POST", "/withdraw", wanted)) == (200, "processing")
    assert (await ended(bank, wanted["reference"]))["status"] == "paid"


async def test_what_can_never_be_sent_is_refused(bank: AtBank):
    before = await executed(bank)
    nobody = {**BANK_PAYEE, "bank_number": "999"}
    unknown = {**payout(bank)["destination"], "key": "notfound@example.com"}

    for changed in (
        {"method": "bank_account", "destination": nobody},
        {"destination": unknown},
        {"destination": {**unknown, "key": "owner@example.com"}},
        {"value": 1_000_000.0},
    ):
        refused = await bank.partner("POST", "/withdraw", payout(bank, **changed))
        assert said(refused) == (400, "SVC.PIX.010")
    assert await executed(bank) == before


async def test_a_callback_is_proven_by_the_key_that_the_bank_shows(bank: AtBank):
    world = bank.office.world
    path = path_of(PREFIX + BANK, world.gateway.kernel.keys.derivation)
    wanted = payout(bank)
    asked = CallbackOrder(url=f"http://127.0.0.1:{world.port}{path}")
    async with told_at(bank, asked):
        await bank.partner("POST", "/withdraw", wanted)
        told = await done(bank, await newest_key(bank))

    assert (told["kind"], told["provider"]) == ("payout", PREFIX + BANK)
    forged = await world.call(
        "POST", path, data=b'{"event": {}}', headers={"Digital-Signature": "AAAA"}
    )
    assert forged.status == 401


async def test_a_missed_event_is_polled_once(bank: AtBank):
    """Nobody takes it at the address that the bank knows; it is read from the bank, then gone."""
    services = bank.office.world.gateway.services
    missed = MissedEvents(
        providers=(PREFIX + BANK,),
        accounts=services.kernel.store.accounts,
        banks=services.banks,
        reception=services.reception,
    )
    wanted = payout(bank)
    async with told_at(bank, CallbackOrder(url="http://127.0.0.1:1/callbacks/nobody")):
        await bank.partner("POST", "/withdraw", wanted)
        await ended(bank, wanted["reference"])
        key = await newest_key(bank)
        await polled(bank, missed, key)

    assert (await done(bank, key))["kind"] == "payout"
    assert await missed.turn() == 0


async def polled(bank: AtBank, missed: MissedEvents, key: str) -> None:
    """
    Poll until the bank has given up a payout's event; moving its clock spends its pauses.

    Payouts of earlier tests may still be told of, and be given up sooner.
    """
    ahead_s = 0.0
    try:
        while not await callbacks(bank, key):
            ahead_s += 60.0
            await bank.control.post("clock", body={"offset_s": ahead_s})
            await missed.turn()
    finally:
        await bank.control.post("clock", body={"offset_s": 0.0})
