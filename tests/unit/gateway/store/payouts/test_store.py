"""Steps that no payout may take are refused before the store is asked; lists follow an index."""

from collections.abc import Collection
from dataclasses import replace
from itertools import product

import pytest
from sqlalchemy import event

from gateway.domain.payouts.payouts import SUCCESSORS, PayoutState
from gateway.domain.payouts.status import PayoutStatus, states_of
from gateway.store.engine import Store
from tests.contract.stores.samples import ACCOUNT, attempt, change, of, payout, search

FORBIDDEN = [
    (before, after)
    for before, after in product(PayoutState, PayoutState)
    if after not in SUCCESSORS[before] or after is PayoutState.SENDING
]


@pytest.mark.parametrize(("before", "after"), FORBIDDEN)
async def test_a_step_the_states_do_not_allow_is_a_mistake_of_ours(
    store: Store, before: PayoutState, after: PayoutState
) -> None:
    await store.payouts.add(payout(), attempt())

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


@pytest.mark.parametrize("states", [(), *map(states_of, PayoutStatus)], ids=["all", *PayoutStatus])
async def test_a_list_is_found_by_the_window_s_index(
    store: Store, states: Collection[PayoutState]
) -> None:
    """Of one account and its days alone, in their order: only those of one instant are sorted."""
    asked: list[tuple[str, object]] = []
    engine = store.database.reader.sync_engine
    event.listen(
        engine,
        "before_cursor_execute",
        lambda _c, _u, text, values, *_: asked.append((text, values)),
    )
    for state in PayoutState:
        await store.payouts.add(replace(payout(state.value), state=state), attempt())

    await store.payouts.search(ACCOUNT, search("2026-11-20", "2026-11-20"), states)
    listing = [(text, values) for text, values in asked if "created_at >=" in text]
    async with store.database.reading() as connection:
        plans = [
            (await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}", values)).all()
            for text, values in listing
        ]

    steps = {row.detail for plan in plans for row in plan}
    index = (
        "INDEX ix_payouts_account_id_created_at (account_id=? AND created_at>? AND created_at<?)"
    )
    assert {each for each in steps if " payouts " in each} <= {
        f"SEARCH payouts USING {index}",
        f"SEARCH payouts USING COVERING {index}",
    }
    assert len(plans) == 1, "it counts and shows"
    outermost = [row.detail for row in plans[0] if row.parent == 0]
    assert "USE TEMP B-TREE FOR ORDER BY" not in outermost
