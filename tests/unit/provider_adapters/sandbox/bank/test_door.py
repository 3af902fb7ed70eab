"""The door shuts and opens at the same port."""

from __future__ import annotations

import asyncio

import pytest
from aiohttp import ClientConnectorError, ClientSession, web

from provider_adapters.sandbox.bank.door import Door
from provider_adapters.sandbox.bank.faults import Fault, FaultKind


async def welcome(request: web.Request) -> web.Response:
    return web.Response(text="come in")


@pytest.fixture
async def door():
    app = web.Application()
    app.router.add_get("/", welcome)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    door = Door(runner, "127.0.0.1", 0)
    await door.open()
    yield door
    await door.close()
    await runner.cleanup()


def refuse(count):
    return Fault(fault=FaultKind.REFUSE, count=count)


async def knock(session, door):
    async with asyncio.timeout(2), session.get(f"http://127.0.0.1:{door.port}/") as answer:
        return await answer.text()


async def test_a_shut_door_refuses_kept_connections_too(door):
    async with ClientSession() as session:
        before, port = await knock(session, door), door.port
        await door.refuse(refuse(None))

        with pytest.raises(ClientConnectorError):
            await knock(session, door)

    assert (before, door.port, door.refusing) == ("come in", port, refuse(None))


async def test_a_shut_door_ends_kept_connections(door):
    """Idle ones get an end, not silence: that is what a stopped bank sends."""
    reader, writer = await asyncio.open_connection("127.0.0.1", door.port)
    writer.write(b"GET / HTTP/1.1\r\nHost: door\r\n\r\n")
    await reader.readuntil(b"come in")

    await door.refuse(refuse(None))

    async with asyncio.timeout(2):
        assert await reader.read() == b""
    writer.close()


async def test_an_opened_door_has_its_old_port(door):
    port = door.port
    await door.refuse(refuse(None))
    await door.refuse(refuse(30))

    await door.open()
    await door.open()

    async with ClientSession() as session:
        assert await knock(session, door) == "come in"
    assert (door.port, door.refusing) == (port, None)


async def test_a_port_in_use_is_said_at_once(door):
    runner = web.AppRunner(web.Application())
    await runner.setup()
    second = Door(runner, "127.0.0.1", door.port)

    with pytest.raises(OSError, match="in use"):
        await second.open()

    await runner.cleanup()
