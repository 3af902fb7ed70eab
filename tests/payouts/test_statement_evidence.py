"""A payout found in the bank's statement: proof that it was paid, and of nothing else."""

import pytest

from gateway.banks.port.providers import BadReply, CredentialsRefused, NotFound, Page, Unavailable
from gateway.payouts.model import PayoutState
from tests.world.movements import movement
from tests.world.payouts import (
    ACCEPTED,
    FAILED,
    NOT_SENT,
    PAID,
    REJECTED,
    SENDING,
    UNKNOWN,
    PayoutWorld,
)
from tests.world.people import account
from tests.world.standing import Clock

DAY_S = 24 * 3600
FAILURES = [
    NotFound("x"),
    CredentialsRefused("x"),
    Unavailable("x"),
    BadReply("x"),
    TimeoutError(),
    KeyError("an adapter's mistake"),
]


def telling(payout_world: PayoutWorld, *entries: object) -> None:
    payout_world.bank.reads["statement"] = {None: Page(items=entries, next_cursor=None)}


@pytest.mark.parametrize("state", [UNKNOWN, ACCEPTED])
async def test_a_movement_with_our_key_pays_the_payout(
    payout_world: PayoutWorld, state: PayoutState
):
    before = await payout_world.stands(state)
    telling(payout_world, movement(provider_key=before.provider_key))

    found = await payout_world.follow_up.search_statement(before, account(), 1.0)

    assert found == await payout_world.row()
    assert found.state is PAID


@pytest.mark.parametrize("state", [UNKNOWN, ACCEPTED])
async def test_a_statement_without_the_payout_proves_nothing(
    payout_world: PayoutWorld, state: PayoutState, clock: Clock
):
    """Not even absence, however late: statements are slow, and some are truncated."""
    before = await payout_world.stands(state)
    telling(payout_world)
    clock.passes(30 * DAY_S)

    assert await payout_world.follow_up.search_statement(before, account(), 1.0) == before
    assert await payout_world.row() == before


@pytest.mark.parametrize("failure", FAILURES, ids=lambda each: type(each).__name__)
async def test_an_unreadable_statement_raises_nothing(
    payout_world: PayoutWorld, failure: Exception
):
    before = await payout_world.stands(UNKNOWN)
    payout_world.bank.reads["statement"] = {None: failure}

    assert await payout_world.follow_up.search_statement(before, account(), 1.0) == before


@pytest.mark.parametrize("state", [SENDING, NOT_SENT, PAID, REJECTED, FAILED])
async def test_the_statement_is_read_for_unsettled_payouts_alone(
    payout_world: PayoutWorld, state: PayoutState
):
    before = await payout_world.stands(state)
    telling(payout_world, movement(provider_key=before.provider_key))

    assert await payout_world.follow_up.search_statement(before, account(), 1.0) == before


async def test_another_bank_s_statement_is_not_read(payout_world: PayoutWorld):
    before = await payout_world.stands(UNKNOWN)
    telling(payout_world, movement(provider_key=before.provider_key))
    payout_world.banks.name = "other-bank"

    assert await payout_world.follow_up.search_statement(before, account(), 1.0) == before
