"""Which connection is used next, and how long an idle one lives."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from math import inf

import pytest

from gateway.banks.client import pool
from gateway.banks.client.connection import Connection
from gateway.banks.client.messages import Kind, ProviderAnswer, ProviderRequest, SendProgress
from gateway.banks.client.pool import Pool, WarmConnections
from gateway.banks.client.transport import HttpTransport
from gateway.banks.port.providers import Reason, Unreachable
from gateway.core.account import Environment
from gateway.core.clocks import Deadline
from provider_adapters.kit.limits import ClientLimits
from tests.unit.gateway.banks.client.pairs import joining
from tests.world.banks.scripted import Line, Play, ScriptedBank, answer, saying, standing
from tests.world.leaping import leaping
from tests.world.waiting import block_until, until

LATE = (inf, inf)
Open = Callable[[], Awaitable[Connection]]


def kept(*headers: bytes) -> Play:
    return saying(answer(headers=headers))


@asynccontextmanager
async def pooled(play: Play) -> AsyncIterator[tuple[Pool, Open]]:
    pool = Pool(3, 4096)
    pool.is_open = True

    async with joining(play) as pairs:

        async def opened(*, ahead: bool = False) -> Connection:
            """Open one and, unless it is ahead of its call, make its first call."""
            line = await pool.open(lambda make: pairs.join(make()), single=ahead, ahead=ahead)
            if not ahead:
                progress = SendProgress()
                await line.send(b"GET / HTTP/1.1\r\n\r\n", progress, progress.answered, *LATE)
            return line

        yield pool, opened
        await pool.close()
    assert (len(pool._all), pool.idle) == (0, [])


async def test_the_most_recently_used_connection_is_used_next():
    async with pooled(kept()) as (pool, opened):
        lines = [await opened() for _ in range(3)]
        for line in lines:
            pool.give(line)

        assert [pool.take(pool.idle) for _ in range(4)] == [*reversed(lines), None]


async def test_a_connection_in_the_middle_of_a_call_is_not_kept():
    async with pooled(kept()) as (pool, opened):
        line = await opened()
        progress = SendProgress()
        line.send(b"GET / HTTP/1.1\r\n", progress, progress.answered, *LATE)
        pool.give(line)

        assert pool.take(pool.idle) is None


@leaping
async def test_each_idle_connection_is_closed_after_its_own_timeout():
    async with pooled(kept()) as (pool, opened):
        pool.give(await opened())
        await asyncio.sleep(10)
        pool.give(await opened())
        before = len(pool.idle)
        await asyncio.sleep(5.1)
        between = len(pool.idle)
        await asyncio.sleep(10)

        assert (before, between) == (2, 1)
        assert (len(pool._all), pool.idle) == (0, [])


async def test_an_expired_idle_connection_is_closed_when_taken():
    async with pooled(kept()) as (pool, opened):
        pool.give(await opened())
        await asyncio.sleep(0)
        line = pool.idle[0]
        line.idle_until = 0.0

        assert pool.take(pool.idle) is None
        assert not line.usable


@leaping
async def test_a_connection_older_than_a_minute_is_not_used():
    """Even a busy one: otherwise a bank's move to another address would never be noticed."""
    async with pooled(kept()) as (pool, opened):
        line = await opened()
        left_s = line.usable_until - asyncio.get_running_loop().time()
        pool.give(line)
        assert pool.take(pool.idle) is line
        assert 45 - 0.01 <= left_s <= 60

        await asyncio.sleep(left_s)
        progress = SendProgress()
        await line.send(b"GET / HTTP/1.1\r\n\r\n", progress, progress.answered, *LATE)
        pool.give(line)

        assert pool.take(pool.idle) is None
        assert not line.usable


