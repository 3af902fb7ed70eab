"""Looks at single payouts share a statement, and each finds its own."""

import asyncio

from sqlalchemy import event

from gateway.app.store import Store
from gateway.core.storage import StoreUnavailable
from tests.world.statements import Statement
from tests.world.stores.samples import ACCOUNT, attempt, payout


async def test_each_finds_its_own_or_nothing(store: Store, asked: list[Statement]) -> None:
    looks = store.payouts
    for name in ("a", "b"):
        await store.payouts.add(payout(name), attempt())
    asked.clear()

    found = await asyncio.gather(
        *(looks.find(ACCOUNT, name) for name in ("b", "none", "a", "b")), looks.find("other", "a")
    )

    assert found == [payout("b"), None, payout("a"), payout("b"), None]
    assert len(asked) == 1


async def test_a_look_sees_what_was_told_before_it(store: Store) -> None:
    looks = store.payouts
    for number in range(20):
        name = f"o-{number}"
        others = [asyncio.ensure_future(looks.find(ACCOUNT, name)) for _ in range(3)]
        await store.payouts.add(payout(name), attempt())

        assert await looks.find(ACCOUNT, name) == payout(name)
        await asyncio.gather(*others)


async def test_what_cannot_be_looked_for_fails_alone(store: Store) -> None:
    looks = store.payouts
    await store.payouts.add(payout(), attempt())

    told = await asyncio.gather(
        looks.find(ACCOUNT, "order-1"),
        looks.find("\ud800", "order-1"),
        looks.find(ACCOUNT, "\ud800"),
        looks.find(ACCOUNT, "order-2"),
        return_exceptions=True,
    )

    assert [told[0], told[3]] == [payout(), None]
    assert isinstance(told[1], StoreUnavailable)
    assert isinstance(told[2], StoreUnavailable)


async def test_a_store_that_cannot_answer_has_not_found_nothing(store: Store) -> None:
    """A 404 would have the partner pay again."""
    looks = store.payouts

    def fail(*_any: object) -> None:
        raise ConnectionResetError

    event.listen(store.database.reader.sync_engine, "before_cursor_execute", fail)
    told = await asyncio.gather(
        looks.find(ACCOUNT, "a"), looks.find(ACCOUNT, "b"), return_exceptions=True
    )

    assert [type(each) for each in told] == [StoreUnavailable] * 2
