"""The road to a bank, ours and aiohttp's: what aiohttp does by itself must not happen here."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from gateway.banks.client.messages import ProviderRequest, SendProgress, SendRefused
from gateway.banks.client.transport import HttpTransport, Transport
from gateway.banks.port.providers import BadReply, Phase, ProviderError, Unavailable, Unreachable
from gateway.core import trace
from gateway.core.account import Environment
from gateway.core.clocks import Deadline
from provider_adapters.kit.limits import ClientLimits
from tests.proofs.transport.forward import Forward
from tests.world.banks.scripted import Line, Play, ScriptedBank, answer, saying, standing
from tests.world.banks.stock import StockTransport
from tests.world.banks.witness import Clock
from tests.world.extent import WHOLE
from tests.world.waiting import settle, until

LIMITS = ClientLimits(connect_s=60.0)


def asked(method: str = "GET", body: bytes = b"", **headers: str) -> ProviderRequest:
    return ProviderRequest(
        operation="x", method=method, template="/p", path="/p?a=%2F", headers=headers, body=body
    )


Road = Callable[..., AbstractAsyncContextManager[Transport]]


@pytest.fixture(params=[HttpTransport, StockTransport] if WHOLE else [HttpTransport])
def kind(request: pytest.FixtureRequest) -> type[HttpTransport]:
    """Ours, and at full size the witness as well."""
    return request.param


@pytest.fixture
def road(kind: type[HttpTransport]) -> Road:
    """One of the two to an address, opened and closed."""

    @asynccontextmanager
    async def opened(
        url: str, environment: Environment = Environment.SANDBOX
    ) -> AsyncIterator[Transport]:
        transport = kind(url, LIMITS, environment)
        await transport.start()
        try:
            yield transport
        finally:
            await transport.close()

    return opened


async def hang_up(_: Line) -> None:
    """Close after reading."""


async def test_requests_and_answers_are_transferred_unchanged(road: Road):
    trace.begin("trace-1")
    progress = SendProgress()
    async with standing(ScriptedBank(saying(answer(b'{"a":1}')))) as bank, road(bank.url) as to:
        got = await to.call(asked("POST", b"{}", Authorization="Bearer t"), progress)

    head = bank.requests[0].decode()
    assert head.startswith("POST /p?a=%2F HTTP/1.1\r\n")
    assert "X-Trace-ID: trace-1" in head
    assert "Authorization: Bearer t" in head
    assert "Accept-Encoding: identity" in head
    assert "Content-Type: application/json" in head
    assert "Python" not in head
    assert (got.status, got.body) == (200, b'{"a":1}')
    assert got.headers["content-type"] == "application/json"
    assert (progress.phase, progress.bytes_left) == (Phase.ANSWERED, True)


async def test_a_call_without_a_partner_s_request_has_a_trace_id(road: Road):
    trace.begin("")
    async with standing(ScriptedBank(saying(answer()))) as bank, road(bank.url) as to:
        await to.call(asked(), SendProgress())

    assert b"X-Trace-ID: " in bank.requests[0]


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "POST"])
async def test_a_request_is_not_repeated_when_the_bank_hangs_up(road: Road, method: str):
    """By default aiohttp would send GET, PUT and DELETE twice here."""
    async with standing(ScriptedBank(hang_up)) as bank, road(bank.url) as to:
        with pytest.raises(Unavailable) as failed:
            await to.call(asked(method, b"{}" if method != "GET" else b""), SendProgress())

    assert failed.value.reason == "connection_lost"
    assert len(bank.requests) == 1


@pytest.mark.parametrize("method", ["GET", "PUT", "POST"])
async def test_a_request_on_a_kept_connection_is_not_repeated(road: Road, method: str):
    """The connection was kept, and the bank hangs up on the second request."""
    bank = ScriptedBank(saying(answer()), keeps=True)

    async def once(line: Line) -> None:
        if len(bank.requests) > 1:
            line.reset()
        else:
            await line.say(answer())

    bank.play = once
    async with standing(bank), road(bank.url) as to:
        await to.call(asked(), SendProgress())
        with pytest.raises(Unavailable):
            await to.call(asked(method, b"{}" if method != "GET" else b""), SendProgress())

    assert (len(bank.requests), bank.connections) == (2, 1)


async def test_a_redirect_is_an_answer_and_not_followed(road: Road):
    redirect = answer(status="307 Temporary Redirect", headers=(b"Location: /elsewhere",))
    async with standing(ScriptedBank(saying(redirect))) as bank, road(bank.url) as to:
        got = await to.call(asked("POST", b"{}"), SendProgress())

    assert got.status == 307
    assert len(bank.requests) == 1


async def test_no_cookie_is_kept(road: Road):
    cookie = answer(headers=(b"Set-Cookie: a=canary",))
    bank = ScriptedBank(saying(cookie), keeps=True)
    async with standing(bank), road(bank.url) as to:
        await to.call(asked(), SendProgress())
        await to.call(asked(), SendProgress())

    assert b"canary" not in b"".join(bank.requests)


async def test_proxy_environment_variables_are_ignored(road: Road, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    async with standing(ScriptedBank(saying(answer()))) as bank, road(bank.url) as to:
        got = await to.call(asked(), SendProgress())

    assert got.status == 200


async def test_connections_are_kept_except_after_surplus_bytes(road: Road):
    """Bytes after an answer would be the next caller's answer."""
    poisoned = answer() + answer(b'{"somebody": "else"}')
    bank = ScriptedBank(saying(answer()), keeps=True)
    async with standing(bank), road(bank.url) as to:
        await to.call(asked(), SendProgress())
        await to.call(asked(), SendProgress())
        kept = bank.connections
        bank.play = saying(poisoned)
        await to.call(asked(), SendProgress())
        bank.play = saying(answer(b'{"mine": 1}'))
        got = await to.call(asked(), SendProgress())

    assert kept == 1
    assert got.body == b'{"mine": 1}'
    assert bank.connections == 2


