"""Our transport as a whole: what the comparison with aiohttp's does not show."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime

import pytest

from gateway.banks.client.messages import Kind, ProviderRequest, SendProgress
from gateway.banks.client.tls import TlsFiles, TlsFilesRefused
from gateway.banks.client.transport import HttpTransport
from gateway.banks.port.providers import ProviderError, Unavailable, Unreachable
from gateway.core import trace
from gateway.core.account import Environment
from gateway.core.clocks import Deadline
from gateway.net.common.runtime import Runtime
from provider_adapters.kit.limits import BulkheadLimits, ClientLimits
from tests.world.banks.authority import EXPIRED, Authority
from tests.world.banks.scripted import Line, ScriptedBank, answer, saying, standing
from tests.world.waiting import forever, until

READ = ProviderRequest(operation="x", method="GET", template="/p", path="/p")
ORDER = ProviderRequest(
    operation="create_payout", method="POST", template="/p", path="/p", body=b'{"value": 1050}',
    kind=Kind.PAYOUT,
)  # fmt: skip
FAR = Deadline(10.0, lambda: 0.0)
PATIENT = ClientLimits(connect_s=60.0)
TWO = ClientLimits(connect_s=60.0, bulkhead=BulkheadLimits(in_flight=2))


@asynccontextmanager
async def road(
    url: str, limits: ClientLimits = PATIENT, tls: TlsFiles | None = None
) -> AsyncIterator[HttpTransport]:
    transport = HttpTransport(url, limits, Environment.SANDBOX, Runtime(), tls)
    await transport.start()
    try:
        yield transport
    finally:
        await transport.close()


async def hang(line: Line) -> None:
    await line.reader.read()


async def test_head_and_body_are_sent_in_one_segment():
    """A second segment could be lost alone."""
    pieces: list[bytes] = []

    async def first_piece(line: Line) -> None:
        pieces.append(await line.reader.read(65536))
        await line.say(answer())

    bank = ScriptedBank(first_piece, reads=False)
    async with standing(bank), road(bank.url) as to:
        await to.call(ORDER, SendProgress(FAR))

    assert pieces[0].startswith(b"POST /p HTTP/1.1\r\n")
    assert pieces[0].endswith(ORDER.body)


async def test_a_caller_s_trace_continues_to_the_bank_with_our_parent_id():
    trace_id = "4bf92f3577b34da6a3ce929d0e0e4736"
    sent = f"00-{trace_id}-00f067aa0ba902b7-01"
    trace.begin("mine", (sent,), ("rojo=1",))
    async with standing(ScriptedBank(saying(answer()))) as bank, road(bank.url) as to:
        await to.call(READ, SendProgress())

    head = bank.requests[0].decode()
    assert f"\r\ntraceparent: 00-{trace_id}-" in head
    assert "\r\ntracestate: rojo=1\r\n" in head
    assert sent not in head
    assert "\r\nX-Trace-ID: " in head


async def test_connections_are_limited_to_the_calls_in_flight():
    async with standing(ScriptedBank(hang)) as bank, road(bank.url, TWO) as to:
        calls = [asyncio.create_task(to.call(READ, SendProgress())) for _ in range(3)]
        done, _ = await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
        await until(lambda: bank.connections == 2)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)

    [refused] = done
    failure = refused.exception()
    assert isinstance(failure, Unreachable)
    assert failure.reason == "bulkhead_full"
    assert bank.connections == 2


async def test_a_cancelled_call_s_connection_is_not_used_again():
    """Its late answer could be taken for the next caller's."""
    said: list[bytes] = [answer(b'{"his": 1}'), answer(b'{"mine": 1}')]
    given_up_by_then = asyncio.Event()

    async def slow_at_first(line: Line) -> None:
        mine = said.pop(0)
        if said:
            await given_up_by_then.wait()
        await line.say(mine)

    bank = ScriptedBank(slow_at_first, keeps=True)
    async with standing(bank), road(bank.url) as to:
        given_up = asyncio.create_task(to.call(READ, SendProgress()))
        await until(lambda: bank.requests)
        given_up.cancel()
        given_up_by_then.set()
        got = await to.call(READ, SendProgress())

    assert got.body == b'{"mine": 1}'
    assert bank.connections == 2


async def test_a_call_cancelled_during_its_answer_closes_the_connection():
    async def half(line: Line) -> None:
        await line.say(answer(b"0123456789")[:-5])
        await line.reader.read()

    async with standing(ScriptedBank(half)) as bank, road(bank.url) as to:
        progress = SendProgress()
        call = asyncio.create_task(to.call(READ, progress))
        await until(lambda: progress.http_status)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

        pool = to._pool
        assert not pool.idle
        await until(lambda: not pool._all)


async def test_closing_fails_the_calls_in_flight_and_leaves_nothing_open():
    async with standing(ScriptedBank(hang)) as bank, road(bank.url) as to:
        progress = SendProgress()
        call = asyncio.create_task(to.call(READ, progress))
        await until(lambda: bank.requests)
        await to.close()

        with pytest.raises(Unavailable) as failed:
            await call

    assert failed.value.reason == "connection_lost"
    assert progress.bytes_left


