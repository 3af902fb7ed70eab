"""Connections counted and bounded."""

import asyncio
from dataclasses import replace
from ipaddress import ip_network

import pytest

from gateway.net.server.connection import Connection
from gateway.net.server.http_server import HttpServer
from gateway.net.server.peer import ServerLimits
from gateway.net.server.reply import Refusals, Reply
from tests.world.leaping import leaping
from tests.world.raw_http import ask, until_closed
from tests.world.waiting import until
from tests.world.wired import PATIENT, listening

LIMITS = ServerLimits(connections=3, connections_per_address=2)


async def test_an_address_has_so_many_connections_and_no_more():
    server = serving(LIMITS)

    admitted = [server.admit(caller("10.0.0.1")) for _ in range(3)]

    assert admitted == [True, True, False]
    assert (server.open_connections, server.turned_away) == (2, {"address": 1})


async def test_another_address_still_has_its_own():
    server = serving(LIMITS)

    admitted = [server.admit(caller(each)) for each in ("10.0.0.1", "10.0.0.1", "10.0.0.2")]

    assert admitted == [True, True, True]


@pytest.mark.parametrize(
    ("addresses", "admitted"),
    [
        (("2001:db8:1:2::1", "2001:db8:1:2::2", "2001:db8:1:2:ffff::3"), [True, True, False]),
        (("2001:db8:1:2::1", "2001:db8:1:2::2", "2001:db8:1:3::1"), [True, True, True]),
        (("10.0.0.1", "::ffff:10.0.0.1", "10.0.0.1"), [True, True, False]),
    ],
    ids=["one network", "two networks", "IPv4 as IPv6"],
)
async def test_a_network_of_ipv6_counts_as_one_address(addresses, admitted):
    """Else who has a /64 would have as many connections as there are."""
    server = serving(LIMITS)

    assert [server.admit(caller(each)) for each in addresses] == admitted


async def test_a_proxy_uses_up_no_connections_of_its_neighbours():
    """Each is counted where it was, also after the proxies were changed."""
    server = serving(replace(LIMITS, connections=9, trusted_peers=(ip_network("fd00::1"),)))
    proxies = [caller("fd00::1") for _ in range(3)]
    assert [server.admit(each) for each in proxies] == [True, True, True]

    admitted = [server.admit(caller(f"fd00::{each}")) for each in (2, 3, 4)]
    server.limits = replace(server.limits, trusted_peers=())
    for each in proxies:
        server.release(each)

    assert admitted == [True, True, False]
    assert dict(server._by_place) == {"fd00::/64": 2}


async def test_all_together_have_so_many_and_no_more():
    server = serving(LIMITS)

    admitted = [server.admit(caller(f"10.0.0.{each}")) for each in range(4)]

    assert admitted == [True, True, True, False]


async def test_nothing_is_kept_of_an_address_that_left():
    """Callers may come from any number of them."""
    server = serving(LIMITS)
    connection = caller("10.0.0.1")
    server.admit(connection)

    server.release(connection)

    assert len(server._by_place) == 0


async def test_a_closed_connection_leaves_room():
    server = serving(LIMITS)
    connection = caller("10.0.0.1")
    server.admit(connection)
    server.admit(caller("10.0.0.1"))

    server.release(connection)

    assert server.admit(caller("10.0.0.1"))


@pytest.mark.parametrize(
    ("network", "address"), [("10.0.0.0/8", "10.9.9.9"), ("fd00::/8", "fd00::1")]
)
async def test_our_own_proxy_has_as_many_as_there_are(network, address):
    """All callers come from its address."""
    server = serving(replace(LIMITS, trusted_peers=(ip_network(network),)))

    admitted = [server.admit(caller(address)) for _ in range(4)]

    assert admitted == [True, True, True, False]


async def test_an_address_that_is_none_is_not_trusted():
    server = serving(replace(LIMITS, trusted_peers=(ip_network("10.0.0.0/8"),)))

    admitted = [server.admit(caller("")) for _ in range(3)]

    assert admitted == [True, True, False]


async def test_a_connection_too_many_is_hung_up_on(seen):
    """Without an answer; the others are served on."""
    limits = replace(PATIENT, connections_per_address=1)
    async with listening(seen.answer, seen, limits) as listener:
        _, held = await asyncio.open_connection("127.0.0.1", listener.port)
        await until(lambda: listener.server.open_connections)
        refused = await until_closed(listener.port, b"")
        held.close()
        await until(lambda: not listener.server.open_connections)
        answer = await ask(listener.port)

        assert (refused.raw, refused.closed) == (b"", True)
        assert (answer.status, listener.server.turned_away) == (200, {"address": 1})


@leaping
async def test_rest_comes_when_the_last_request_leaves():
    server = serving(LIMITS)
    tasks = [working(server, 0.02), working(server, 0.04)]

    rested = await server.wait_idle(1.0)

    assert (rested, server.in_flight, [task.done() for task in tasks]) == (True, 0, [True, True])


@leaping
async def test_rest_does_not_come_for_ever():
    server = serving(LIMITS)
    task = working(server, 1.0)

    rested = await server.wait_idle(0.02)

    assert (rested, task.done()) == (False, False)
    task.cancel()


async def test_rest_is_there_when_nothing_was_asked():
    assert await serving(LIMITS).wait_idle(0)


@leaping
async def test_what_is_worked_on_is_cancelled_at_the_end():
    server = serving(LIMITS)
    task = working(server, 5.0)

    await server.close(1.0)

    assert task.cancelled()


def serving(limits: ServerLimits) -> HttpServer:
    """Make a server without a socket."""
    return HttpServer(lambda _request: Reply(), limits, Refusals())


def caller(address: str) -> Connection:
    """Make a connection from there, without a socket."""
    connection = serving(LIMITS)()
    connection.address = address
    return connection


def working(server: HttpServer, seconds: float) -> asyncio.Task[Reply]:
    """Have a request worked on for a time."""

    async def work() -> Reply:
        await asyncio.sleep(seconds)
        return Reply()

    task = asyncio.get_running_loop().create_task(work())
    server.add_task(task)
    task.add_done_callback(server.remove_task)
    return task
