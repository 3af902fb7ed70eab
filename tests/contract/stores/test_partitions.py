"""Requests and events of payouts lie in partitions by time on PostgreSQL; no row is without one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from gateway.app.store import Store, prepare
from gateway.companies.service import add_company
from gateway.core.account import Environment
from gateway.core.company_scope import EVERY_COMPANY
from gateway.core.storage import StoreUnavailable
from gateway.core.windows import Paging
from gateway.events.model import Event, EventType, Wanted
from gateway.events.store import EventRecords, append
from gateway.request_log.model import RequestSearch
from gateway.request_log.store import RequestRecords
from gateway.store.kernel import partitions
from gateway.store.kernel.database import Database
from tests.world.store import open_store
from tests.world.stores import samples
from tests.world.stores.office import REQUEST
from tests.world.stores.patience import LONG
from tests.world.stores.samples import ACCOUNT, NOW, attempt, payout

LONG_AGO = datetime(2020, 1, 1, 12, tzinfo=UTC)
EVER = RequestSearch(
    paging=Paging(1, 25), since=datetime(2000, 1, 1, tzinfo=UTC), until=NOW + timedelta(days=3_000)
)


@pytest.fixture
def kind() -> str:
    """On a file both are plain tables."""
    return "postgres"


@asynccontextmanager
async def opened(url: str, now: datetime) -> AsyncIterator[Store]:
    """The store, with a clock that stands still."""
    store = open_store(url, LONG, now=lambda: now)
    yield store
    await store.close()


@pytest.fixture
async def filled_url(migrated_url: str) -> str:
    async with opened(migrated_url, NOW) as store:
        await prepare(store, Environment.SANDBOX, migrate=False, now=samples.now)
        await add_company(store.database, samples.company(), samples.event())
        await store.accounts.add(samples.account(), samples.event())
    return migrated_url


async def written(store: Store, at: datetime) -> None:
    await RequestRecords(store.database).add([replace(REQUEST, at=at)])
    await store.payouts.add(payout(str(at), created_at=at), attempt(started_at=at))


async def places(store: Store, at: datetime) -> list[str]:
    """Where the two lie; each is found as ever."""
    found = await RequestRecords(store.database).search(EVER, EVERY_COMPANY)
    assert at in {each.at for each in found.items}
    assert [each.at for each in await store.payouts.events(ACCOUNT, str(at))] == [at]
    async with store.database.reading() as connection:
        return [
            (await connection.execute(text(asked), {"at": at})).scalar_one()
            for asked in (
                "SELECT tableoid::regclass::text FROM request_log WHERE at = :at",
                "SELECT tableoid::regclass::text FROM payout_events WHERE at = :at",
            )
        ]


async def renew(store: Store, before: datetime) -> list[int]:
    return [
        await RequestRecords(store.database).forget(before),
        await store.payouts.forget_events(before),
    ]


async def test_partitions_are_made_ahead(filled_url: str) -> None:
    async with opened(filled_url, NOW) as store:
        await renew(store, LONG_AGO)
        at = NOW + timedelta(days=3)
        await written(store, at)

        assert await places(store, at) == ["request_log_20261123", "payout_events_20261123"]


async def test_a_row_without_a_partition_is_stored_and_moved_later(
    filled_url: str,
) -> None:
    """After a clock far ahead, or days without a worker."""
    far = NOW + timedelta(days=400)
    async with opened(filled_url, NOW) as store:
        await renew(store, LONG_AGO)
        await written(store, far)
        assert await places(store, far) == ["request_log_default", "payout_events_default"]

        await renew(store, LONG_AGO)

        assert await places(store, far) == ["request_log_20271225", "payout_events_20271220"]


async def test_many_rows_without_a_partition_stay_and_are_deleted_when_they_are_old(
    filled_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partitions, "MOVED_AT_ONCE", 0)
    async with opened(filled_url, NOW) as store:
        await written(store, LONG_AGO)
        await renew(store, LONG_AGO)
        assert await places(store, LONG_AGO) == ["request_log_default", "payout_events_default"]

        assert await renew(store, LONG_AGO + timedelta(days=1)) == [1, 1]


async def test_partitions_are_dropped_when_all_their_rows_are_old(filled_url: str) -> None:
    async with opened(filled_url, LONG_AGO) as store:
        await renew(store, LONG_AGO)
        await written(store, LONG_AGO)
    async with opened(filled_url, NOW) as store:
        assert await renew(store, datetime(2020, 1, 1, 23, 59, tzinfo=UTC)) == [0, 0]
        assert await places(store, LONG_AGO) == ["request_log_20200101", "payout_events_20191230"]

        assert await renew(store, datetime(2020, 2, 1, tzinfo=UTC)) == [4, 1]

        assert (await RequestRecords(store.database).search(EVER, EVERY_COMPANY)).total == 0
        assert await store.payouts.events(ACCOUNT, str(LONG_AGO)) == []
        assert await store.payouts.find(ACCOUNT, str(LONG_AGO)) is not None


async def test_partitions_that_are_young_by_the_database_clock_are_not_dropped(
    filled_url: str,
) -> None:
    """A process whose clock is years ahead considers everything old."""
    now = datetime.now(UTC)
    async with opened(filled_url, now) as store:
        await renew(store, LONG_AGO)
        await written(store, now)

        assert await renew(store, now + timedelta(days=4_000)) == [0, 0]

        assert "default" not in " ".join(await places(store, now))


async def test_a_partition_in_use_is_dropped_on_a_later_run(filled_url: str) -> None:
    """The drop does not wait for a reader, because payouts would have to wait behind it."""
    async with opened(filled_url, LONG_AGO) as store:
        await renew(store, LONG_AGO)
    async with opened(filled_url, NOW) as store:
        async with store.database.writing() as connection:
            await connection.execute(text("SELECT count(*) FROM payout_events"))
            with pytest.raises(StoreUnavailable, match="55P03"):
                await store.payouts.forget_events(NOW)

        assert await store.payouts.forget_events(NOW) == 1


async def test_partitions_are_made_while_an_old_one_is_in_use(filled_url: str) -> None:
    """Whoever reads an old one for days must not keep new rows out of partitions of their own."""
    async with opened(filled_url, LONG_AGO) as store:
        await renew(store, LONG_AGO)
    async with opened(filled_url, NOW) as store:
        async with store.database.writing() as connection:
            await connection.execute(text("SELECT count(*) FROM payout_events_20191230"))
            with pytest.raises(StoreUnavailable, match="55P03"):
                await store.payouts.forget_events(NOW)

        await written(store, NOW)
        assert "payout_events_default" not in await places(store, NOW)


@dataclass(slots=True)
class HeldMaking:
    """Partitions are made and not committed until ``go_on`` is set."""

    made: asyncio.Event = field(default_factory=asyncio.Event)
    go_on: asyncio.Event = field(default_factory=asyncio.Event)

    async def do(self, database: Database, *statements: str) -> None:
        async with database.writing() as connection:
            for each in statements:
                await connection.exec_driver_sql(each)
            self.made.set()
            await self.go_on.wait()

    async def until_somebody_waits(self, store: Store) -> None:
        """Wait until a session waits for a lock; then go on."""
        waits = text(
            "SELECT count(*) FROM pg_locks WHERE NOT granted AND database = (SELECT oid "
            "FROM pg_database WHERE datname = current_database())"
        )
        async with store.database.reading() as connection:
            while not (await connection.execute(waits)).scalar_one():
                await asyncio.sleep(0)
        self.go_on.set()


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> HeldMaking:
    making = HeldMaking()
    monkeypatch.setattr(partitions, "_do", making.do)
    return making


async def test_an_order_stored_while_its_partition_is_created_is_kept(
    filled_url: str, held: HeldMaking
) -> None:
    """PostgreSQL refuses rows inserted into the default partition at that moment."""
    async with opened(filled_url, NOW) as store, asyncio.TaskGroup() as group:
        for number in range(6):  # planned once for all that follow
            await store.payouts.add(payout(f"before-{number}"), attempt())
        group.create_task(store.payouts.forget_events(LONG_AGO))
        await held.made.wait()
        paying = group.create_task(store.payouts.add(payout(), attempt()))
        await held.until_somebody_waits(store)
        await paying
        assert len(await store.payouts.events(ACCOUNT, "order-1")) == 1


async def test_a_feed_that_is_read_while_its_partition_is_created_is_complete(
    filled_url: str, held: HeldMaking
) -> None:
    """A read that found its partitions before would pass over all events that move."""
    told = Event(id="evt_1", account_id=ACCOUNT, type=EventType.PAYOUT_PAID, at=NOW)
    async with opened(filled_url, NOW) as store, asyncio.TaskGroup() as group:
        records = EventRecords(store.database)
        async with store.database.writing() as connection:
            await append(connection, told)
        await records.reach(ACCOUNT, 0, 1)
        group.create_task(records.forget(LONG_AGO))
        await held.made.wait()
        wanted = Wanted(after=None, types=frozenset(), limit=25)
        reading = group.create_task(records.between(ACCOUNT, 0, 1, LONG_AGO, wanted))
        await held.until_somebody_waits(store)
        assert [each.event for each in await reading] == [told]
