"""Pages of an account's payouts: what is asked of the database for them."""

import asyncio
from collections.abc import Collection
from dataclasses import replace

import pytest
from sqlalchemy import event

from gateway.app.store import Store
from gateway.core.storage import StoreUnavailable
from gateway.payouts.model import PayoutState, PayoutStatus, states_of
from gateway.payouts.store import _AT_ONCE, _LISTED, StoredPayouts, _List
from gateway.store.tables.core import payouts
from tests.world.statements import Statement
from tests.world.stores.samples import ACCOUNT, NOW, attempt, payout, search

DAY = NOW.date().isoformat()


async def test_the_first_page_and_its_length_are_one_statement(
    store: Store, asked: list[Statement]
) -> None:
    await store.payouts.add(payout(), attempt())
    asked.clear()

    found = await store.payouts.search(ACCOUNT, search(DAY, DAY))

    assert found[1] == 1
    assert len(asked) == 1


async def test_a_list_selects_only_shown_columns(store: Store, asked: list[Statement]) -> None:
    """Complete destinations, keys and leases are not read."""
    await store.payouts.search(ACCOUNT, search(DAY, DAY))

    shown = asked[-1].text.partition(" FROM ")[0]
    unshown = {"destination", "fingerprint", "provider_key", "lease_until", "payee_digest"}
    assert unshown <= set(payouts.c.keys())
    assert not any(f"payouts.{name}," in shown for name in unshown)


async def test_lists_use_a_bounded_number_of_connections(store: Store) -> None:
    """However many are requested at once; a failed or cancelled one makes room."""
    pool, day, most = store.database.reader.sync_engine.pool, search(DAY, DAY), 0

    def note(*_: object) -> None:
        nonlocal most
        most = max(most, pool.checkedout())

    event.listen(pool, "checkout", note)
    asking = [
        asyncio.ensure_future(store.payouts.search(account, day))
        for account in (ACCOUNT, "\ud800", ACCOUNT, "\ud800", *[ACCOUNT] * 8)
    ]
    await asyncio.sleep(0)
    asking[2].cancel()
    told = await asyncio.gather(*asking, return_exceptions=True)

    assert most == _AT_ONCE
    assert told[4:] == [([], 0)] * 8


async def test_a_list_without_a_free_turn_is_refused(store: Store) -> None:
    pages = StoredPayouts(replace(store.database, checkout_s=0))
    for _ in range(_AT_ONCE):
        await pages._turns.acquire()

    with pytest.raises(StoreUnavailable):
        await pages.search(ACCOUNT, search(DAY, DAY))


@pytest.mark.parametrize(
    ("pages", "tables"), [(_LISTED.young, 1), (_LISTED.old, 2)], ids=["young", "old"]
)
async def test_the_first_page_is_read_by_index_alone(
    store: Store, pages: _List, tables: int
) -> None:
    """However many payouts there are outside of the window; old ones may be archived."""
    first = pages.first.compile(store.database.reader.sync_engine)
    async with store.database.reading() as connection:
        values = (0,) * str(first).count("?")
        plan = await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {first}", values)
        steps = [row.detail for row in plan]

    looks = [each for each in steps if "payouts USING" in each]
    assert len(looks) == 2 * tables
    assert all(each.startswith("SEARCH") for each in looks)


@pytest.mark.parametrize("states", [(), *map(states_of, PayoutStatus)], ids=["all", *PayoutStatus])
async def test_a_list_uses_the_index_of_account_and_time(
    store: Store, states: Collection[PayoutState], asked: list[Statement]
) -> None:
    """Only rows of the same instant are sorted."""
    for state in PayoutState:
        await store.payouts.add(replace(payout(state.value), state=state), attempt())

    await store.payouts.search(ACCOUNT, search("2026-11-20", "2026-11-20"), states)
    listing = [each for each in asked if "created_at >=" in each.text]
    async with store.database.reading() as connection:
        plans = [
            (await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}", values)).all()
            for text, values, *_ in listing
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
