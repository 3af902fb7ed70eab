"""Lives: one from a seed, many from a range of seeds, shared out to processes."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from random import Random

from sqlalchemy import create_engine, insert

from gateway.store.kernel.address import address
from gateway.store.kernel.database import DEFAULT_LIMITS
from gateway.store.kernel.sqlite import open_file
from gateway.store.tables.core import accounts, companies
from tests.proofs.simulation.fates import live
from tests.proofs.simulation.invariants import Violation
from tests.proofs.simulation.loop import Loop, Stuck
from tests.proofs.simulation.scenario import Scenario, drawn
from tests.proofs.simulation.sqlite_inline import Client, Disk, Slot
from tests.proofs.simulation.world import NOON, LifeWorld, World, holder
from tests.world.store import KEYS, migrated


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """
    What became of a seed.

    Attributes:
        digest: A hash over every step, so that two runs can be compared.
        violation: The broken rule; empty when all held.
    """

    seed: int
    steps: int
    digest: str
    violation: str
    counts: Counter[str] = field(default_factory=Counter)


def run(
    seed: int,
    scenario: Scenario | None = None,
    *,
    note: Callable[[str], None] = lambda _text: None,
    watch: Callable[[str], None] | None = None,
) -> Life:
    """Live one life; the seed decides everything, the scenario too unless it is given."""
    chance = Random(seed)
    own = drawn(chance)
    loop = Loop(chance)
    loop.watch = watch
    disk = Disk(_content())
    life_world = LifeWorld(
        loop=loop,
        chance=chance,
        scenario=scenario or own,
        slots=_slots(),
        disk=disk,
        note=note,
    )
    note(f"seed {seed}: {life_world.scenario}")
    world = World(life_world)
    try:
        with _silence():
            violation = _play(loop, world)
        steps, digest = loop.steps, loop.digest()
    finally:
        with _silence():
            _bury(loop, world)
        disk.close()
    return Life(seed=seed, steps=steps, digest=digest, violation=violation, counts=world.counts)


@contextmanager
def _silence() -> Iterator[None]:
    """Let nothing be logged: lives are full of trouble, and it is not news."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


def run_many(seeds: Iterable[int], jobs: int = 1) -> Iterator[Life]:
    """Live many lives; they come in the order of their seeds."""
    if jobs == 1:
        yield from map(run, seeds)
        return
    # a fresh interpreter each: nothing of the caller's threads or loops comes along
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        yield from pool.map(run, seeds, chunksize=25)


def _play(loop: Loop, world: World) -> str:
    try:
        loop.run_until_complete(live(world))
    except Violation as broken:
        return str(broken)
    except Stuck:
        return f"stuck after {loop.steps} steps"
    except Exception as problem:  # noqa: BLE001 - whatever comes out of the code is a finding
        return f"raised {type(problem).__name__}: {problem}"
    return "" if loop.broken is None else str(loop.broken)


def _bury(loop: Loop, world: World) -> None:
    """Let every task end, those of dead processes too, so that nothing outlives its life."""
    world.over = True
    loop.broken = None
    loop.watch = None
    loop.most_steps += loop.steps
    loop.set_exception_handler(lambda _loop, _context: None)
    for node in world.nodes:
        node.crash()
    for process in world.processes:
        process.plan.clear()
        loop.release(process)
    ending = loop.create_task(_end(loop))
    with closing(loop), suppress_all():
        with suppress(RuntimeError):
            loop.run_until_complete(ending)
        # A life whose last step was its violation leaves a callback that stops the loop once.
        if not ending.done():
            loop.run_until_complete(ending)


async def _end(loop: Loop) -> None:
    me = asyncio.current_task()
    for _ in range(3):
        left = [task for task in loop.tasks if task is not me and not task.done()]
        for task in left:
            task.cancel()
        await asyncio.wait(left, timeout=100.0) if left else None


@contextmanager
def suppress_all() -> Iterator[None]:
    """Ignore errors of ended processes."""
    try:
        yield
    except Exception:  # noqa: BLE001 - see above
        return


@lru_cache(maxsize=1)
def _content() -> bytes:
    """A database with the schema and one account, to begin every life with."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "template.db"
        engine = create_engine(migrated(file))
        with engine.begin() as connection:
            owner = holder()
            connection.execute(
                insert(companies),
                {"id": owner.company_id, "name": "", "created_at": NOON, "contact": ""},
            )
            connection.execute(insert(accounts), _account_row())
        engine.dispose()
        with closing(sqlite3.connect(file)) as raw:
            raw.execute("PRAGMA journal_mode = WAL")
        return file.read_bytes()


def _account_row() -> dict[str, object]:
    owner = holder()
    return {
        "id": owner.id,
        "company_id": owner.company_id,
        "name": owner.name,
        "tax_number": owner.tax_number,
        "active": True,
        "verified": True,
        "provider": owner.provider,
        "provider_account": owner.provider_account,
        "sealed_credentials": b"",
        "bank_number": "",
        "ispb": "",
        "branch": "",
        "account": "",
        "created_at": NOON,
    }


@lru_cache(maxsize=1)
def _slots() -> tuple[Slot, Slot]:
    """The engines of two nodes; their first connections, which ask SQLite for more, are made."""
    slots = (_slot(), _slot())
    with closing(Disk(_content())) as disk, closing(Loop(Random(0))) as loop:
        for slot in slots:
            slot.plug(Client(disk, Random(0)))
            loop.run_until_complete(_warm(slot))
    return slots


def _slot() -> Slot:
    with tempfile.TemporaryDirectory() as folder:
        # the file stays empty: connections are made elsewhere
        where = address(f"sqlite:///{folder}/store.db")
        return Slot(replace(open_file(where, DEFAULT_LIMITS), chain=KEYS))


async def _warm(slot: Slot) -> None:
    async with slot.database.reading():
        pass
    async with slot.database.writing():
        pass
    await slot.database.close()
