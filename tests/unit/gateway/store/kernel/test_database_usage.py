"""Units of work of a database, counted and timed."""

import asyncio
import itertools
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path

import pytest

from gateway.core.storage import StoreUnavailable
from gateway.store.kernel.address import address
from gateway.store.kernel.database import Database, Limits
from gateway.store.kernel.sqlite import open_file

LIMITS = Limits(pool_size=1, checkout_s=0.05)


async def test_a_database_counts_running_and_waiting_work(tmp_path: Path):
    """With one connection for readers the second one waits, and is finally refused."""
    database = open_file(address(f"sqlite:///{tmp_path}/a.db"), LIMITS)
    told: list[tuple[str, float]] = []
    seconds = itertools.count()
    database.usage.clock = lambda: float(next(seconds))
    database.usage.on_usage = lambda work, took_s: told.append((work, took_s))

    async with database.reading():
        busy = (database.usage.waiting, database.usage.in_use)
        with pytest.raises(StoreUnavailable):
            async with database.reading():
                pass
    with suppress(OSError, StoreUnavailable):
        async with database.writing():
            raise OSError
    await database.close()

    assert busy == (0, 1)
    assert (database.usage.waiting, database.usage.in_use) == (0, 0)
    assert told == [("read", 1.0), ("read", 4.0), ("write", 2.0)]


async def test_the_longest_wait_for_a_connection_is_reported_once(tmp_path: Path):
    database = open_file(address(f"sqlite:///{tmp_path}/a.db"), LIMITS)
    at = 0.0
    database.usage.clock = lambda: at
    async with database.reading():
        waiting = asyncio.ensure_future(look(database))
        await asyncio.sleep(0)
        at = 7.0
    await waiting
    await look(database)
    told = database.usage.take_longest_wait(), database.usage.take_longest_wait()
    await database.close()

    assert told == (7.0, 0.0)


async def look(database: Database) -> None:
    async with database.reading():
        pass


async def look_at_once(database: Database) -> None:
    async with database.reading_at_once():
        pass


@pytest.mark.parametrize("way", [look, look_at_once])
async def test_a_cancelled_read_has_ended_when_the_database_is_closed(
    tmp_path: Path, way: Callable[[Database], Coroutine[object, object, None]]
):
    """At any point: otherwise it would wait for a thread of the driver for ever."""
    before = set(threading.enumerate())
    left = []
    for turns in range(12):
        database = open_file(address(f"sqlite:///{tmp_path}/a.db"), LIMITS)
        looking = asyncio.ensure_future(way(database))
        await asyncio.sleep(0)
        for _ in range(turns):
            await asyncio.to_thread(int)  # as long as the driver's thread has turns
        looking.cancel()
        await asyncio.sleep(0)

        await database.close()

        is_alone = asyncio.all_tasks() == {asyncio.current_task()}
        left += [] if is_alone and looking.done() else [turns]
        with suppress(asyncio.CancelledError):
            await looking

    for each in set(threading.enumerate()) - before:
        if each.daemon:  # the driver's; one that opens the file late needs folder and loop
            await asyncio.to_thread(each.join)
    assert left == []


async def test_an_endless_unit_of_work_does_not_keep_a_database_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("gateway.store.kernel.database._LOOKS", 2)
    database = open_file(address(f"sqlite:///{tmp_path}/a.db"), LIMITS)

    database.usage.in_use = 1
    await database.close()
