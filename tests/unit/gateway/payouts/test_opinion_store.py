"""Reviews in the store: what is decided is decided with its record, or not at all."""

import pytest

from gateway.app.store import Store
from gateway.core.storage import StoreUnavailable
from gateway.payouts.model import Opinion, PayoutState, Verdict
from tests.world.stores.samples import ACCOUNT, NOW, attempt, change, event, payout

UNKNOWN, PAID = PayoutState.UNKNOWN, PayoutState.PAID
OPINION = Opinion(
    account_id=ACCOUNT,
    reference="order-1",
    verdict=Verdict.PAID,
    reason="r",
    by="maria",
    at=NOW,
    attempt=1,
    state=UNKNOWN,
)


@pytest.fixture
async def unrecorded(store: Store) -> Store:
    """A store that cannot append to the record of acts."""
    await store.payouts.add(payout(), attempt())
    await store.payouts.record(change(PayoutState.SENDING, UNKNOWN))
    async with store.database.writing() as connection:
        await connection.exec_driver_sql("DELETE FROM audit_head")
    return store


async def test_an_opinion_that_cannot_be_recorded_is_not_kept(unrecorded: Store) -> None:
    with pytest.raises(StoreUnavailable):
        await unrecorded.reviews.add(OPINION, event())

    assert await unrecorded.reviews.of(ACCOUNT, "order-1") == []


async def test_a_decision_that_cannot_be_recorded_is_not_taken(unrecorded: Store) -> None:
    with pytest.raises(StoreUnavailable):
        await unrecorded.reviews.decide(change(UNKNOWN, PAID), [], event())

    found = await unrecorded.payouts.find(ACCOUNT, "order-1")
    assert found is not None
    assert found.state is UNKNOWN


async def test_a_step_the_states_do_not_allow_is_a_mistake_of_ours(unrecorded: Store) -> None:
    with pytest.raises(ValueError, match="follow"):
        await unrecorded.reviews.decide(change(PAID, UNKNOWN), [], event())
