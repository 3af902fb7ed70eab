"""Starting and stopping a gateway in this process."""

from __future__ import annotations

import asyncio
import signal
import socket
from pathlib import Path

import aiohttp
import pytest

from gateway.app.assembly import Gateway, assemble
from gateway.app.lifecycle import drain, running
from gateway.config.listeners import Server
from tests.world.gateway.world import sandbox
from tests.world.waiting import settle


def made(folder: Path) -> Gateway:
    return assemble(sandbox(folder), {})


async def is_open(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True


async def test_a_running_gateway_is_ready_and_closes_every_port(tmp_path: Path):
    gateway = made(tmp_path)
    async with running(gateway):
        assert gateway.bank is not None
        ports = [gateway.public.port, gateway.operations.port, gateway.bank.port]
        inside = [await is_open(port) for port in ports]
        ready = await gateway.readiness.checks()
    outside = [await is_open(port) for port in ports]

    assert ready == {"store": True, "writable": True, "clock": True, "migrations": True}
    assert (inside, outside) == ([True] * 3, [False] * 3)


async def test_a_gateway_starts_again_on_the_same_files(tmp_path: Path):
    for _ in range(2):
        async with running(made(tmp_path)) as _:
            pass


async def test_a_failed_start_leaves_nothing_open(tmp_path: Path):
    """The public port is in use: the bank and the operations listener are closed again."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        server = Server(port=taken.getsockname()[1])
        gateway = assemble(sandbox(tmp_path, server=server), {})
        with pytest.raises(OSError, match="in use"):
            async with running(gateway):
                pytest.fail("it started")

    assert gateway.bank is not None
    assert not await is_open(gateway.bank.port)
    assert not await is_open(gateway.operations.port)
    assert gateway.readiness.started is False


async def test_sigterm_keeps_the_port_open_while_draining_and_sigint_closes_it(
    tmp_path: Path,
):
    """The load balancer notices a stop first; a person at a terminal does not wait."""
    server = Server(port=0, drain_accept_s=3600)
    gateway = assemble(sandbox(tmp_path, server=server), {})
    async with running(gateway):
        stopping = asyncio.ensure_future(drain(gateway, signal.SIGTERM))
        await settle()
        assert (gateway.readiness.draining, stopping.done()) == (True, False)
        assert await is_open(gateway.public.port)
        stopping.cancel()

        await drain(gateway, signal.SIGINT)

        assert not await is_open(gateway.public.port)


async def test_requests_in_flight_are_answered_before_the_end(tmp_path: Path):
    """The listener waits for them before anything else is closed."""
    gateway = made(tmp_path)
    async with aiohttp.ClientSession() as session:
        async with running(gateway):
            url = f"http://127.0.0.1:{gateway.public.port}/baas/v1/info"
            asked = [asyncio.ensure_future(session.get(url)) for _ in range(20)]
            while not gateway.public.connections.in_flight and not all(e.done() for e in asked):
                await asyncio.sleep(0)
        answers = await asyncio.gather(*asked, return_exceptions=True)
        served = [each for each in answers if isinstance(each, aiohttp.ClientResponse)]

    assert served
    assert {each.status for each in served} <= {200, 503}