@leaping
async def test_connections_opened_together_expire_at_different_times():
    loop = asyncio.get_running_loop()
    lives_s = []
    async with joining(kept()) as pairs:
        for chance in (0.0, 1.0):
            pool = Pool(3, 4096, lambda chance=chance: chance)
            pool.is_open = True
            line = await pool.open(lambda make: pairs.join(make()))
            lives_s.append(line.usable_until - loop.time())
            await pool.close()

    assert lives_s == pytest.approx([60, 45], abs=0.01)


async def test_the_bank_s_shorter_keep_alive_is_used():
    async with pooled(kept(b"Keep-Alive: timeout=5")) as (pool, opened):
        line = await opened()
        pool.give(line)

        assert line.idle_until <= asyncio.get_running_loop().time() + 4


async def test_a_keep_alive_of_a_second_keeps_no_connection():
    async with pooled(kept(b"Keep-Alive: timeout=1")) as (pool, opened):
        pool.give(await opened())

        assert pool.take(pool.idle) is None


async def test_a_connection_closed_by_the_bank_is_not_used():
    async def last(line: Line) -> None:
        await line.say(answer())
        line.writer.close()

    async with pooled(last) as (pool, opened):
        line = await opened()
        pool.give(line)
        await until(lambda: not line.is_quiet())

        assert pool.take(pool.idle) is None


async def test_after_a_renewal_earlier_connections_are_closed():
    async with pooled(kept()) as (pool, opened):
        idle, busy = await opened(), await opened()
        pool.give(idle)
        pool.renew()
        pool.give(busy)

        assert pool.take(pool.idle) is None
        assert not idle.usable
        assert not busy.usable


async def test_a_failed_connection_frees_its_slot():
    async def refused(_: object) -> Connection:
        raise Unreachable(Reason.CONNECT_FAILED)

    async with pooled(kept()) as (pool, opened):
        for _ in range(3):
            with pytest.raises(Unreachable, match="connect_failed"):
                await pool.open(refused)

        assert [await opened() for _ in range(3)]


async def test_closing_the_pool_closes_every_connection():
    async with pooled(kept()) as (pool, opened):
        await opened()
        await pool.close()

        assert len(pool._all) == 0


READ = ProviderRequest(operation="x", method="GET", template="/p", path="/p")
ORDER = ProviderRequest(
    operation="create_payout", method="POST", template="/p", path="/p", body=b"{}",
    kind=Kind.PAYOUT,
)  # fmt: skip
FAR = Deadline(10.0, lambda: 0.0)


class Ahead:
    def __init__(self, bank: ScriptedBank, to: HttpTransport) -> None:
        self.bank = bank
        self.to = to

    async def pay(self) -> bool:
        """Pay; say whether that was on a connection opened ahead."""
        before = len(self.to._warm)
        got = await self.to.call(ORDER, SendProgress(FAR))
        assert got.body == b"{}"
        return before > 0

    async def settle(self, count: int) -> None:
        """Wait until so many connections wait."""
        await until(lambda: len(self.to._warm) == count)


@asynccontextmanager
async def ahead(most: int) -> AsyncIterator[Ahead]:
    """Connections opened ahead stay long enough for a busy machine."""
    bank = ScriptedBank(kept(), keeps=True)
    async with standing(bank):
        limits = ClientLimits(connect_s=60.0, payout_connections=most)
        to = HttpTransport(bank.url, limits, Environment.SANDBOX)
        await to.start()
        made = Ahead(bank, to)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(pool, "OLDEST_S", 600.0)
            try:
                yield made
            finally:
                await to.close()
        assert len(to._pool._all) == len(to._warm) == 0


async def test_no_warm_connection_is_opened_by_default():
    async with ahead(0) as one:
        for _ in range(3):
            await one.pay()

        assert not one.to._warm._opening
        assert one.bank.connections == 3
        await until(lambda: not len(one.to._pool._all))


async def test_reads_open_no_warm_connection():
    async with ahead(2) as one:
        await one.to.call(READ, SendProgress())

        assert not one.to._warm._opening
        assert (one.bank.connections, len(one.to._warm)) == (1, 0)


