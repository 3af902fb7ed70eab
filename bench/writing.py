"""Writers that store one payout after another, and what a round of them took."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from statistics import quantiles

from bench import payments, system
from bench.figures import Round
from gateway.domain.accounts.accounts import Environment
from gateway.domain.payouts.payouts import Change, Intent
from gateway.store.engine import Store, open_store
from gateway.store.kernel.database import Limits
from gateway.store.payouts.writes import Write, WriteResult, write_batch
from gateway.store.schema import prepare

GROUPED, ONE_BY_ONE = "grouped", "one by one"
WRITERS = (1, 16, 64)
_STORED = "SELECT count(*) FROM payouts WHERE state = 'accepted'"

# On a busy machine writers one by one wait long for their turn; slow is no failure here.
_PATIENT = Limits(checkout_s=60, statement_s=60, busy_s=60, whole_s=120)

Writing = Callable[[Write], Awaitable[WriteResult | None]]


class NotStored(Exception):
    """A payout was told as stored, and is not; or was refused for no reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """
    One row of the table.

    Attributes:
        do: Makes one write durable.
        server: The first process of the database's, None for a file.
    """

    name: str
    account_id: str
    store: Store
    do: Writing
    writers: int
    server: int | None


@dataclass(slots=True)
class Tally:
    """
    What the writers did.

    Attributes:
        stored: Payouts with their outcome.
        latencies_s: How long each intent took.
        first: Set as soon as there is one.
    """

    stored: int = 0
    first: asyncio.Event = field(default_factory=asyncio.Event)
    latencies_s: list[float] = field(default_factory=list)
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class _Instant:
    """What the clocks say: the world's, ours, the database server's, and all cores'."""

    at: float
    own: float
    server: float
    busy: float


@asynccontextmanager
async def standing(name: str, url: str) -> AsyncIterator[list[Subject]]:
    """Open a store and write to it both ways, by few and by many."""
    store = open_store(url, _PATIENT)
    await prepare(store, Environment.SANDBOX, migrate=True, now=payments.now)
    account_id = await payments.open_account(store)
    ways: dict[str, Writing] = {GROUPED: _grouped(store), ONE_BY_ONE: _one_by_one(store)}
    server = None if url.startswith("sqlite") else _server()
    yield [
        Subject(
            name=named(name, way, writers),
            account_id=account_id,
            store=store,
            do=do,
            writers=writers,
            server=server,
        )
        for writers in WRITERS
        for way, do in ways.items()
    ]
    await store.close()


def named(database: str, way: str, writers: int) -> str:
    """Name a row."""
    return f"{database}, {way}, {writers} writer{'s' if writers > 1 else ''}"


def _server() -> int:
    """Find the database server we have started: our only child."""
    return next(pid for pid in system.tree(os.getpid()) if pid != os.getpid())


def _grouped(store: Store) -> Writing:
    async def do(write: Write) -> WriteResult:
        if isinstance(write, Intent):
            there = await store.payouts.add(write.payout, write.attempt)
            return True if there is None else there
        return isinstance(write, Change) and await store.payouts.record(write)

    return do


def _one_by_one(store: Store) -> Writing:
    async def do(write: Write) -> WriteResult | None:
        async with store.database.writing() as connection:
            [result] = await write_batch(store.database, connection, [write])
            return result

    return do


async def take_round(subject: Subject, seconds: float) -> tuple[Round, float]:
    """
    Have everybody write for a while; the round, and the server's CPU per payout in µs.

    Raises:
        NotStored: a write was refused, or the store holds another number of payouts than told.
    """
    tally, names, before = Tally(), payments.references(), await stored(subject.store)
    loop = asyncio.get_running_loop()
    writers = [loop.create_task(_write(subject, names, tally)) for _ in range(subject.writers)]
    start = _now(subject)
    await asyncio.sleep(seconds)
    first = loop.create_task(tally.first.wait())
    await asyncio.wait([first, *writers], return_when=asyncio.FIRST_COMPLETED)
    first.cancel()
    end, done, latencies_s = _now(subject), tally.stored, tally.latencies_s[:]
    tally.stopped = True
    await asyncio.gather(*writers)
    kept = await stored(subject.store) - before
    if kept != tally.stored or not done:
        problem = f"{subject.name}: {tally.stored} told, {kept} stored"
        raise NotStored(problem)
    return _round(start, end, done, latencies_s), (end.server - start.server) / done * 1e6


def _round(start: _Instant, end: _Instant, done: int, latencies_s: list[float]) -> Round:
    cuts = quantiles(latencies_s, n=100) if len(latencies_s) > 1 else latencies_s * 99
    lasted_s, cpu_s = end.at - start.at, end.own - start.own
    others_s = end.busy - start.busy - cpu_s - (end.server - start.server)
    return Round(
        answers=done,
        seconds=lasted_s,
        cpu_s=cpu_s,
        other_cores=max(0.0, others_s / lasted_s),
        p50_ms=cuts[49] * 1000,
        p99_ms=cuts[98] * 1000,
    )


async def _write(subject: Subject, names: Iterator[str], tally: Tally) -> None:
    """Store one payout after another: the intent, then what came of it."""
    while not tally.stopped:
        payout, attempt = payments.intent(subject.account_id, next(names))
        begun = time.perf_counter()
        told = await subject.do(Intent(payout, attempt))
        tally.latencies_s.append(time.perf_counter() - begun)
        if told is not True or await subject.do(payments.outcome(payout)) is not True:
            raise NotStored(subject.name)
        tally.stored += 1
        tally.first.set()


async def stored(store: Store) -> int:
    """Count the payouts whose outcome is stored."""
    async with store.database.reading() as connection:
        return int((await connection.exec_driver_sql(_STORED)).scalar_one())


def _now(subject: Subject) -> _Instant:
    server = [] if subject.server is None else system.tree(subject.server)
    return _Instant(time.perf_counter(), time.process_time(), system.cpu_s(server), system.busy_s())
