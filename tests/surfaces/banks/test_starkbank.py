"""Payouts at Stark Bank through a serving gateway: whatever the bank and the wire do."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from gateway.app.build_callbacks import path_of
from gateway.domain.bank.payout_orders import PayoutMethod, PayoutOrder, PixDestination
from gateway.domain.bank.pix_keys import PixKeyType
from gateway.domain.bank.provider_callbacks import CallbackOrder
from gateway.domain.bank.providers import Settled, Unknown
from gateway.domain.kernel.clocks import Deadline
from gateway.domain.kernel.money import Money
from gateway.operations.backoffice.bank_callbacks import CallbackRegistrations, MissedEvents
from gateway.runtime.providers import ConnectedBanks
from tests.surfaces.answers import Answer
from tests.surfaces.backoffice.test_operations import BANK_PAYEE
from tests.surfaces.banks.every_bank import PREFIX, AtBank, EveryBank
from tests.surfaces.world import order

pytestmark = pytest.mark.asyncio(loop_scope="module")

BANK = "starkbank"
TO_ACCOUNT = {"method": "bank_account", "destination": BANK_PAYEE}


@pytest.fixture
def bank(every_bank: EveryBank) -> AtBank:
    return every_bank[BANK]


def payout(bank: AtBank, **changed: object) -> dict[str, Any]:
    return order(f"stark-{uuid.uuid4()}", bank.office.world.today(), **changed)


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
async def test_an_unknown_payout_is_found_by_its_tag(bank: AtBank, fault: str):
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


async def test_a_known_key_is_the_payout_that_it_stands_for(bank: AtBank):
    """The bank refuses it with a word that nothing lists; the tag tells what is there."""
    connection = bank.office.world.gateway.connections[PREFIX + BANK]
    rooms, wanted = bank.office.world.gateway.rooms, payout(bank)
    await bank.partner("POST", "/withdraw", wanted)
    await ended(bank, wanted["reference"])
    before, key = await executed(bank), await newest_key(bank)
    at = rooms.bank.banks.of(bank.account)
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
    by = Deadline(time.monotonic() + 10, time.monotonic)

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


@asynccontextmanager
async def told_at(bank: AtBank, url: str) -> AsyncIterator[None]:
    """Have the bank send callbacks to an address."""
    world = bank.office.world
    kernel = world.gateway.kernel
    registrations = CallbackRegistrations(
        accounts=kernel.store.accounts,
        banks=ConnectedBanks(world.gateway.connections, kernel.keys.sealer.open),
        audit=kernel.store.audit,
        acting=world.office.acting,
    )
    made = await registrations.register(bank.account, CallbackOrder(url=url))
    try:
        yield
    finally:
        await registrations.remove(bank.account, made.id)


async def callbacks(bank: AtBank, key: str) -> list[dict[str, Any]]:
    listed = await bank.office.ask("GET", "/backoffice/v1/webhooks?limit=100")
    return [each for each in listed.document["data"] if each["subject"] == key]


async def newest_key(bank: AtBank) -> str:
    return str((await bank.control.get("executions"))["data"][-1]["key"])


async def done(bank: AtBank, key: str) -> dict[str, Any]:
    async with asyncio.timeout(20):
        while not any(each["state"] == "done" for each in await callbacks(bank, key)):
            await asyncio.sleep(0.05)
    (found,) = await callbacks(bank, key)
    return found


async def test_a_callback_is_proven_by_the_key_that_the_bank_shows(bank: AtBank):
    world = bank.office.world
    path = path_of(PREFIX + BANK, world.gateway.kernel.keys.derivation)
    wanted = payout(bank)
    async with told_at(bank, f"http://127.0.0.1:{world.port}{path}"):
        await bank.partner("POST", "/withdraw", wanted)
        told = await done(bank, await newest_key(bank))

    assert (told["kind"], told["provider"]) == ("payout", PREFIX + BANK)
    forged = await world.call(
        "POST", path, data=b'{"event": {}}', headers={"Digital-Signature": "AAAA"}
    )
    assert forged.status == 401


async def test_a_missed_event_is_polled_once(bank: AtBank):
    """Nobody takes it at the address that the bank knows; it is read from the bank, then gone."""
    rooms = bank.office.world.gateway.rooms
    missed = MissedEvents(
        providers=(PREFIX + BANK,),
        accounts=rooms.kernel.store.accounts,
        banks=rooms.bank.banks,
        reception=rooms.callbacks,
    )
    wanted = payout(bank)
    async with told_at(bank, "http://127.0.0.1:1/callbacks/nobody"):
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
        async with asyncio.timeout(20):
            while not await callbacks(bank, key):
                ahead_s += 60.0
                await bank.control.post("clock", body={"offset_s": ahead_s})
                await asyncio.sleep(0.1)
                await missed.turn()
    finally:
        await bank.control.post("clock", body={"offset_s": 0.0})