@pytest.mark.parametrize("body", [b"", b"{}"])
async def test_nothing_is_written_after_the_deadline(road: Road, body: bytes):
    """The connection is made, the deadline passes, and nothing is written."""
    clock = Clock()
    progress = SendProgress(Deadline(clock.at, clock))
    async with standing(ScriptedBank(hang_up)) as bank, road(bank.url) as to:
        with pytest.raises(Unreachable) as failed:
            await to.call(asked("POST" if body else "GET", body), progress)
        await until(lambda: bank.connections and not bank._tasks)

    assert failed.value.reason == "deadline_passed"
    assert (progress.phase, progress.bytes_left) == (Phase.CONNECTED, False)
    assert (bank.connections, bank.requests) == (1, [])


async def test_the_deadline_is_checked_again_before_the_write(road: Road):
    """The clock is read just before writing, not when the call begins."""
    clock = Clock()
    seen: list[float] = []

    def asked_clock() -> float:
        seen.append(clock.at)
        return clock.at

    class SlowToConnect(SendProgress):
        def connected(self) -> None:
            clock.passes(2)

    progress = SlowToConnect(Deadline(clock.at + 1, asked_clock))
    async with standing(ScriptedBank(hang_up)) as bank, road(bank.url) as to:
        with pytest.raises(Unreachable):
            await to.call(asked("POST", b"{}"), progress)

    assert seen == [clock.at]
    assert bank.requests == []


async def test_a_call_cancelled_while_connecting_sends_nothing(road: Road):
    async with standing(ScriptedBank(hang_up)) as bank, road(bank.url) as to:
        progress = SendProgress()
        call = asyncio.create_task(to.call(asked("POST", b"{}"), progress))
        await asyncio.sleep(0)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        await settle(100)

    assert call.cancelled()
    assert (progress.bytes_left, bank.requests) == (False, [])


async def silent(line: Line) -> None:
    await line.reader.read()


async def drip(line: Line) -> None:
    await line.say(answer(b"x" * 10_000)[:-10_000])
    for _ in range(10_000):
        await settle()
        await line.say(b"x")


