"""From a name to a connection, in time, and never into our own network by surprise."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Sequence
from contextlib import ExitStack

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from gateway.domain.accounts.accounts import Environment
from gateway.domain.bank.providers import Unreachable
from gateway.net.client.connection import Connection
from gateway.net.client.connector import Connector, Endpoint, read_endpoint
from gateway.net.client.tls import TlsFiles, TlsSetup, load_context
from tests.unit.provider_adapters.authority import Authority
from tests.unit.provider_adapters.scripted import ScriptedBank, answer, saying, standing


class Names(AbstractResolver):
    """Names with addresses a test says."""

    def __init__(self, *hosts: str, problem: Exception | None = None) -> None:
        self.hosts: Sequence[str] = hosts
        self.problem = problem
        self.asked = 0

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        self.asked += 1
        if self.problem:
            raise self.problem
        return [
            ResolveResult(hostname=host, host=one, port=port, family=family, proto=0, flags=0)
            for one in self.hosts
        ]

    async def close(self) -> None:
        """Have nothing to close."""


def line() -> Connection:
    return Connection(asyncio.get_running_loop(), 4096, lambda _: None)


def connector(port: int, names: Names | None = None, connect_s: float = 0.4) -> Connector:
    to = Endpoint(host="bank.example", port=port, secure=False, header="bank.example", prefix="")
    made = Connector(to, Environment.SANDBOX, connect_s)
    made._resolver = names or Names("127.0.0.1")
    return made


async def connected(made: Connector) -> None:
    opened = line()
    await made.connect(opened, None)
    assert opened.usable
    opened.abort()
    await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.0.0.1:8090", ("127.0.0.1", 8090, False, "127.0.0.1:8090", "")),
        ("https://bank.example", ("bank.example", 443, True, "bank.example", "")),
        ("https://bank.example:443/api/", ("bank.example", 443, True, "bank.example", "/api")),
        ("http://[::1]:81/a%20b", ("::1", 81, False, "[::1]:81", "/a%20b")),
        ("https://bánk.example", ("xn--bnk-ela.example", 443, True, "xn--bnk-ela.example", "")),
    ],
)
def test_a_base_address_is_taken_apart(url: str, expected: tuple[object, ...]):
    at = read_endpoint(url)

    assert (at.host, at.port, at.secure, at.header, at.prefix) == expected


async def test_addresses_are_kept_for_a_while():
    names = Names("127.0.0.1")
    async with standing(ScriptedBank(saying(answer()))) as bank:
        made = connector(bank.port, names)
        for _ in range(3):
            await connected(made)
        made._known_until = 0.0
        await connected(made)

    assert names.asked == 2


async def test_the_next_address_is_tried_when_one_refuses():
    async with standing(ScriptedBank(saying(answer()))) as bank:
        await connected(connector(bank.port, Names("127.0.0.2", "127.0.0.1")))


async def test_an_address_that_keeps_silent_has_only_its_share_of_the_time():
    """Its queue is full: a connection is neither taken nor refused."""
    async with standing(ScriptedBank(saying(answer()))) as bank:
        with ExitStack() as sockets:
            silent = sockets.enter_context(socket.socket())
            silent.bind(("127.0.0.2", bank.port))
            silent.listen(0)
            for _ in range(4):
                waiting = sockets.enter_context(socket.socket())
                waiting.setblocking(False)
                waiting.connect_ex(silent.getsockname())

            await connected(connector(bank.port, Names("127.0.0.2", "127.0.0.1"), connect_s=0.4))


async def test_addresses_of_which_none_answers_are_forgotten():
    names = Names("127.0.0.2", "127.0.0.3")
    async with standing(ScriptedBank(saying(answer()))) as bank:
        made = connector(bank.port, names)
        for _ in range(2):
            with pytest.raises(Unreachable) as failed:
                await made.connect(line(), None)

    assert failed.value.reason == "connect_failed"
    assert names.asked == 2


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (Names(), "dns_failed"),
        (Names(problem=socket.gaierror(-2, "no such name")), "dns_failed"),
        (Names(problem=OSError("resolves to a private address")), "dns_failed"),
        (Names(problem=UnicodeError("label too long")), "dns_failed"),
        (Names(problem=TimeoutError()), "connect_timeout"),
    ],
)
async def test_a_name_that_leads_nowhere(names: Names, reason: str):
    with pytest.raises(Unreachable) as failed:
        await connector(1, names).connect(line(), None)

    assert failed.value.reason == reason


async def test_a_name_that_takes_too_long():
    class Slow(Names):
        async def resolve(self, *_: object, **__: object) -> list[ResolveResult]:
            await asyncio.sleep(5)
            return []

    with pytest.raises(Unreachable) as failed:
        await connector(1, Slow(), connect_s=0.02).connect(line(), None)

    assert failed.value.reason == "connect_timeout"


@pytest.mark.parametrize("host", ["127.0.0.1", "10.0.0.1", "::1"])
async def test_outside_the_sandbox_an_address_is_checked_as_a_name_is(host: str):
    to = Endpoint(host=host, port=1, secure=True, header=host, prefix="")
    made = Connector(to, Environment.PRODUCTION, 0.4)

    with pytest.raises(Unreachable) as failed:
        await made.connect(line(), None)
    await made.close()

    assert failed.value.reason == "dns_failed"


async def test_a_certificate_for_another_name(tmp_path):
    """The address is right, the name is not the bank's."""
    authority = Authority(tmp_path)
    trust = load_context(
        TlsSetup(files=TlsFiles(ca_file=str(authority.file))), time.monotonic
    ).context
    async with standing(ScriptedBank(saying(answer())), ssl=authority.server()) as bank:
        with pytest.raises(Unreachable) as failed:
            await connector(bank.port).connect(line(), trust)

    assert failed.value.reason == "tls_failed"
