"""Steps that no payout may take are refused before the store is asked."""

from itertools import product

import pytest

from gateway.app.store import Store
from gateway.payouts.model import SUCCESSORS, PayoutState
from tests.world.stores.samples import attempt, change, of, payout

FORBIDDEN = [
    (before, after)
    for before, after in product(PayoutState, PayoutState)
    if after not in SUCCESSORS[before] or after is PayoutState.SENDING
]


async def test_a_step_the_states_do_not_allow_is_a_mistake_of_ours(store: Store) -> None:
    await store.payouts.add(payout(), attempt())

    for before, after in FORBIDDEN:
        with pytest.raises(ValueError, match=r"follow|claim"):
            await store.payouts.record(change(before, after))

        assert await store.payouts.find(payout().account_id, "order-1") == payout()


@pytest.mark.parametrize(
    "before",
    [frozenset(), frozenset({PayoutState.SENDING, PayoutState.REJECTED})],
    ids=["none", "one too many"],
)
async def test_every_state_before_must_lead_to_the_one_after(
    store: Store, before: frozenset[PayoutState]
) -> None:
    step = of(change(PayoutState.SENDING, PayoutState.PAID), before=before)

    with pytest.raises(ValueError, match="follow"):
        await store.payouts.record(step)
