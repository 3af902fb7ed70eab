"""Which connection is used next, and how long an idle one lives."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from math import inf

from gateway.net.client.connection import Line, Until
from gateway.net.client.pool import Pool
from gateway.net.client.send_progress import Passage
from tests.unit.provider_adapters.scripted import ScriptedBank, answer, saying, standing

LATE = Until(inf, inf)
Open = Callable[[], Awaitable[Line]]


def kept(*headers: bytes) -> ScriptedBank:
    return ScriptedBank(saying(answer(headers=headers)), keeps=True)


@asynccontextmanager
async def pooled(bank: ScriptedBank, idle_s: float = 15.0) -> AsyncIterator[tuple[Pool, Open]]:
    loop = asyncio.get_running_loop()
    pool = Pool(loop, 3, idle_s)

    async def opened() -> Line:
        """Open one and make its first call."""
        line = pool.make(4096)
        await loop.create_connection(lambda: line, "127.0.0.1", bank.port)
        passage = Passage()
        await line.send(b"GET / HTTP/1.1\r\n\r\n", passage, passage.answered, LATE)
        return line

    async with standing(bank):
        yield pool, opened
        await pool.close()
    assert (len(pool), pool.idle) == (0, 0)


async def test_the_last_one_used_is_the_next_one_used():
    async with pooled(kept()) as (pool, opened):
        lines = [await opened() for _ in range(3)]
        assert pool.is_full
        for line in lines:
            pool.give(line)

        assert [pool.take() for _ in range(4)] == [*reversed(lines), None]


async def test_one_in_the_middle_of_a_call_is_not_kept():
    async with pooled(kept()) as (pool, opened):
        line = await opened()
        passage = Passage()
        line.send(b"GET / HTTP/1.1\r\n", passage, passage.answered, LATE)
        pool.give(line)

        assert pool.take() is None


async def test_an_idle_one_is_closed_after_a_time():
    async with pooled(kept(), idle_s=0.03) as (pool, opened):
        pool.give(await opened())
        await asyncio.sleep(0.1)

        assert (len(pool), pool.idle) == (0, 0)


async def test_each_is_closed_when_its_own_time_is_over():
    async with pooled(kept(), idle_s=0.05) as (pool, opened):
        pool.give(await opened())
        await asyncio.sleep(0.03)
        pool.give(await opened())
        await asyncio.sleep(0.035)
        left = pool.idle
        await asyncio.sleep(0.1)

        assert left <= 1
        assert (len(pool), pool.idle) == (0, 0)


async def test_one_too_old_is_not_used_even_if_nobody_has_swept():
    async with pooled(kept(), idle_s=0.01) as (pool, opened):
        pool.give(await opened())
        await asyncio.sleep(0)
        line = pool._idle[0]
        line.idle_until = 0.0

        assert pool.take() is None
        assert not line.usable


async def test_the_bank_s_own_patience_counts_where_it_is_shorter():
    async with pooled(kept(b"Keep-Alive: timeout=5")) as (pool, opened):
        line = await opened()
        pool.give(line)

        assert line.idle_until <= asyncio.get_running_loop().time() + 4


async def test_a_bank_without_patience_gets_a_new_connection_each_time():
    async with pooled(kept(b"Keep-Alive: timeout=1")) as (pool, opened):
        pool.give(await opened())

        assert pool.take() is None


async def test_one_the_bank_has_closed_is_not_used():
    async with pooled(ScriptedBank(saying(answer()))) as (pool, opened):
        line = await opened()
        pool.give(line)
        for _ in range(20):
            await asyncio.sleep(0)

        assert pool.take() is None


async def test_after_a_renewal_the_former_ones_end_with_their_calls():
    async with pooled(kept()) as (pool, opened):
        idle, busy = await opened(), await opened()
        pool.give(idle)
        pool.renew()
        pool.give(busy)

        assert pool.take() is None
        assert not idle.usable
        assert not busy.usable


async def test_one_that_was_never_connected_leaves_room():
    async with pooled(kept()) as (pool, _):
        lines = [pool.make(1) for _ in range(3)]
        for line in lines:
            pool.unmake(line)

        assert len(pool) == 0


async def test_closing_waits_until_calls_in_flight_have_failed():
    async with pooled(kept()) as (pool, opened):
        await opened()
        await pool.close()

        assert len(pool) == 0
