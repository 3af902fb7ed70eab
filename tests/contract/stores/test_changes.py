"""The audit log as a change feed: in order, whole, and heard of in other processes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

import pytest
from sqlalchemy import delete, text, update

from gateway.app.kept_records import ChangeFeed, KeptRecords
from gateway.app.store import Store
from gateway.audit import store as audit_log
from gateway.audit.changes import Changes
from gateway.companies.service import add_company
from gateway.core.change_feed import Act, Mark, News, outdated
from gateway.core.storage import AlreadyExists
from gateway.store.tables.core import audit, audit_head
from tests.contract.stores.databases import both
from tests.world.registers import Clock, Registers
from tests.world.stores.kept_records import Watch, keep
from tests.world.stores.samples import ACCOUNT, CLIENT, NOW, account, company, credential, event
from tests.world.stores.tampering import tampered
from tests.world.stores.told import WRITERS, Writer

pytestmark = both


async def read(changes: Changes, mark: Mark | None) -> News:
    news = await changes.read(mark)
    assert news is not None
    return news


async def test_events_after_a_position_are_read_in_order(store: Store, second: Store) -> None:
    changes = Changes(store.database)
    begun = await read(changes, None)
    for number in range(3):
        await second.audit.append(event(f"act.{number}"))

    news = await read(changes, begun.mark)
    nothing = await read(changes, news.mark)

    assert news.acts == [Act(f"act.{number}", "test:1") for number in range(3)]
    assert (begun.acts, [*nothing.acts], nothing.mark) == ((), [], news.mark)
    assert begun.is_all
    assert news.is_all
    assert nothing.is_all


@pytest.mark.parametrize("most", [1, 2, 3, 4])
async def test_many_events_are_read_in_batches(store: Store, most: int) -> None:
    changes = Changes(store.database, most)
    mark, found = (await read(changes, None)).mark, []
    for number in range(3):
        await store.audit.append(event(f"act.{number}"))

    while True:
        news = await read(changes, mark)
        mark = news.mark
        found += [act.action for act in news.acts]
        assert len(news.acts) <= most
        if news.is_all:
            break

    assert found == ["act.0", "act.1", "act.2"]


async def test_reading_from_the_start_returns_every_act(store: Store) -> None:
    news = await read(Changes(store.database), Mark(0, b""))

    assert len(news.acts) == news.mark.number == 3


async def test_concurrent_acts_are_read_in_order_without_a_gap(store: Store, second: Store) -> None:
    """Of several concurrent acts the one with the lower number is visible first."""
    changes = Changes(store.database, most=7)
    mark, found = (await read(changes, None)).mark, []
    writing = asyncio.gather(
        *(node.audit.append(event(f"act.{n}")) for n, node in enumerate([store, second] * 25))
    )

    while len(found) < 50:
        news = await read(changes, mark)
        mark = news.mark
        found += [act.action for act in news.acts]
        if writing.done():
            # one that the store refused would be waited for without an end
            await writing
    await writing

    assert sorted(found) == sorted(f"act.{n}" for n in range(50))


async def test_rolled_back_acts_are_not_reported(store: Store) -> None:
    changes = Changes(store.database)
    mark = (await read(changes, None)).mark
    with pytest.raises(AlreadyExists):
        await add_company(store.database, company(), event("company.created"))

    assert (await read(changes, mark)).acts == []


@pytest.mark.parametrize("again", [False, True], ids=["cut off", "and written over"])
async def test_a_log_restored_from_a_backup_is_not_continued(store: Store, *, again: bool) -> None:
    """Its numbers are assigned a second time, so newer events would be missed."""
    changes = Changes(store.database)
    head = await store.audit.head()
    await store.audit.append(event("lost.1"))
    before = (await read(changes, None)).mark
    await tampered(
        store,
        delete(audit).where(audit.c.number > head.number),
        update(audit_head).values(number=head.number, hash=head.hash, seal=head.seal),
    )
    if again:
        for number in range(2):
            await store.audit.append(event(f"other.{number}"))

    assert await changes.read(before) is None


@dataclass
class Following:
    office: Registers
    kept: KeptRecords
    watch: Watch
    feed: ChangeFeed

    async def forgotten_by(self, change: Callable[[], Awaitable[object]]) -> list[str]:
        """Keep everything, have something changed, and return what was forgotten."""
        await self.feed.run_once()
        await self.kept.credentials.find(CLIENT)
        await self.kept.accounts.find(ACCOUNT)
        await self.kept.stops_in_force()
        self.watch.counted.clear()
        await change()
        await self.feed.run_once()
        return self.watch.forgotten()


@pytest.fixture
async def following(store: Store) -> Following:
    office, watch = Registers(store, Clock()), Watch()
    kept = keep(office, watch)
    clock = asyncio.get_running_loop().time
    return Following(office, kept, watch, ChangeFeed(store.changes.read, kept, clock))


@pytest.mark.parametrize("name", WRITERS)
async def test_every_change_of_a_cached_record_names_the_record(
    store: Store, second: Store, name: str
) -> None:
    """In its own transaction, for the process that makes it and for all others."""
    changes, told = Changes(second.database), []
    writer: Writer = await WRITERS[name](Registers(store, Clock()))
    mark = (await read(changes, None)).mark
    store.database.followers.append(told.append)

    record = await writer()

    news = await read(changes, mark)
    assert record in [outdated(act) for act in news.acts]
    assert record in [outdated(act) for act in told]


async def test_records_changed_by_another_process_are_dropped(
    store: Store, second: Store, following: Following
) -> None:
    await store.credentials.add(credential(), event())
    revoked = event("credential.revoked", f"credential:{CLIENT}")

    forgotten = await following.forgotten_by(
        lambda: second.credentials.revoke(CLIENT, NOW, revoked)
    )

    assert forgotten == ["feed.credential"]


async def test_followers_are_called_for_a_failed_transaction(store: Store) -> None:
    """Whether it was committed is unknown; reading once more does no harm."""
    told: list[Act] = []
    store.database.followers.append(told.append)

    async def failing() -> None:
        async with store.database.writing() as connection:
            await audit_log.append(connection, event("account.changed", "account:a-1"))
            assert told == []
            raise KeyError

    with pytest.raises(KeyError):
        await failing()

    assert told == [Act("account.changed", "account:a-1")]


async def test_followers_are_not_called_without_an_act(store: Store) -> None:
    """Also on a connection that had one earlier."""
    told: list[Act] = []
    await store.audit.append(event())
    store.database.followers.append(told.append)

    async with store.database.writing() as connection:
        await connection.execute(text("SELECT 1"))

    assert told == []


async def test_followers_are_called_before_the_act_is_answered(
    store: Store, following: Following
) -> None:
    store.database.followers.append(partial(following.kept.forget, told_by="own"))
    await store.accounts.replace(account(), event())

    forgotten = await following.forgotten_by(
        lambda: store.credentials.add(
            credential(), event("credential.issued", f"credential:{CLIENT}")
        )
    )

    assert forgotten == ["own.credential"]
