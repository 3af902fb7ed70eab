"""The transport on uvloop, at full size on asyncio's loop too, and other servers as banks."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field

import pytest
import uvloop

from tests.servers import caddy, haproxy, nginx
from tests.servers.peer import Peer, Setting
from tests.world.banks.authority import Authority, authority
from tests.world.extent import WHOLE

__all__ = ["authority"]

Run = Callable[[Coroutine[object, object, None]], None]
LOOPS = {"uvloop": uvloop.new_event_loop}
if WHOLE:
    LOOPS["asyncio"] = asyncio.new_event_loop
PEERS = {"nginx": nginx.running, "caddy": caddy.running, "haproxy": haproxy.running}


@pytest.fixture(params=list(LOOPS))
def run(request: pytest.FixtureRequest) -> Iterator[Run]:
    with asyncio.Runner(loop_factory=LOOPS[request.param]) as runner:
        yield runner.run


@dataclass
class Street:
    """Peers that go on standing once they were asked for, all in front of one bank's port."""

    setting: Setting
    family: Authority
    bank: socket.socket
    _stack: ExitStack
    _standing: dict[str, Peer] = field(default_factory=dict)

    def peer(self, name: str) -> Peer:
        """Find one; start it the first time."""
        if name not in self._standing:
            self._standing[name] = self._stack.enter_context(PEERS[name](self.setting))
        return self._standing[name]


@pytest.fixture(scope="session")
def street(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Street]:
    """A bank's port that is held for the whole run, and the peers in front of it."""
    family = Authority(tmp_path_factory.mktemp("authority"))
    with socket.create_server(("127.0.0.1", 0)) as bank, ExitStack() as stack:
        setting = Setting(
            authority=family.file, server=family.sign("bank"), upstream=bank.getsockname()[1]
        )
        yield Street(setting, family, bank, stack)


@pytest.fixture(params=list(PEERS))
def peer_name(request: pytest.FixtureRequest) -> str:
    """Name of a server that was not written for a test."""
    return str(request.param)


@pytest.fixture
def peer(street: Street, peer_name: str) -> Peer:
    """Such a server, running."""
    return street.peer(peer_name)