@pytest.mark.parametrize("play", [silent, drip])
@pytest.mark.parametrize("kept", [False, True])
async def test_a_call_times_out_after_sixty_seconds(road: Road, play: Play, kept: bool):
    """A silent bank, and one whose bytes each come in time but together too late."""
    progress = SendProgress()
    expected = Phase.SENT if play is silent else Phase.ANSWERED
    bank = ScriptedBank(saying(answer()) if kept else play, keeps=True)
    async with standing(bank), road(bank.url) as to:
        if kept:
            await to.call(asked(), SendProgress())
        bank.play = play
        clock = Forward()
        call = asyncio.create_task(to.call(asked("POST", b"{}"), progress, 60.0))
        await until(lambda: progress.phase is expected and len(bank.requests) > kept)
        clock.by(59.0)
        await settle()
        was_over = call.done()
        clock.by(1.1)
        with pytest.raises(Unavailable) as failed:
            await call

    assert (was_over, failed.value.reason) == (False, "timeout")
    assert progress.bytes_left
    assert progress.phase is expected


async def test_a_timeout_while_connecting_proves_that_nothing_was_sent(road: Road):
    """The connection is not accepted, because the queue of the port is full."""
    progress = SendProgress()
    with contextlib.ExitStack() as sockets:
        full = sockets.enter_context(socket.socket())
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(4):
            waiting = sockets.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        async with road(f"http://127.0.0.1:{full.getsockname()[1]}") as to:
            with pytest.raises(Unreachable) as failed:
                await to.call(asked("POST", b"{}"), progress, 0.1)

    assert failed.value.reason == "timeout"
    assert (progress.phase, progress.bytes_left) == (Phase.CONNECTING, False)


@pytest.mark.parametrize("play", [hang_up, saying(answer())])
async def test_a_finished_call_cannot_send(road: Road, play: Play):
    """Even if a task of the session is still running then."""
    progress = SendProgress()
    async with standing(ScriptedBank(play)) as bank, road(bank.url) as to:
        with contextlib.suppress(ProviderError):
            await to.call(asked("POST", b"{}"), progress)

    with pytest.raises(SendRefused):
        progress.sending()


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "\x00"])
async def test_a_header_that_would_split_is_not_sent(road: Road, value: str):
    async with standing(ScriptedBank(hang_up)) as bank, road(bank.url) as to:
        with pytest.raises(ProviderError):
            await to.call(asked("POST", b"{}", Authorization=value), SendProgress())

    assert bank.requests == []


async def test_a_closed_transport_makes_no_call(kind: type[HttpTransport]):
    transport = kind("http://127.0.0.1:1", LIMITS, Environment.SANDBOX)

    with pytest.raises(Unreachable) as failed:
        await transport.call(asked(), SendProgress())
    await transport.start()
    await transport.close()
    await transport.close()

    assert failed.value.reason == "closed"


@pytest.mark.parametrize("coding", ["br", "identity, gzip"])
async def test_a_compressed_answer_is_not_decompressed(road: Road, coding: str):
    packed = answer(b"\x1f\x8b", headers=(f"Content-Encoding: {coding}".encode(),))
    async with standing(ScriptedBank(saying(packed))) as bank, road(bank.url) as to:
        with pytest.raises(BadReply) as failed:
            await to.call(asked(), SendProgress())

    assert failed.value.reason == "content_coding"


async def test_a_name_with_an_internal_address_is_refused_in_production(road: Road):
    async with standing(ScriptedBank(hang_up)) as bank:
        url = bank.url.replace("127.0.0.1", "localhost")
        async with road(url, Environment.PRODUCTION) as to:
            with pytest.raises(Unreachable) as failed:
                await to.call(asked(), SendProgress())

    assert failed.value.reason == "dns_failed"
    assert bank.connections == 0


async def test_nothing_is_sent_to_a_bank_without_tls(road: Road):
    async with (
        standing(ScriptedBank(saying(answer()), reads=False)) as bank,
        road(bank.url.replace("http", "https")) as to,
    ):
        with pytest.raises(Unreachable) as failed:
            await to.call(asked("POST", b"{}"), SendProgress())

    assert failed.value.reason == "tls_failed"
