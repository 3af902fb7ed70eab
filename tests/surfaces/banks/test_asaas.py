"""Payouts at Asaas through a serving gateway: no answer is sent twice, and a callback finds it."""

from __future__ import annotations

import itertools
import json
import uuid
from datetime import timedelta
from typing import Any

import pytest

from gateway.app.banks import path_of, secrets_of
from provider_adapters.kit.proofs import token_text
from tests.surfaces.banks.every_bank import PREFIX, AtBank, EveryBank
from tests.surfaces.banks.paying import ended, executed, failing, in_review, said
from tests.world.gateway.world import order

pytestmark = pytest.mark.asyncio(loop_scope="module")

BANK = "asaas"
CENTAVOS = itertools.count(2001)
"""The bank refuses the same amount to the same recipient for a quarter of an hour."""


@pytest.fixture
def bank(every_bank: EveryBank) -> AtBank:
    return every_bank[BANK]


def payout(bank: AtBank, **changed: object) -> dict[str, Any]:
    value = {"value": next(CENTAVOS) / 100}
    return order(f"asaas-{uuid.uuid4()}", bank.office.world.today(), **(value | changed))


async def status(bank: AtBank, reference: str) -> str:
    return str((await bank.partner("GET", f"/withdraw/{reference}")).document["status"])


def centavos(wanted: dict[str, Any]) -> int:
    return round(wanted["value"] * 100)


@pytest.mark.parametrize("fault", ["malformed", "reset_after", "reset_before"])
async def test_a_lost_answer_ends_in_review_and_never_in_a_second_order(bank: AtBank, fault: str):
    """Paid or not: the bank does not find payouts by our key, and would pay a key again."""
    before, wanted = await executed(bank), payout(bank)
    async with failing(bank, "payout", fault):
        unknown = await bank.partner("POST", "/withdraw", wanted)
    after = await executed(bank)
    again = await bank.partner("POST", "/withdraw", wanted)

    assert (said(unknown), said(again)) == ((502, "SVC.PIX.010"), (200, "processing"))
    assert not await in_review(bank, wanted["reference"], timedelta(hours=25))
    assert await in_review(bank, wanted["reference"], timedelta(hours=27))
    assert await status(bank, wanted["reference"]) == "processing"
    paid = [] if fault == "reset_before" else [centavos(wanted)]
    assert await executed(bank) == after == [*before, *paid]


def secret(bank: AtBank) -> bytes:
    kernel = bank.office.world.gateway.kernel
    known = secrets_of(PREFIX + BANK, kernel.settings, kernel.keys.derivation)
    return known.shared_or_derived[0]


async def test_a_callback_that_names_another_transfer_settles_nothing(bank: AtBank):
    """The token alone cannot confuse payouts: the bank is asked for the key."""
    other, wanted = payout(bank), payout(bank)
    await bank.partner("POST", "/withdraw", other)
    assert (await ended(bank, other["reference"]))["status"] == "paid"
    store = bank.office.world.gateway.kernel.store.payouts
    settled = await store.find(bank.account.id, other["reference"])
    async with failing(bank, "payout", "reset_before"):
        await bank.partner("POST", "/withdraw", wanted)
    lost = await store.find(bank.account.id, wanted["reference"])
    assert settled is not None
    assert lost is not None
    named = {"id": settled.provider_id, "externalReference": lost.provider_key}
    body = {"id": f"evt_{uuid.uuid4()}", "event": "TRANSFER_DONE", "transfer": named}
    world = bank.office.world
    path = path_of(PREFIX + BANK, world.gateway.kernel.keys.derivation)

    async def send(token: str) -> int:
        headers = {"asaas-access-token": token}
        sent = json.dumps(body).encode()
        return (await world.call("POST", path, data=sent, headers=headers)).status

    assert await send("f" * 64) == 401
    assert await send(token_text(secret(bank))) == 200
    await world.run_task("callbacks")
    assert await status(bank, wanted["reference"]) == "processing"
