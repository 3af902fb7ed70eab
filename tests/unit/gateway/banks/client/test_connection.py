"""One connection: one call at a time, and closed by whatever else happens on it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from gateway.banks.client.connection import Connection
from gateway.banks.client.messages import Kind, ProviderRequest, SendProgress, SendRefused
from gateway.banks.client.transport import HttpTransport
from gateway.banks.port.providers import ProviderError, Unavailable
from gateway.core.account import Environment
from gateway.core.clocks import Deadline
from gateway.net.common.runtime import Runtime
from provider_adapters.kit.limits import ClientLimits
from tests.unit.gateway.banks.client.pairs import joining
from tests.world.banks.scripted import Line as BankLine
from tests.world.banks.scripted import Play, ScriptedBank, answer, saying, standing
from tests.world.leaping import leaping
from tests.world.waiting import forever, until

PATIENT = ClientLimits(connect_s=60.0)
ASK = b"GET / HTTP/1.1\r\n\r\n"


def within(first_byte_s: float, whole_s: float) -> tuple[float, float]:
    now = asyncio.get_running_loop().time()
    return now + first_byte_s, now + whole_s


@dataclass
class Call:
    line: Connection
    bank: ScriptedBank
    gone: list[Connection] = field(default_factory=list)

    def send(
        self,
        progress: SendProgress | None = None,
        first_byte_s: float = 60.0,
        whole_s: float = 60.0,
    ) -> asyncio.Future:
        progress = progress or SendProgress()
        return self.line.send(ASK, progress, progress.answered, *within(first_byte_s, whole_s))

    async def until_gone(self) -> None:
        await until(lambda: self.gone)


@asynccontextmanager
async def connected(bank: ScriptedBank) -> AsyncIterator[Call]:
    async with standing(bank):
        loop = asyncio.get_running_loop()
        gone: list[Connection] = []
        _, line = await loop.create_connection(
            lambda: Connection(loop, 4096, gone.append), "127.0.0.1", bank.port
        )
        call = Call(line, bank, gone)
        try:
            yield call
        finally:
            line.abort()
            await call.until_gone()


@asynccontextmanager
async def paired(play: Play) -> AsyncIterator[Call]:
    """Connect without TCP, for a clock that leaps."""
    gone: list[Connection] = []
    async with joining(play) as pairs:
        line = await pairs.join(Connection(asyncio.get_running_loop(), 4096, gone.append))
        call = Call(line, pairs.bank, gone)
        try:
            yield call
        finally:
            line.abort()
            await call.until_gone()


async def test_a_connection_serves_several_calls():
    async with connected(ScriptedBank(saying(answer()), keeps=True)) as call:
        for _ in range(3):
            progress = SendProgress()
            got = await call.send(progress)

            assert (got.body, progress.http_status, progress.bytes_left) == (b"{}", 200, True)
            assert call.line.end_call()
            assert call.line.is_quiet()

    assert len(call.bank.requests) == 3


async def test_a_refused_send_writes_nothing_and_keeps_the_connection():
    async with connected(ScriptedBank(saying(answer()), keeps=True)) as call:
        with pytest.raises(SendRefused):
            call.send(SendProgress(Deadline(0.0, lambda: 1.0)))

        assert call.line.end_call()
        await call.send()

    assert len(call.bank.requests) == 1


async def test_a_cancelled_call_closes_the_connection():
    async def slowly(line: BankLine) -> None:
        await line.say(answer()[:-1])
        await line.reader.read()

    async with connected(ScriptedBank(slowly)) as call:
        progress = SendProgress()
        waiter = call.send(progress)
        await until(lambda: progress.http_status)
        waiter.cancel()

        assert not call.line.end_call()
        await call.until_gone()


async def test_a_closed_connection_leaves_no_timer_behind():
    """It would keep the connection's memory for as long as the call could have taken."""
    async with connected(ScriptedBank(saying(answer()), keeps=True)) as call:
        await call.send()
        running = call.line._timer._timer
        call.line.abort()
        await call.until_gone()

    assert running is not None
    assert running.cancelled()


async def test_unexpected_bytes_close_an_idle_connection():
    idle = asyncio.Event()

    async def twice(line: BankLine) -> None:
        await line.say(answer())
        await idle.wait()
        await line.say(b"HTTP/1.1 408 Request Timeout\r\n\r\n")
        await line.reader.read()

    async with connected(ScriptedBank(twice)) as call:
        await call.send()
        assert call.line.end_call()
        idle.set()
        await call.until_gone()

        assert not call.line.usable


async def test_a_close_by_the_bank_is_noticed_before_the_loop_reads_it():
    """The bank closes between two turns of the loop; the next payout must not be sent there."""
    ours, theirs = socket.socketpair()
    loop = asyncio.get_running_loop()
    gone: list[Connection] = []
    line = Connection(loop, 4096, gone.append)
    await loop.create_connection(lambda: line, sock=ours)

    before = line.is_quiet()
    theirs.close()

    assert (before, line.is_quiet(), line.usable) == (True, False, True)
    await until(lambda: gone)


