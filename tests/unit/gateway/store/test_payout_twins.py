"""Looks for similar payouts share a statement, and each is told of its own alone."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from sqlalchemy import event

from gateway.domain.payouts import Payout
from gateway.domain.stores import StoreUnavailable
from gateway.store.engine import Store
from gateway.store.payout_twins import PayoutTwins
from tests.contract.stores.samples import NOW, attempt, payout

AGO = NOW - timedelta(minutes=10)


async def stored(store: Store, *payouts: Payout) -> PayoutTwins:
    """Store some."""
    for each in payouts:
        await store.payouts.add(each, attempt())
    return PayoutTwins(store.database)


async def test_each_is_told_of_its_own_oldest_first(store: Store) -> None:
    twins = await stored(
        store,
        payout("c", centavos=5, created_at=NOW + timedelta(seconds=1)),
        payout("a", centavos=5),
        payout("b", centavos=7),
    )
    asked: list[Sequence[str]] = []
    event.listen(
        store.database.reader.sync_engine, "before_cursor_execute", lambda *_: asked.append("")
    )

    told = await asyncio.gather(
        twins.similar(payout("new", centavos=5), AGO),
        twins.similar(payout("new", centavos=7), AGO),
        twins.similar(payout("new", centavos=9), AGO),
        twins.similar(payout("a", centavos=5), AGO),
        twins.similar(replace(payout("new", centavos=5), account_id="other"), AGO),
    )

    assert told == [["a", "c"], ["b"], [], ["c"], []]
    assert len(asked) == 1


async def test_each_looks_back_as_far_as_it_asks(store: Store) -> None:
    """Alone as in company of one who looks further back."""
    twins = await stored(
        store, payout("early", created_at=NOW - timedelta(minutes=5)), payout("late")
    )

    far, near = await asyncio.gather(
        twins.similar(payout("new"), AGO), twins.similar(payout("new"), NOW)
    )

    assert (far, near) == (["early", "late"], ["late"])
    assert await twins.similar(payout("new"), NOW) == ["late"]


async def test_what_cannot_be_looked_for_fails_alone(store: Store) -> None:
    twins = await stored(store, payout("a"))

    told = await asyncio.gather(
        twins.similar(payout("new"), AGO),
        twins.similar(replace(payout("new"), account_id="\ud800"), AGO),
        return_exceptions=True,
    )

    assert told[0] == ["a"]
    assert isinstance(told[1], StoreUnavailable)
