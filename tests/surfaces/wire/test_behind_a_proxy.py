"""Clients behind our own proxy do not affect each other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import msgspec
import pytest

from gateway.config.settings import FailedCredentials, Limits, RateLimits
from tests.servers.front import Node, nginx, patient_haproxy
from tests.servers.haproxy import TELLING, in_front
from tests.world.banks.authority import Authority
from tests.world.gateway.world import World, basic, opened, other_secret, sandbox, send

FRONTS = {"haproxy": patient_haproxy, "nginx": nginx}

EACH = pytest.mark.parametrize("how", [*FRONTS, *TELLING])
"""The proxies of deploy, which set X-Forwarded-For, and the PROXY protocol."""

STRANGER, PARTNER = "127.0.0.2", "127.0.0.3"
"""Two callers of the proxy; Linux has all of 127.0.0.0/8 on the loopback."""

WRONG = 700
"""More than the hard limit of an address, which is 600 a minute."""

CONNECTIONS = 100
"""Between the two limits each refusal reads the store; so many wait for theirs at once."""

SIGN_INS = 12
"""More than an address has at once."""


@asynccontextmanager
async def behind(folder: Path, how: str) -> AsyncIterator[tuple[World, str]]:
    """Open a gateway with the limits of service behind a proxy; return the proxy's address too."""
    limits = Limits(loop_lag_s=3_600, failed_credentials=FailedCredentials())
    settings = sandbox(folder, limits=limits, ratelimits=sandbox_rates(folder))
    # the demo is made at the gateway itself; what is tried comes by the proxy
    source = "forwarded" if how in FRONTS else how.partition(" ")[0]
    server = msgspec.structs.replace(
        settings.server, trusted_peers="127.0.0.1", client_address=source
    )
    async with opened(msgspec.structs.replace(settings, server=server)) as world:
        if how in TELLING:
            with in_front(world.port, how) as url:
                yield world, url
            return
        node = Node(port=world.port, ops=world.gateway.operations.port)
        with FRONTS[how](node, node, Authority(folder).sign("proxy")) as front:
            yield world, front.url


def sandbox_rates(folder: Path) -> RateLimits:
    """Leave every quota free but the one of signing in, which is as in service."""
    rates = sandbox(folder).ratelimits
    return msgspec.structs.replace(rates, sign_in=RateLimits().sign_in)


@asynccontextmanager
async def caller(address: str) -> AsyncIterator[aiohttp.ClientSession]:
    connector = aiohttp.TCPConnector(local_addr=(address, 0), limit=CONNECTIONS, ssl=False)
    jar = aiohttp.DummyCookieJar()
    async with aiohttp.ClientSession(connector=connector, cookie_jar=jar) as session:
        yield session


@EACH
async def test_wrong_credentials_of_one_client_do_not_limit_another(tmp_path: Path, how: str):
    async with behind(tmp_path, how) as (world, base_url):
        path = world.at("/balance")
        wrong = {"Authorization": basic(other_secret(world.pair("full")))}
        right = {"Authorization": basic(world.pair("company"))}
        async with caller(STRANGER) as stranger, caller(PARTNER) as partner:
            asking = [send(stranger, base_url, "GET", path, headers=wrong) for _ in range(WRONG)]
            refused = [answer.status for answer in await asyncio.gather(*asking)]
            own = await send(stranger, base_url, "GET", path, headers=right)
            served = [
                (await send(partner, base_url, "GET", path, headers=right)).status
                for _ in range(10)
            ]

    assert refused.count(401) <= 60
    assert set(refused) == {401, 429}
    assert own.verdict == (429, "SVC.GTW.005")
    assert served == [200] * 10


@EACH
async def test_sign_ins_of_one_client_do_not_limit_another(tmp_path: Path, how: str):
    """A header that the client itself wrote is not trusted."""
    async with behind(tmp_path, how) as (_, base_url):
        body = {"email": "nobody@example.com", "password": "wrong wrong wrong"}
        lie = {"X-Forwarded-For": PARTNER}
        async with caller(STRANGER) as stranger, caller(PARTNER) as partner:
            refused = [await signs_in(stranger, base_url, body, lie) for _ in range(SIGN_INS)]
            first = await signs_in(partner, base_url, body)

    assert refused[-1] == 429
    assert first == 401


async def signs_in(session, base_url: str, body, headers=None) -> int:
    """Try a password; return the status."""
    url = f"{base_url}/iam/v1/auth/login"
    async with session.post(url, json=body, headers=headers) as said:
        return said.status


async def test_sign_ins_name_the_client(tmp_path: Path):
    """Users see where they signed in from, not the address of our proxy."""
    async with behind(tmp_path, "haproxy") as (world, base_url):
        user = world.demo["users"]["viewer"]
        body = {"email": user["email"], "password": user["password"]}
        async with caller(PARTNER) as person:
            async with person.post(f"{base_url}/iam/v1/auth/login", json=body) as said:
                token = (await said.json())["access_token"]
            bearer = {"Authorization": f"Bearer {token}"}
            url = f"{base_url}/iam/v1/auth/sessions"
            async with person.get(url, headers=bearer) as said:
                sessions = (await said.json())["data"]

    assert [each["address"] for each in sessions] == [PARTNER]
