"""From a name to a connection, in time, and never into our own network by surprise."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack, contextmanager
from pathlib import Path

import pytest
from cryptography import x509
from yarl import URL

from gateway.banks.client import connector as module
from gateway.banks.client.connection import Connection
from gateway.banks.client.connector import Connector
from gateway.banks.client.tls import ResumingContext, TlsFiles, TlsSetup, load_context
from gateway.banks.port.providers import Unreachable
from gateway.core.account import Environment
from gateway.net.common.descriptors import RESERVED
from gateway.net.common.names import HostNames
from gateway.net.common.runtime import Runtime
from tests.servers.process import free_port
from tests.world.banks.authority import Authority
from tests.world.banks.scripted import ScriptedBank, answer, saying
from tests.world.banks.scripted import standing as opened


class Names:
    def __init__(self, *hosts: str, problem: Exception | None = None) -> None:
        self.hosts: Sequence[str] = hosts
        self.problem = problem
        self.asked: list[str] = []

    def __call__(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        if self.problem:
            raise self.problem
        return self.hosts


def line() -> Connection:
    return Connection(asyncio.get_running_loop(), 4096, lambda _: None)


def connector(
    port: int,
    names: Names | None = None,
    connect_s: float = 60.0,
    environment: Environment = Environment.SANDBOX,
) -> Connector:
    to = URL(f"http://bank.example:{port}")
    known = HostNames(look_up=names or Names("127.0.0.1"))
    return Connector(to, environment, connect_s, Runtime(names=known))


async def connected(made: Connector) -> None:
    opened = await made.connect(line, None)
    assert opened.usable
    opened.abort()
    await asyncio.sleep(0)


def standing(bank: ScriptedBank, **options: object) -> AbstractAsyncContextManager[ScriptedBank]:
    """Open a bank at 127.0.0.1 on a port that is free at 127.0.0.2 too: no caller is given it."""
    return opened(bank, free_port(), **options)


@contextmanager
def silent(port: int) -> Iterator[str]:
    """An address whose queue is full: a connection is neither taken nor refused."""
    with ExitStack() as sockets:
        listening = sockets.enter_context(socket.create_server(("127.0.0.2", port), backlog=0))
        for _ in range(4):
            waiting = sockets.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listening.getsockname())
        yield "127.0.0.2"


async def test_the_next_address_is_tried_when_one_refuses_the_connection():
    async with standing(ScriptedBank(saying(answer()))) as bank:
        await connected(connector(bank.port, Names("127.0.0.2", "127.0.0.1")))


async def test_the_next_address_is_tried_when_one_is_silent():
    """After a quarter of a second (test_race), not after its share of the whole time."""
    async with standing(ScriptedBank(saying(answer()))) as bank:
        with silent(bank.port) as first:
            await connected(connector(bank.port, Names(first, "127.0.0.1"), connect_s=600))


async def test_the_next_address_is_tried_when_one_accepts_and_stays_silent(tmp_path: Path):
    """TLS is part of an attempt: a hanging host still accepts connections."""
    authority = Authority(tmp_path)
    names = [x509.DNSName("bank.example")]
    trust = trusting(authority)
    async with standing(ScriptedBank(saying(answer())), ssl=authority.server(names=names)) as bank:
        with socket.create_server(("127.0.0.2", bank.port)):
            made = connector(bank.port, Names("127.0.0.2", "127.0.0.1"), connect_s=600)
            opened = await made.connect(line, trust)
            assert opened.usable
            opened.abort()


async def test_a_losing_connection_attempt_is_closed():
    attempts: list[Connection] = []

    def make() -> Connection:
        attempts.append(line())
        return attempts[-1]

    async with standing(ScriptedBank(saying(answer()))) as bank:
        with silent(bank.port) as first:
            won = await connector(bank.port, Names(first, "127.0.0.1")).connect(make, None)

        assert [each.usable for each in attempts] == [False, True]
        assert won is attempts[1]
        won.abort()


async def test_a_name_without_a_working_address_is_resolved_again():
    names = Names("127.0.0.2", "127.0.0.3")
    async with standing(ScriptedBank(saying(answer()))) as bank:
        made = connector(bank.port, names)
        for _ in range(2):
            with pytest.raises(Unreachable) as failed:
                await made.connect(line, None)

    assert failed.value.reason == "connect_failed"
    assert len(names.asked) == 2


@pytest.mark.parametrize(
    "names",
    [
        Names(),
        Names(problem=socket.gaierror(-2, "no such name")),
        Names(problem=UnicodeError("label too long")),
        Names(problem=TimeoutError()),
    ],
)
async def test_an_unresolvable_host_is_unreachable(names: Names):
    with pytest.raises(Unreachable) as failed:
        await connector(1, names).connect(line, None)

    assert failed.value.reason == "dns_failed"


async def test_a_slow_name_look_up_times_out():
    released = threading.Event()
    known = HostNames(look_up=lambda _: released.wait() and ())
    to = URL("http://bank.example:1")
    try:
        with pytest.raises(Unreachable) as failed:
            await Connector(to, Environment.SANDBOX, 0.02, Runtime(names=known)).connect(line, None)
    finally:
        released.set()

    assert failed.value.reason == "connect_timeout"


async def test_a_name_that_resolves_to_loopback_is_refused_in_production():
    """The checked address is the one used: there is no second look-up."""
    names = Names("8.8.8.8", "127.0.0.1")
    async with standing(ScriptedBank(saying(answer()))) as bank:
        made = connector(bank.port, names, environment=Environment.PRODUCTION)
        with pytest.raises(Unreachable) as failed:
            await made.connect(line, None)

    assert failed.value.reason == "dns_failed"
    assert bank.connections == 0


@pytest.mark.parametrize("host", ["127.0.0.1", "10.0.0.1", "[::1]"])
async def test_an_ip_address_is_checked_like_a_name_in_production(host: str):
    made = Connector(URL(f"https://{host}:1"), Environment.PRODUCTION, 60.0, Runtime())

    with pytest.raises(Unreachable) as failed:
        await made.connect(line, None)

    assert failed.value.reason == "dns_failed"


def trusting(authority: Authority) -> ResumingContext:
    setup = TlsSetup(files=TlsFiles(ca_file=str(authority.file)))
    return load_context(setup, time.monotonic)


async def test_a_certificate_for_another_name_is_refused(tmp_path: Path):
    """The address is right, but the name is not the bank's."""
    authority = Authority(tmp_path)
    trust = trusting(authority)
    async with standing(ScriptedBank(saying(answer())), ssl=authority.server()) as bank:
        with pytest.raises(Unreachable) as failed:
            await connector(bank.port).connect(line, trust)

    assert failed.value.reason == "tls_failed"


async def test_descriptors_reserved_for_operations_are_not_used_for_banks(
    monkeypatch: pytest.MonkeyPatch,
):
    """With many open files a call ends unsent, while probes and metrics still answer."""
    first = os.dup(0)
    os.close(first)
    async with standing(ScriptedBank(saying(answer()))) as bank:
        monkeypatch.setattr(module, "descriptor_limit", lambda: first + RESERVED + 40)
        await connected(connector(bank.port))
        monkeypatch.setattr(module, "descriptor_limit", lambda: first + RESERVED)

        with pytest.raises(Unreachable) as refused:
            await connected(connector(bank.port))

    assert refused.value.reason == "connect_failed"
