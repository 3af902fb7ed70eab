"""The relay of the suite: what it hands on, spoils and counts."""

from __future__ import annotations

import asyncio
import dataclasses
import gc
import socket
import ssl
import warnings
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from cryptography import x509

from provider_adapters.testing.verify.relay import Line, Relay, altering, answering, reading
from provider_adapters.testing.verify.stage import BankAnswer, RelayTls
from tests.world.banks.authority import Authority
from tests.world.waiting import until


async def echo(request: web.Request) -> web.StreamResponse:
    if request.path == "/chunks":
        answer = web.StreamResponse()
        answer.enable_chunked_encoding()
        await answer.prepare(request)
        for part in (b"one ", b"two ", b"three"):
            await answer.write(part)
        return answer
    return web.Response(body=await request.read() or b"nothing", headers={"X-Bank": "yes"})


@pytest.fixture
async def bank():
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", echo)
    async with TestServer(application) as server:
        yield str(server.make_url("")).rstrip("/")


@pytest.fixture
async def relay(bank: str):
    async with Relay(bank).open() as opened:
        yield opened


async def ask(relay: Relay, path: str = "/", body: bytes = b"") -> tuple[int, bytes]:
    method = "POST" if body else "GET"
    async with (
        aiohttp.ClientSession() as session,
        session.request(method, relay.address + path, data=body) as answer,
    ):
        return answer.status, await answer.read()


async def test_what_is_not_spoilt_is_handed_on(relay: Relay):
    assert await ask(relay, "/a?b=c", b"money") == (200, b"money")
    assert await ask(relay, "/chunks") == (200, b"one two three")

    assert [(seen.method, seen.path, seen.body) for seen in relay.seen] == [
        ("POST", "/a?b=c", b"money"),
        ("GET", "/chunks", b""),
    ]
    assert relay.connections == 2


async def test_requests_are_counted_from_one_and_anew(relay: Relay):
    refused = answering(BankAnswer(status=429, body=b"{}"))
    relay.begin(refused, at=2, once=True)

    assert [(await ask(relay))[0] for _ in range(3)] == [200, 429, 200]
    relay.begin(refused, at=2)
    assert [(await ask(relay))[0] for _ in range(3)] == [200, 429, 429]
    assert [seen.number for seen in relay.seen] == [1, 2, 3]


async def test_an_answer_is_changed_with_its_length(relay: Relay):
    relay.begin(altering(lambda body: body * 3))

    assert await ask(relay, body=b"ab") == (200, b"ababab")
    assert await ask(relay, "/chunks") == (200, b"one two three" * 3)


async def test_a_request_is_changed_before_the_bank_sees_it(relay: Relay):
    async def other(line: Line) -> None:
        await line.say(await line.ask(dataclasses.replace(await line.read(), body=b"cdcd")))

    relay.begin(other)

    assert await ask(relay, body=b"abab") == (200, b"cdcd")
    assert [seen.body for seen in relay.seen] == [b"abab"]


def nobody(_certificate: bytes) -> ssl.SSLContext:
    return ssl.create_default_context()


async def test_the_certificate_of_the_adapter_is_seen(bank: str, tmp_path: Path):
    authority = Authority(tmp_path)
    pair = authority.pair("we")
    tls = RelayTls(server=authority.server(clients=authority), client=nobody)
    ours = ssl.create_default_context(cafile=str(authority.file))
    (tmp_path / "we.pem").write_text(pair.certificate + pair.key)
    ours.load_cert_chain(tmp_path / "we.pem")

    async with Relay(bank, tls).open() as relay, aiohttp.ClientSession() as session:
        async with session.get(relay.address, ssl=ours) as answer:
            assert answer.status == 200
        [seen] = relay.seen

    assert x509.load_der_x509_certificate(seen.certificate) == x509.load_pem_x509_certificate(
        pair.certificate.encode()
    )


async def test_what_the_bank_has_at_another_host_is_asked_there(bank: str):
    async def token(_request: web.Request) -> web.Response:
        return web.Response(body=b"token")

    application = web.Application()
    application.router.add_post("/token", token)
    async with TestServer(application) as other:
        elsewhere = {"/token": str(other.make_url("")).rstrip("/")}
        async with Relay(bank, elsewhere=elsewhere).open() as relay:
            assert await ask(relay, "/token", b"we") == (200, b"token")
            assert await ask(relay, "/money", b"we") == (200, b"we")


async def test_a_request_may_reach_the_bank_and_its_answer_nobody():
    asked: list[bytes] = []

    async def kept(request: web.Request) -> web.Response:
        asked.append(await request.read())
        return web.Response()

    async def close(_: Line) -> None:
        pass

    application = web.Application()
    application.router.add_post("/", kept)
    async with (
        TestServer(application) as bank,
        Relay(str(bank.make_url("")).rstrip("/")).open() as relay,
    ):
        relay.begin(reading(close, executed=True))
        with pytest.raises(aiohttp.ServerDisconnectedError):
            await ask(relay, body=b"money")

    assert asked == [b"money"]


async def test_a_connection_can_be_reset_before_it_is_read(relay: Relay):
    async def reset(line: Line) -> None:
        line.reset()

    relay.begin(reset)
    with pytest.raises((aiohttp.ClientOSError, aiohttp.ServerDisconnectedError)):
        await ask(relay, body=b"money")

    assert relay.seen == []


async def test_closing_ends_what_hangs(bank: str):
    async def hang(line: Line) -> None:
        await line.reader.read()

    relay = Relay(bank)
    async with relay.open():
        relay.begin(reading(hang))
        asking = asyncio.create_task(ask(relay, body=b"money"))
        await until(lambda: relay.seen)

    with pytest.raises(aiohttp.ClientError):
        await asking


@pytest.mark.parametrize("turns", range(6))
def test_a_connection_of_the_last_moment_is_closed(turns: int, monkeypatch: pytest.MonkeyPatch):
    """Whatever the loop had time for: accepted, attached, or served already."""
    left: list[str] = []
    monkeypatch.setattr("sys.unraisablehook", lambda told: left.append(str(told.exc_value)))

    async def connected_and_gone() -> None:
        async with Relay("http://127.0.0.1:1").open() as relay:
            callers = [socket.socket() for _ in range(3)]
            for each in callers:
                each.setblocking(False)
                each.connect_ex(("127.0.0.1", relay.port))
            for _ in range(turns):
                await asyncio.sleep(0)
        for each in callers:
            each.close()

    with warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        asyncio.run(connected_and_gone())
        gc.collect()

    assert left == []