async def test_an_answer_before_the_request_is_sent_ends_the_connection():
    async def early(line: BankLine) -> None:
        await line.say(answer(status="413 Too Large"))
        await forever()

    async with connected(ScriptedBank(early, reads=False)) as call:
        progress = SendProgress()
        data = ASK + b"x" * 16_000_000
        got = await call.line.send(data, progress, progress.answered, *within(60, 60))

        assert got.status == 413
        assert not call.line.end_call()


@pytest.mark.parametrize(("first_byte_s", "whole_s"), [(0.02, 60), (60, 0.02)])
async def test_a_silent_bank_times_out_at_the_deadline(first_byte_s: float, whole_s: float):
    """Whichever limit is reached first."""

    async def silent(line: BankLine) -> None:
        await line.reader.read()

    async with connected(ScriptedBank(silent)) as call:
        with pytest.raises(ProviderError) as failed:
            await call.send(first_byte_s=first_byte_s, whole_s=whole_s)

        assert failed.value.reason == "timeout"
        assert not call.line.end_call()


async def drip(line: BankLine) -> None:
    for byte in answer():
        await line.say(bytes([byte]))
        await asyncio.sleep(0.01)


@leaping
async def test_the_first_byte_of_an_answer_ends_its_timeout():
    async with paired(drip) as call:
        got = await call.send(first_byte_s=0.3)

    assert got.body == b"{}"


@leaping
async def test_a_slow_answer_ends_at_the_timeout_of_the_whole_call():
    """Each byte arrives in time, but all together take too long."""
    async with paired(drip) as call:
        began = asyncio.get_running_loop().time()
        with pytest.raises(ProviderError) as failed:
            await call.send(first_byte_s=0.3, whole_s=0.4)
        took = asyncio.get_running_loop().time() - began

        assert failed.value.reason == "timeout"
        assert took == pytest.approx(0.4, abs=0.002)
        assert not call.line.end_call()


@leaping
async def test_each_call_has_its_own_first_byte_timeout():
    """The first call's timer does not end the second call."""
    said = [0.0, 0.4]

    async def later(line: BankLine) -> None:
        await asyncio.sleep(said.pop(0))
        await line.say(answer())

    async with paired(later) as call:
        await call.send(first_byte_s=0.3)
        assert call.line.end_call()

        got = await call.send(first_byte_s=5)

    assert got.body == b"{}"


async def test_a_flood_of_interim_responses_is_discarded():
    async def flood(line: BankLine) -> None:
        while True:
            await line.say(b"HTTP/1.1 102 Processing\r\n\r\n" * 1000)

    async with connected(ScriptedBank(flood)) as call:
        waiter = call.send()
        await until(lambda: call.line.reader.discarding)
        was_done = waiter.done()
        call.line.abort()
        with pytest.raises(Unavailable):
            await waiter

        assert not was_done


ORDER = ProviderRequest(
    operation="create_payout", method="POST", template="/p", path="/p", body=b'{"a":"0123456789"}',
    kind=Kind.PAYOUT,
)  # fmt: skip
FAR = Deadline(10.0, lambda: 0.0)


class Ended(BaseException):
    """Represents the end of the process."""


async def test_fail_points_are_passed_in_order():
    passed: list[str] = []
    async with standing(ScriptedBank(saying(answer()))) as bank:
        transport = HttpTransport(
            bank.url, PATIENT, Environment.SANDBOX, Runtime(failpoint=passed.append)
        )
        await transport.start()
        got = await transport.call(ORDER, SendProgress(FAR))
        await transport.close()

    assert got.body == b"{}"
    assert bank.requests[0].endswith(ORDER.body)
    assert passed == [
        "before_connect", "after_connect", "mid_body", "after_body", "before_answer", "mid_answer",
    ]  # fmt: skip


BODILESS = ProviderRequest(
    operation="create_payout", method="POST", template="/p", path="/p", kind=Kind.PAYOUT
)
PUT = ProviderRequest(
    operation="create_payout", method="PUT", template="/p/{key}", path="/p/k1", key="k1",
    body=b'{"a":"0123456789"}', kind=Kind.PAYOUT,
)  # fmt: skip


@pytest.mark.parametrize("order", [ORDER, BODILESS, PUT], ids=["post", "no body", "put"])
@pytest.mark.parametrize(
    ("point", "arrived"), [("after_connect", 0), ("mid_body", 0), ("after_body", 1)]
)
async def test_each_fail_point_is_before_or_after_the_request_is_sent(
    order: ProviderRequest, point: str, arrived: int
):
    """At the one in the middle, exactly half of the request is sent."""

    def ends(name: str) -> None:
        if name == point:
            raise Ended

    async with standing(ScriptedBank(saying(answer()))) as bank:
        transport = HttpTransport(bank.url, PATIENT, Environment.SANDBOX, Runtime(failpoint=ends))
        await transport.start()
        with pytest.raises(Ended):
            await transport.call(order, SendProgress(FAR))
        await transport.close()
        await until(lambda: bank.has_served)

    assert len(bank.requests) == arrived


async def test_a_read_passes_no_fail_point():
    passed: list[str] = []
    read = ProviderRequest(operation="x", method="GET", template="/p", path="/p")
    async with standing(ScriptedBank(saying(answer()))) as bank:
        transport = HttpTransport(
            bank.url, PATIENT, Environment.SANDBOX, Runtime(failpoint=passed.append)
        )
        await transport.start()
        await transport.call(read, SendProgress())
        await transport.close()

    assert passed == []
