"""Connections counted and bounded."""

import asyncio
from dataclasses import replace
from ipaddress import ip_network

import pytest

from gateway.net.server.front import Connections
from gateway.net.server.peer import ServerLimits
from tests.unit.gateway.net.server.callers import Caller
from tests.world.leaping import leaping
from tests.world.raw_http import ask, until_closed
from tests.world.waiting import settle, until
from tests.world.wired import PATIENT, listening

LIMITS = ServerLimits(connections=3, connections_per_address=2)


async def test_connections_of_an_address_are_limited():
    server = serving(LIMITS)

    admitted = [server.admit(caller("10.0.0.1")) for _ in range(3)]

    assert admitted == [True, True, False]
    assert (server.open_connections, server.turned_away) == (2, {"address": 1})


async def test_each_address_has_its_own_limit():
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
async def test_an_ipv6_network_counts_as_one_address(addresses, admitted):
    """Otherwise an IPv6 network could hold all connections."""
    server = serving(LIMITS)

    assert [server.admit(caller(each)) for each in addresses] == admitted


async def test_connections_of_a_proxy_do_not_count_for_its_network():
    """Each is counted where it was opened, also after the proxies were changed."""
    server = serving(replace(LIMITS, connections=9, trusted_peers=(ip_network("fd00::1"),)))
    proxies = [caller("fd00::1") for _ in range(3)]
    assert [server.admit(each) for each in proxies] == [True, True, True]

    admitted = [server.admit(caller(f"fd00::{each}")) for each in (2, 3, 4)]
    server.limits = replace(server.limits, trusted_peers=())
    for each in proxies:
        server.release(each)

    assert admitted == [True, True, False]
    assert dict(server._by_place) == {"fd00::/64": 2}


async def test_connections_of_all_addresses_are_limited():
    server = serving(LIMITS)

    admitted = [server.admit(caller(f"10.0.0.{each}")) for each in range(4)]

    assert admitted == [True, True, True, False]


async def test_an_address_without_connections_is_not_remembered():
    """Callers may use any number of addresses."""
    server = serving(LIMITS)
    connection = caller("10.0.0.1")
    server.admit(connection)

    server.release(connection)

    assert len(server._by_place) == 0


async def test_a_closed_connection_frees_its_slot():
    server = serving(LIMITS)
    connection = caller("10.0.0.1")
    server.admit(connection)
    server.admit(caller("10.0.0.1"))

    server.release(connection)

    assert server.admit(caller("10.0.0.1"))


@pytest.mark.parametrize(
    ("network", "address"), [("10.0.0.0/8", "10.9.9.9"), ("fd00::/8", "fd00::1")]
)
async def test_a_trusted_proxy_is_limited_by_the_total_alone(network, address):
    """All callers come from its address."""
    server = serving(replace(LIMITS, trusted_peers=(ip_network(network),)))

    admitted = [server.admit(caller(address)) for _ in range(4)]

    assert admitted == [True, True, True, False]


async def test_an_invalid_address_is_not_trusted():
    server = serving(replace(LIMITS, trusted_peers=(ip_network("10.0.0.0/8"),)))

    admitted = [server.admit(caller("")) for _ in range(3)]

    assert admitted == [True, True, False]


async def test_a_connection_above_the_limit_is_closed_without_an_answer(seen):
    """The others are still served."""
    limits = replace(PATIENT, connections_per_address=1)
    async with listening(seen.answer, seen, limits) as listener:
        _, held = await asyncio.open_connection("127.0.0.1", listener.port)
        await until(lambda: listener.connections.open_connections)
        refused = await until_closed(listener.port, b"")
        held.close()
        await until(lambda: not listener.connections.open_connections)
        answer = await ask(listener.port)

        assert (refused.raw, refused.closed) == (b"", True)
        assert (answer.status, listener.connections.turned_away) == (200, {"address": 1})


async def test_waiting_for_idle_ends_with_the_last_request():
    server = serving(LIMITS)
    server.begin_request()
    server.begin_request()
    server.end_request()
    resting = asyncio.create_task(server.wait_idle(600.0))
    await settle()
    before = resting.done()
    server.end_request()

    assert (before, await resting, server.in_flight) == (False, True, 0)


@leaping
async def test_waiting_for_idle_times_out():
    server = serving(LIMITS)
    server.begin_request()

    assert not await server.wait_idle(0.02)


async def test_a_server_without_requests_is_idle():
    assert await serving(LIMITS).wait_idle(0)


def serving(limits: ServerLimits) -> Connections:
    """Make the connections of no socket."""
    return Connections(limits)


def caller(address: str) -> Caller:
    """Make a connection from there, without a socket."""
    return Caller(address)
