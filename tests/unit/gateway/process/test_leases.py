"""Leased tasks: exactly one of several processes does each."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gateway.app.store import Store
from gateway.core.storage import LEASE, StoreUnavailable
from gateway.process.leases import LeasedTasks, WorkerWatch
from gateway.process.periodic_task import ELSEWHERE
from tests.world.leaping import leaping
from tests.world.store import migrated, open_store


@dataclass(slots=True)
class Workers:
    """Workers on one store, and a clock."""

    store: Store
    at: datetime = datetime(2026, 1, 1, tzinfo=UTC)
    did: list[str] = field(default_factory=list)
    made: dict[str, LeasedTasks] = field(default_factory=dict)

    async def run(self, name: str, task: str = "mail") -> object:
        async def work() -> None:
            self.did.append(name)

        tasks = self.made.setdefault(name, LeasedTasks(self.store.leases, name, lambda: self.at))
        return await tasks.leased(task, work)()

    def pass_(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)


@pytest.fixture
async def workers(tmp_path: Path) -> AsyncIterator[Workers]:
    store = open_store(migrated(tmp_path / "store.db"))
    yield Workers(store)
    await store.close()


async def test_a_leased_task_is_taken_over_from_a_dead_process(workers: Workers):
    for _ in range(20):
        await workers.run("one")
        await workers.run("two")
        workers.pass_(2)
    assert set(workers.did) == {"one"}

    workers.pass_(LEASE.total_seconds())
    did = await workers.run("two")
    did_not = await workers.run("one")

    assert workers.did[20:] == ["two"]
    assert (did, did_not) == (None, ELSEWHERE)


async def test_a_process_that_may_not_claim_leaves_its_tasks_to_others(workers: Workers):
    """Such as one whose clock is wrong: it neither uses nor renews a lease it has."""
    may = [True]
    workers.made["one"] = LeasedTasks(
        workers.store.leases, "one", lambda: workers.at, lambda: may[0]
    )
    await workers.run("one")
    may[0] = False
    did_not = await workers.run("one")
    workers.pass_(LEASE.total_seconds() + 1)
    await workers.run("two")

    assert (did_not, workers.did) == (ELSEWHERE, ["one", "two"])


async def test_each_task_has_its_own_lease(workers: Workers):
    await workers.run("one", "mail")
    await workers.run("two", "figures")

    assert workers.did == ["one", "two"]


async def test_releasing_leases_lets_another_process_continue_at_once(workers: Workers):
    await workers.run("one")
    await workers.made["one"].release()
    await workers.run("two")
    await workers.run("one")

    assert workers.did == ["one", "two"]


async def test_a_clock_set_back_blocks_no_task(workers: Workers):
    """An earlier lease would end hours from now; its owner and others continue."""
    await workers.run("one", "mail")
    await workers.run("one", "figures")
    workers.pass_(-7200)

    await workers.run("two", "mail")
    await workers.run("one", "figures")

    assert workers.did == ["one", "one", "two", "one"]


async def test_a_lease_is_renewed_only_every_few_runs(workers: Workers):
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


async def test_an_unreachable_store_stops_leased_tasks_but_not_the_release():
    store = open_store("postgresql://nobody@127.0.0.1:1/nothing")
    away = Workers(store)
    with pytest.raises(StoreUnavailable):
        await away.run("one")
    away.made["one"]._ends["mail"] = away.at

    await away.made["one"].release()

    await store.close()
    assert away.did == []


async def test_without_a_lease_store_tasks_run_unleased(workers: Workers):
    workers.made["one"] = LeasedTasks(None, "one", lambda: workers.at)

    await workers.run("one")
    await workers.made["one"].release()

    assert workers.did == ["one"]
    assert await workers.store.leases.latest(workers.at) is None


async def test_the_watch_measures_how_long_no_worker_has_run(workers: Workers):
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
async def test_a_missing_worker_is_noticed_after_the_clock_was_set_back(
    workers: Workers, ever: bool
):
    """A lease of an hourly task, or the start of the process, is then two hours ahead."""
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


class Kept:
    """Leases in memory, for clocks that leap; a store's threads have a clock of their own."""

    def __init__(self) -> None:
        self.held: dict[str, tuple[str, datetime]] = {}
        self.is_away = False

    async def take(self, task: str, owner: str, now: datetime) -> bool:
        if self.is_away:
            raise StoreUnavailable
        holder, ends_at = self.held.get(task, (owner, now))
        if holder != owner and ends_at > now:
            return False
        self.held[task] = (owner, now + LEASE)
        return True

    async def release(self, owner: str, now: datetime) -> None: ...

    async def latest(self, now: datetime) -> datetime | None: ...


def leaping_now() -> datetime:
    passed = timedelta(seconds=asyncio.get_running_loop().time())
    return datetime(2026, 1, 1, tzinfo=UTC) + passed


@leaping
async def test_a_run_longer_than_a_lease_is_done_by_one_worker():
    """A mail server that needs three seconds per mail gets each of twenty mails once."""
    leases, waiting, sent = Kept(), [f"mail-{number}" for number in range(20)], []

    async def send_waiting() -> None:
        for mail in list(waiting):
            await asyncio.sleep(3)
            sent.append(mail)
            waiting.remove(mail)

    async def worker(name: str) -> None:
        run = LeasedTasks(leases, name, leaping_now).leased("mail", send_waiting)
        for _ in range(40):
            await run()
            await asyncio.sleep(2)

    await asyncio.gather(worker("one"), worker("two"))

    assert sent == [f"mail-{number}" for number in range(20)]


async def long_run(leases: Kept, after_a_while: Callable[[], None]) -> float:
    """Begin a run of an hour, let something happen after ten seconds, and tell when it ended."""
    begun = asyncio.get_running_loop().time()

    async def work() -> None:
        await asyncio.sleep(3600)

    async def happen() -> None:
        await asyncio.sleep(10)
        after_a_while()

    run = LeasedTasks(leases, "one", leaping_now).leased("mail", work)
    await asyncio.gather(run(), happen())
    return asyncio.get_running_loop().time() - begun


@leaping
async def test_a_run_is_stopped_when_another_worker_takes_its_lease(
    caplog: pytest.LogCaptureFixture,
):
    leases = Kept()

    def taken() -> None:
        leases.held["mail"] = ("two", leaping_now() + LEASE)

    took_s = await long_run(leases, taken)

    assert took_s < LEASE.total_seconds()
    assert "lease_lost task=mail" in caplog.text


@leaping
async def test_a_run_is_stopped_when_its_lease_cannot_be_renewed(caplog: pytest.LogCaptureFixture):
    """Another worker may take the task over by then."""
    leases = Kept()

    def away() -> None:
        leases.is_away = True

    took_s = await long_run(leases, away)

    assert abs(took_s - LEASE.total_seconds()) < 1
    assert "lease_lost task=mail" in caplog.text


@leaping
async def test_a_short_store_outage_stops_no_run(caplog: pytest.LogCaptureFixture):
    leases = Kept()

    def away() -> None:
        leases.is_away = True
        asyncio.get_running_loop().call_later(9, back)

    def back() -> None:
        leases.is_away = False

    took_s = await long_run(leases, away)

    assert round(took_s) == 3600
    assert caplog.text == ""


@leaping
async def test_a_timeout_raised_by_the_work_is_passed_on():
    async def work() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        await LeasedTasks(Kept(), "one", leaping_now).leased("mail", work)()
