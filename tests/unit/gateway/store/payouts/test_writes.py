"""One transaction for many: who is first of a key, and who must go alone."""

from collections.abc import Sequence

import pytest

from gateway.domain.payouts.payouts import PayoutState
from gateway.store.engine import Store
from gateway.store.payouts.steps import Claim, Intent, Write, WriteResult
from gateway.store.payouts.writes import write_batch
from tests.contract.stores.samples import ACCOUNT, attempt, change, payout

SENDING, NOT_SENT = PayoutState.SENDING, PayoutState.NOT_SENT
ACCEPTED, PAID = PayoutState.ACCEPTED, PayoutState.PAID


async def written(store: Store, *writes: Write) -> Sequence[WriteResult | None]:
    """Do all in one transaction."""
    async with store.database.writing() as connection:
        return await write_batch(store.database, connection, writes)


def intent(reference: str, centavos: int = 1050) -> Intent:
    """Mean to pay."""
    return Intent(payout(reference, centavos=centavos), attempt())


async def test_answers_come_in_the_order_of_the_writes(store: Store) -> None:
    await written(store, intent("a"))

    told = await written(
        store, change(SENDING, PAID, reference="a", attempt=9), intent("b"), intent("a", 7)
    )

    assert told == [False, True, payout("a")]


async def test_the_first_of_equal_references_is_stored(store: Store) -> None:
    told = await written(store, intent("b", 1), intent("a", 2), intent("b", 3))

    assert told == [True, True, payout("b", centavos=1)]
    assert await store.payouts.find(ACCOUNT, "b") == payout("b", centavos=1)


@pytest.mark.parametrize("size", [1, 2, 40, 57, 64])
async def test_any_number_is_stored(store: Store, size: int) -> None:
    told = await written(store, *(intent(f"{number}") for number in range(size)))

    assert told == [True] * size
    last = str(size - 1)
    assert await store.payouts.find(ACCOUNT, last) == payout(last)


async def test_a_second_step_of_a_payout_goes_alone(store: Store) -> None:
    """It must be compared with what the first one makes of the row."""
    await written(store, intent("a"))

    told = await written(
        store, change(SENDING, ACCEPTED, reference="a"), change(ACCEPTED, PAID, reference="a")
    )

    assert told == [True, None]
    row = await store.payouts.find(ACCOUNT, "a")
    assert row is not None
    assert row.state is ACCEPTED


async def test_a_claim_of_an_attempt_that_was_made_is_lost(store: Store) -> None:
    """Somebody else has claimed, sent, and proven it unsent in between."""
    late = Claim(payout("a"), attempt(2))
    await written(store, intent("a"))
    await written(store, change(SENDING, NOT_SENT, reference="a"))
    await written(store, late)
    await written(store, change(SENDING, NOT_SENT, reference="a", attempt=2))

    told = await written(store, late)
    next_one = await written(store, Claim(payout("a"), attempt(3)))

    assert (told, next_one) == ([False], [True])


async def test_what_finds_no_row_is_not_decided_here(store: Store) -> None:
    """Somebody may hold it: a batch does not wait to see."""
    assert await written(store, change(SENDING, PAID, reference="nobody's")) == [None]


async def test_nothing_is_nothing(store: Store) -> None:
    assert await written(store) == []