async def test_closing_while_connecting_sends_nothing():
    async with standing(ScriptedBank(hang)) as bank, road(bank.url) as to:
        progress = SendProgress()
        call = asyncio.create_task(to.call(READ, progress))
        await asyncio.sleep(0)
        await to.close()

        with pytest.raises(ProviderError) as failed:
            await call

    assert failed.value.reason in {"closed", "connect_failed"}
    assert not progress.bytes_left


async def test_closing_a_transport_closes_every_connection():
    """After many calls with every outcome; a leak would warn, and a warning fails the test."""
    ways = [saying(answer()), hang, saying(b"nonsense\r\n\r\n"), saying(answer()[:-1])]
    for way in ways:
        async with standing(ScriptedBank(way)) as bank, road(bank.url) as to:
            calls = [asyncio.create_task(to.call(READ, SendProgress())) for _ in range(8)]
            if way is hang:
                await until(lambda bank=bank: len(bank.requests) == 8)
            else:
                await asyncio.wait(calls)
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)
        assert len(to._pool._all) == 0
    gc.collect()


async def test_a_silent_bank_times_out_at_the_first_byte_limit():
    """Long before the timeout of the whole call."""

    async def silent(line: Line) -> None:
        await forever()

    limits = ClientLimits(connect_s=60.0, first_byte_s=0.05)
    async with standing(ScriptedBank(silent)) as bank, road(bank.url, limits) as to:
        progress = SendProgress(FAR)
        with pytest.raises(Unavailable) as failed:
            await to.call(ORDER, progress)
        await until(lambda: bank.requests)

    assert failed.value.reason == "timeout"
    assert progress.bytes_left


async def test_each_call_on_a_kept_connection_has_its_own_timeout():
    bank = ScriptedBank(saying(answer()), keeps=True)
    async with standing(bank), road(bank.url) as to:
        await to.call(READ, SendProgress(), 60)
        bank.play = hang
        with pytest.raises(Unavailable) as failed:
            await to.call(READ, SendProgress(), 0.05)

    assert failed.value.reason == "timeout"
    assert bank.connections == 1


async def test_a_payout_has_a_connection_to_itself():
    """It uses no connection of a read, leaves none to a read, and tells the bank to close it."""
    bank = ScriptedBank(saying(answer()), keeps=True)
    async with standing(bank), road(bank.url) as to:
        for request in (READ, ORDER, ORDER, READ):
            await to.call(request, SendProgress(FAR if request is ORDER else None))
        idle = len(to._pool.idle)

    assert (bank.connections, idle) == (3, 1)
    closing = [b"\r\nConnection: close\r\n" in request for request in bank.requests]
    assert closing == [False, True, True, False]


async def test_idle_connections_of_reads_are_closed_for_payouts():
    bank = ScriptedBank(saying(answer()), keeps=True)
    async with standing(bank), road(bank.url, TWO) as to:
        await asyncio.gather(*(to.call(READ, SendProgress()) for _ in range(2)))
        got = await asyncio.gather(*(to.call(ORDER, SendProgress(FAR)) for _ in range(2)))

    assert [one.status for one in got] == [200, 200]
    assert bank.connections == 4


async def test_a_bank_that_sends_first_is_sent_no_payout():
    """Bytes before the request are not an answer to it."""

    async def speaks(line: Line) -> None:
        await line.say(answer(b'{"his": 1}'))
        await line.reader.read()

    bank = ScriptedBank(speaks, reads=False)
    async with standing(bank), road(bank.url) as to:
        progress = SendProgress(FAR)
        with pytest.raises(Unreachable) as failed:
            await to.call(ORDER, progress)

    assert (failed.value.reason, progress.bytes_left) == ("connect_failed", False)


async def test_tls_files_for_an_address_without_tls_are_refused(tmp_path):
    files = TlsFiles(ca_file=str(Authority(tmp_path).file))
    transport = HttpTransport("http://127.0.0.1:1", PATIENT, Environment.SANDBOX, tls=files)

    with pytest.raises(TlsFilesRefused, match="not https"):
        await transport.start()


async def test_the_expiry_of_our_certificate_is_reported_at_the_start(tmp_path):
    """So that an operator sees it long before payouts stop."""
    authority = Authority(tmp_path)
    told: list[datetime] = []
    files = TlsFiles(ca_file=str(authority.file), cert_file=str(authority.sign("we", EXPIRED)))
    runtime = Runtime(on_certificate=told.append)
    transport = HttpTransport("https://127.0.0.1:1", PATIENT, Environment.SANDBOX, runtime, files)

    await transport.start()
    await transport.close()

    assert told == [EXPIRED[1].replace(microsecond=0)]


async def test_an_expired_certificate_blocks_payouts_and_not_reads(tmp_path):
    authority = Authority(tmp_path)
    files = TlsFiles(ca_file=str(authority.file), cert_file=str(authority.sign("we", EXPIRED)))
    bank = ScriptedBank(saying(answer()), keeps=True)
    async with (
        standing(bank, ssl=authority.server()),
        road(f"https://127.0.0.1:{bank.port}", PATIENT, files) as to,
    ):
        got = await to.call(READ, SendProgress())
        progress = SendProgress(FAR)
        with pytest.raises(Unreachable) as failed:
            await to.call(ORDER, progress)

    assert got.status == 200
    assert failed.value.reason == "certificate_expired"
    assert (progress.bytes_left, len(bank.requests)) == (False, 1)
