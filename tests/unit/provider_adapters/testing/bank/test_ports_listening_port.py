"""The listening port closes and opens again at the same number."""

from __future__ import annotations

import asyncio

import pytest
from aiohttp import ClientConnectorError, ClientSession, web

from provider_adapters.testing.bank.messages import Fault, FaultKind
from provider_adapters.testing.bank.ports import ListeningPort


async def welcome(request: web.Request) -> web.Response:
    return web.Response(text="come in")


@pytest.fixture
async def listening():
    app = web.Application()
    app.router.add_get("/", welcome)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    listening = ListeningPort(runner, "127.0.0.1", 0)
    await listening.open()
    yield listening
    await listening.close()
    await runner.cleanup()


def refuse(count):
    return Fault(fault=FaultKind.REFUSE, count=count)


async def call(session, listening):
    async with session.get(f"http://127.0.0.1:{listening.port}/") as answer:
        return await answer.text()


async def test_a_closed_port_refuses_kept_connections_too(listening):
    async with ClientSession() as session:
        before, port = await call(session, listening), listening.port
        await listening.refuse(refuse(None))

        with pytest.raises(ClientConnectorError):
            await call(session, listening)

    assert (before, listening.port, listening.refusing) == ("come in", port, [refuse(None)])


async def test_a_closed_port_ends_kept_connections(listening):
    """Idle ones get an end, not silence: that is what a stopped bank sends."""
    reader, writer = await asyncio.open_connection("127.0.0.1", listening.port)
    writer.write(b"GET / HTTP/1.1\r\nHost: bank\r\n\r\n")
    await reader.readuntil(b"come in")

    await listening.refuse(refuse(None))

    assert await reader.read() == b""
    writer.close()


async def test_an_opened_port_has_its_old_port(listening):
    port = listening.port
    await listening.refuse(refuse(None))
    await listening.refuse(refuse(30))

    await listening.open()
    await listening.open()

    async with ClientSession() as session:
        assert await call(session, listening) == "come in"
    assert (listening.port, listening.refusing) == (port, [])


async def test_a_port_in_use_is_said_at_once(listening):
    runner = web.AppRunner(web.Application())
    await runner.setup()
    second = ListeningPort(runner, "127.0.0.1", listening.port)

    with pytest.raises(OSError, match="in use"):
        await second.open()

    await runner.cleanup()
