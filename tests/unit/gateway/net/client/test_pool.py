"""Which connection is used next, and how long an idle one lives."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from math import inf

import pytest

from gateway.domain.accounts.accounts import Environment
from gateway.domain.kernel.clocks import Deadline
from gateway.net.client import pool
from gateway.net.client.connection import AnswerDeadlines, Connection
from gateway.net.client.messages import Kind, ProviderAnswer, ProviderRequest, SendProgress
from gateway.net.client.pool import Candidates, Pool
from gateway.net.client.transport import HttpTransport
from provider_adapters._road.limits import ClientLimits
from tests.world.banks.scripted import ScriptedBank, answer, saying, standing

LATE = AnswerDeadlines(inf, inf)
Open = Callable[[], Awaitable[Connection]]


def kept(*headers: bytes) -> ScriptedBank:
    return ScriptedBank(saying(answer(headers=headers)), keeps=True)


@asynccontextmanager
async def pooled(bank: ScriptedBank, idle_s: float = 15.0) -> AsyncIterator[tuple[Pool, Open]]:
    loop = asyncio.get_running_loop()
    pool = Pool(loop, 3, idle_s)

    async def opened() -> Connection:
        """Open one and make its first call."""
        line = pool.make(4096)
        await loop.create_connection(lambda: line, "127.0.0.1", bank.port)
        progress = SendProgress()
        await line.send(b"GET / HTTP/1.1\r\n\r\n", progress, progress.answered, LATE)
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
        progress = SendProgress()
        line.send(b"GET / HTTP/1.1\r\n", progress, progress.answered, LATE)
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


async def test_a_busy_one_gets_no_call_after_a_minute():
    """However often it is used: a bank that has moved would never be noticed."""
    async with pooled(kept()) as (pool, opened):
        line = await opened()
        left_s = line.usable_until - asyncio.get_running_loop().time()
        pool.give(line)
        assert pool.take() is line
        assert 44 < left_s <= 60

        line.usable_until = asyncio.get_running_loop().time()
        progress = SendProgress()
        await line.send(b"GET / HTTP/1.1\r\n\r\n", progress, progress.answered, LATE)
        pool.give(line)

        assert pool.take() is None
        assert not line.usable


@pytest.mark.parametrize(("chance", "life_s"), [(0.0, 60.0), (1.0, 45.0)])
async def test_those_opened_together_do_not_end_together(chance: float, life_s: float):
    loop = asyncio.get_running_loop()
    made = Pool(loop, 3, chance=lambda: chance).make(4096)

    assert made.usable_until - loop.time() == pytest.approx(life_s, abs=0.5)


@pytest.mark.parametrize("ahead", [False, True])
@pytest.mark.parametrize("wins", [0, 2])
async def test_of_those_that_race_one_takes_a_place(wins: int, ahead: bool):
    async with pooled(kept()) as (pool, opened):
        del opened
        candidates = Candidates(pool, 4096, single=True, ahead=ahead)
        made = [candidates.make() for _ in range(3)]
        assert len(pool._open) == (0 if ahead else 1)

        candidates.choose(made[wins])

        places = pool._ahead if ahead else pool._open
        assert places == {made[wins]}
        assert len(pool) == 1
        pool.unmake(made[wins])


async def test_of_those_that_all_fail_none_is_left():
    async with pooled(kept()) as (pool, opened):
        del opened
        candidates = Candidates(pool, 4096, single=False, ahead=False)
        for _ in range(3):
            candidates.make()

        candidates.drop()

        assert len(pool) == 0


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


READ = ProviderRequest(operation="x", method="GET", template="/p", path="/p")
ORDER = ProviderRequest(
    operation="create_payout", method="POST", template="/p", path="/p", body=b"{}",
    kind=Kind.PAYOUT,
)  # fmt: skip
FAR = Deadline(10.0, lambda: 0.0)


class Ahead:
    """A transport that opens connections ahead, and its bank."""

    def __init__(self, bank: ScriptedBank, to: HttpTransport) -> None:
        self.bank = bank
        self.to = to
        assert to._open
        self.opened = to._open

    async def pay(self) -> bool:
        """Pay; say whether that was on a connection opened ahead."""
        before = len(self.opened.warm)
        got = await self.to.call(ORDER, SendProgress(FAR))
        assert got.body == b"{}"
        return before > 0

    async def settle(self, count: int) -> None:
        """Wait until so many connections wait."""
        async with asyncio.timeout(5):
            while len(self.opened.warm) != count:
                await asyncio.sleep(0.001)


@asynccontextmanager
async def ahead(most: int, *headers: bytes) -> AsyncIterator[Ahead]:
    bank = ScriptedBank(saying(answer(headers=headers)), keeps=True)
    async with standing(bank):
        limits = ClientLimits(payout_connections=most)
        to = HttpTransport(bank.url, limits, Environment.SANDBOX)
        await to.start()
        made = Ahead(bank, to)
        try:
            yield made
        finally:
            await to.close()
        assert len(made.opened.pool) == len(made.opened.warm) == 0


async def test_by_default_none_is_opened_ahead():
    async with ahead(0) as one:
        for _ in range(3):
            await one.pay()
        await asyncio.sleep(0.02)

        assert one.bank.connections == 3
        assert len(one.opened.pool) == 0


async def test_none_is_opened_before_the_first_payout_and_none_by_reads():
    async with ahead(2) as one:
        await one.to.call(READ, SendProgress())
        await asyncio.sleep(0.02)

        assert (one.bank.connections, len(one.opened.warm)) == (1, 0)


async def test_while_payouts_flow_each_takes_one_and_they_are_replaced():
    async with ahead(2) as one:
        taken = []
        for _ in range(5):
            taken.append(await one.pay())
            await one.settle(2)

        assert taken == [False, True, True, True, True]
        assert one.bank.connections == 5 + 2


async def test_a_read_gets_none_of_them():
    async with ahead(2) as one:
        await one.pay()
        await one.settle(2)
        await one.to.call(READ, SendProgress())

        assert len(one.opened.warm) == 2
        assert one.bank.connections == 4


async def test_they_end_when_they_are_old(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pool, "OLDEST_S", 0.05)
    async with ahead(2) as one:
        await one.pay()
        await one.settle(2)
        await one.settle(0)
        await asyncio.sleep(0.02)

        assert one.bank.connections == 3
        assert len(one.opened.pool) == 0


async def test_one_too_old_is_not_used_even_if_nobody_has_closed_it():
    async with ahead(1) as one:
        await one.pay()
        await one.settle(1)
        for line in one.opened.warm._ready:
            line.idle_until = 0.0
        await one.pay()

        assert one.bank.connections == 4 - 1


@pytest.mark.parametrize(("timeout", "waits"), [(b"2", True), (b"1", False)])
async def test_the_bank_s_own_patience_counts_for_warm_connections_too(timeout: bytes, waits: bool):
    async with ahead(1, b"Keep-Alive: timeout=" + timeout) as one:
        await one.to.call(READ, SendProgress())
        await one.pay()
        await asyncio.sleep(0.05)

        ready = list(one.opened.warm._ready)
        assert len(ready) == waits
        if waits:
            assert ready[0].idle_until <= asyncio.get_running_loop().time() + 1


async def test_after_new_credentials_none_of_the_former_is_used():
    async with ahead(2) as one:
        await one.pay()
        await one.settle(2)
        former = list(one.opened.warm._ready)
        one.opened.warm.drop()

        assert not any(line.usable for line in former)
        assert not await one.pay()


class Bare:
    """A bank whose connections a test holds in its hands."""

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
async def test_one_that_the_bank_has_touched_is_not_used(does: str):
    """Looked at in the step of the write: the loop has not read what the kernel has."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        bank = Bare(listening)
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        to = HttpTransport(url, ClientLimits(payout_connections=1), Environment.SANDBOX)
        await to.start()
        await bank.serve(to)
        with await bank.accept() as idle:
            await asyncio.sleep(0.02)
            if does == "closes":
                idle.shutdown(socket.SHUT_WR)
            else:
                idle.send(answer(b'{"his": 1}'))
            got = await bank.serve(to)
            await to.close()

            assert got.body == b"{}"
            idle.settimeout(1)
            with contextlib.suppress(ConnectionError):
                assert idle.recv(100) == b""
