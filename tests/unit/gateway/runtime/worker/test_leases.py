"""Leased tasks: one of several processes does each, and somebody always does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gateway.domain.kernel.storage import LEASE, StoreUnavailable
from gateway.runtime.worker.leases import LeasedTasks, WorkerWatch
from gateway.store import schema
from gateway.store.engine import Store, open_store


@dataclass(slots=True)
class Workers:
    """Workers on one store, and a clock."""

    store: Store
    at: datetime = datetime(2026, 1, 1, tzinfo=UTC)
    did: list[str] = field(default_factory=list)
    made: dict[str, LeasedTasks] = field(default_factory=dict)

    async def run(self, name: str, task: str = "mail") -> None:
        async def work() -> None:
            self.did.append(name)

        tasks = self.made.setdefault(name, LeasedTasks(self.store.leases, name, lambda: self.at))
        await tasks.leased(task, work)()

    def pass_(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)


@pytest.fixture
async def workers(tmp_path: Path) -> AsyncIterator[Workers]:
    url = f"sqlite:///{tmp_path}/store.db"
    await schema.upgrade(url)
    store = open_store(url)
    yield Workers(store)
    await store.close()


async def test_one_of_two_does_a_task_and_the_other_takes_over_from_the_dead(workers: Workers):
    for _ in range(20):
        await workers.run("one")
        await workers.run("two")
        workers.pass_(2)
    assert set(workers.did) == {"one"}

    workers.pass_(LEASE.total_seconds())
    await workers.run("two")
    await workers.run("one")

    assert workers.did[20:] == ["two"]


async def test_tasks_have_leases_of_their_own(workers: Workers):
    await workers.run("one", "mail")
    await workers.run("two", "figures")

    assert workers.did == ["one", "two"]


async def test_who_stops_leaves_its_tasks_at_once(workers: Workers):
    await workers.run("one")
    await workers.made["one"].release()
    await workers.run("two")
    await workers.run("one")

    assert workers.did == ["one", "two"]


async def test_a_clock_that_was_put_back_stops_nobody(workers: Workers):
    """A lease made before would end hours from now; who had it, and who had not, go on."""
    await workers.run("one", "mail")
    await workers.run("one", "figures")
    workers.pass_(-7200)

    await workers.run("two", "mail")
    await workers.run("one", "figures")

    assert workers.did == ["one", "one", "two", "one"]


async def test_a_lease_is_seldom_written(workers: Workers):
    asked = 0
    take = workers.store.leases.take

    async def counted(task: str, owner: str, now: datetime) -> bool:
        nonlocal asked
        asked += 1
        return await take(task, owner, now)

    workers.made["one"] = tasks = LeasedTasks(workers.store.leases, "one", lambda: workers.at)
    tasks._leases = type("Counted", (), {"take": staticmethod(counted)})()  # type: ignore[assignment]
    for _ in range(60):
        await workers.run("one")
        workers.pass_(1)

    assert asked == 4
    assert len(workers.did) == 60


async def test_a_store_that_is_away_stops_the_task_and_not_the_stop():
    store = open_store("postgresql://nobody@127.0.0.1:1/nothing")
    away = Workers(store)
    with pytest.raises(StoreUnavailable):
        await away.run("one")
    away.made["one"]._ends["mail"] = away.at

    await away.made["one"].release()

    await store.close()
    assert away.did == []


async def test_alone_nothing_is_leased(workers: Workers):
    workers.made["one"] = LeasedTasks(None, "one", lambda: workers.at)

    await workers.run("one")
    await workers.made["one"].release()

    assert workers.did == ["one"]
    assert await workers.store.leases.latest(workers.at) is None


async def test_a_server_process_sees_since_when_no_worker_is_at_work(workers: Workers):
    shown: list[float] = []
    watch = WorkerWatch(workers.store.leases, lambda: workers.at, shown.append)
    workers.pass_(10)
    await watch.run_once()  # there never was one
    await workers.run("one")
    await watch.run_once()
    assert not watch.absent
    workers.pass_(LEASE.total_seconds() + 45)

    await watch.run_once()

    assert shown == [10, 0, 45]
    assert watch.absent == timedelta(seconds=45)


@pytest.mark.parametrize("ever", [True, False], ids=["it had leases", "there never was one"])
async def test_a_worker_that_is_missing_is_seen_after_a_clock_was_put_back(
    workers: Workers, ever: bool
):
    """A lease of an hourly task, or the start of the process, lies two hours ahead by then."""
    watch = WorkerWatch(workers.store.leases, lambda: workers.at, lambda _: None)
    if ever:
        await workers.run("one", "retention")
    workers.pass_(-7200)
    if ever:
        await workers.run("one", "presence")
    await watch.run_once()
    workers.pass_(LEASE.total_seconds() + 45)

    await watch.run_once()

    assert watch.absent >= timedelta(seconds=45)