async def test_each_payout_takes_a_warm_connection_and_it_is_replaced():
    async with ahead(2) as one:
        taken = []
        for _ in range(5):
            taken.append(await one.pay())
            await one.settle(2)

        assert taken == [False, True, True, True, True]
        assert one.bank.connections == 5 + 2


async def test_a_read_uses_no_warm_connection():
    async with ahead(2) as one:
        await one.pay()
        await one.settle(2)
        await one.to.call(READ, SendProgress())

        assert len(one.to._warm) == 2
        assert one.bank.connections == 4


@leaping
async def test_warm_connections_close_when_they_are_old():
    async with pooled(kept()) as (pool, opened):
        warm = WarmConnections(pool, 2, partial(opened, ahead=True))
        warm.refill()
        await asyncio.sleep(1.9)
        before = len(warm)
        await asyncio.sleep(0.2)

        assert before == 2
        assert (len(warm), len(pool._all)) == (0, 0)


async def test_an_expired_warm_connection_is_not_used():
    async with ahead(1) as one:
        await one.pay()
        await one.settle(1)
        for line in one.to._warm._ready:
            line.idle_until = 0.0
        await one.pay()

        assert one.bank.connections == 4 - 1


@pytest.mark.parametrize(("timeout", "waits"), [(b"2", True), (b"1", False)])
@leaping
async def test_the_bank_s_keep_alive_applies_to_warm_connections_too(timeout: bytes, waits: bool):
    """One second less than the bank announces; none if nothing is left."""
    async with pooled(kept(b"Keep-Alive: timeout=" + timeout)) as (pool, opened):
        pool.give(await opened())
        warm = WarmConnections(pool, 1, partial(opened, ahead=True))
        warm.refill()
        await asyncio.sleep(0.9)
        before = len(warm)
        await asyncio.sleep(0.2)

        assert (before, len(warm)) == (waits, 0)


async def test_after_new_credentials_no_earlier_warm_connection_is_used():
    async with ahead(2) as one:
        await one.pay()
        await one.settle(2)
        former = list(one.to._warm._ready)
        one.to._warm.drop()

        assert not any(line.usable for line in former)
        assert not await one.pay()


class Bare:
    def __init__(self, listening: socket.socket) -> None:
        listening.setblocking(False)
        self._listening = listening
        self._loop = asyncio.get_running_loop()

    async def accept(self) -> socket.socket:
        return (await self._loop.sock_accept(self._listening))[0]

    async def serve(self, to: HttpTransport) -> ProviderAnswer:
        """Answer a payout on the next connection that is opened."""
        paying = asyncio.create_task(to.call(ORDER, SendProgress(FAR)))
        with await self.accept() as made:
            await self._loop.sock_recv(made, 65536)
            await self._loop.sock_sendall(made, answer())
            return await paying


@pytest.mark.parametrize("does", ["closes", "speaks"])
async def test_a_warm_connection_with_unexpected_bytes_is_not_used(
    does: str, monkeypatch: pytest.MonkeyPatch
):
    """Checked just before the write: the loop has not read what the kernel has."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        bank = Bare(listening)
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        limits = ClientLimits(connect_s=60.0, payout_connections=1)
        to = HttpTransport(url, limits, Environment.SANDBOX)
        monkeypatch.setattr(pool, "OLDEST_S", 600.0)
        await to.start()
        await bank.serve(to)
        with await bank.accept() as idle:
            await until(lambda: len(to._warm) == 1)
            [ready] = to._warm._ready
            if does == "closes":
                idle.shutdown(socket.SHUT_WR)
            else:
                idle.send(answer(b'{"his": 1}'))
            block_until(lambda: not ready.is_quiet())
            got = await bank.serve(to)
            await to.close()

            assert got.body == b"{}"
            with contextlib.suppress(ConnectionError):
                assert await asyncio.get_running_loop().sock_recv(idle, 100) == b""
