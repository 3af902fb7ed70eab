"""A payout whose answer was lost, at a bank that finds it by nothing but its own id."""

from dataclasses import replace

import pytest

from gateway.banks.port.capabilities import Lookup
from gateway.banks.port.providers import NotFound, Outcome
from gateway.payouts.model import PayoutState
from tests.world.payouts import (
    ACCEPTED,
    CAREFUL,
    FAILED,
    IS_ACCEPTED,
    IS_REJECTED,
    IS_SETTLED,
    IS_UNKNOWN,
    PAID,
    UNKNOWN,
    PayoutWorld,
)
from tests.world.people import account

BY_ID = replace(CAREFUL, lookup=frozenset({Lookup.BANK_ID}))


async def look(world: PayoutWorld, named: str = "bank-7"):  # type: ignore[no-untyped-def]
    return await world.follow_up.look(await world.row(), account(), named=named)


def ours(said: Outcome, key: str) -> Outcome:
    return said if said is IS_UNKNOWN else replace(said, provider_key=key)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("said", "after"),
    [(IS_SETTLED, PAID), (IS_ACCEPTED, ACCEPTED), (IS_REJECTED, FAILED), (IS_UNKNOWN, UNKNOWN)],
    ids=["settled", "accepted", "rejected", "unknown"],
)
async def test_a_lost_answer_is_found_by_the_bank_id_in_a_callback(
    payout_world: PayoutWorld, said: Outcome, after: PayoutState
):
    """Without sending anything: the bank is only queried."""
    row = await payout_world.stands(UNKNOWN)
    payout_world.bank.capabilities = BY_ID
    payout_world.bank.knows = ours(said, row.provider_key)

    found = await look(payout_world)

    assert found.state is after
    assert payout_world.bank.lookups == [(row.provider_key, "bank-7")]
    assert payout_world.bank.orders == []


@pytest.mark.parametrize("key", ["", "0" * 32], ids=["none", "another"])
@pytest.mark.parametrize("said", [IS_SETTLED, IS_ACCEPTED, IS_REJECTED])
async def test_a_record_at_the_bank_without_our_key_proves_nothing(
    payout_world: PayoutWorld, said: Outcome, key: str
):
    """Otherwise the callback token would allow naming any payout of the account."""
    before = await payout_world.stands(UNKNOWN)
    payout_world.bank.capabilities = BY_ID
    payout_world.bank.knows = ours(said, key)

    found = await look(payout_world)

    assert found == before == await payout_world.row()


async def test_absence_under_an_id_from_a_callback_proves_nothing(payout_world: PayoutWorld):
    before = await payout_world.stands(UNKNOWN)
    payout_world.clock.passes(24 * 3600)
    payout_world.bank.capabilities = BY_ID
    payout_world.bank.knows = NotFound("absent")

    assert await look(payout_world) == before


@pytest.mark.parametrize("named", ["bank-7", ""])
async def test_a_bank_with_a_look_up_by_key_is_not_queried_by_id(
    payout_world: PayoutWorld, named: str
):
    row = await payout_world.stands(UNKNOWN)
    payout_world.bank.knows = IS_SETTLED

    found = await look(payout_world, named)

    assert found.state is PAID
    assert payout_world.bank.lookups == [(row.provider_key, "")]


async def test_a_bank_with_a_look_up_by_id_alone_is_not_queried_without_an_id(
    payout_world: PayoutWorld,
):
    before = await payout_world.stands(UNKNOWN)
    payout_world.bank.capabilities = BY_ID
    payout_world.bank.knows = IS_SETTLED

    assert await look(payout_world, "") == before
    assert payout_world.bank.lookups == []
