"""A listening socket, its limits, and the application behind it."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import dataclass, replace
from typing import Final

from aiohttp import web

from gateway.net.server.front import Connections, Front
from gateway.net.server.lane import Lane
from gateway.net.server.peer import ServerLimits
from gateway.net.server.refusals import Refusals
from gateway.net.server.writing import on_the_wire

# A cancelled handler needs no longer to run its ``finally`` blocks.
_CANCELLED_GRACE_S: Final = 1.0
_UNSENT_BYTES: Final = 64 * 1024
"""
Held by the kernel of an answer that its caller does not take.

By itself it takes some megabytes of each, so that a few hundred such callers use up what the system
has for all of its connections. Bytes on their way to a caller do not count.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """
    The address to listen on.

    Attributes:
        port: 0 lets the system choose; ``Listener.port`` is the one it chose.
        reuse_port: Several processes share the port; the kernel spreads callers.
        backlog: Connections the kernel holds before they are accepted.
    """

    host: str = "127.0.0.1"
    port: int = 0
    reuse_port: bool = False
    backlog: int = 128


LANE: Final = web.AppKey("lane", Lane)
"""Where an application names the lane that serves its plain requests, if it has one."""


class Listener:
    """
    Serves an application over hardened HTTP/1.1; it puts a middleware of its own around it.

    Invalid requests, and requests that arrive too late, are answered with our error body and a
    trace id. Stop in two steps: ``stop_accepting``, then ``close``.

    Attributes:
        port: The port listened on; until the start, the configured one.
        connections: Who is connected, for metrics.
    """

    def __init__(
        self,
        application: web.Application,
        *,
        at: Address,
        limits: ServerLimits | None = None,
        refusals: Refusals | None = None,
    ) -> None:
        application.middlewares.insert(0, on_the_wire)
        self._lane = application.get(LANE)
        self._runner = web.AppRunner(application, shutdown_timeout=_CANCELLED_GRACE_S)
        self._at = at
        self.connections = Connections(limits or ServerLimits())
        self._refusals = refusals or Refusals()
        self._sockets: asyncio.Server | None = None
        self.port = at.port

    @property
    def is_open(self) -> bool:
        """Return whether it was started, and not closed since."""
        return self._sockets is not None

    def change(self, limits: ServerLimits) -> None:
        """Apply new limits from now on; the source of the client's address stays."""
        before = self.connections.limits
        self.connections.limits = replace(limits, client_address=before.client_address)

    async def start(self) -> None:
        """
        Listen.

        Raises:
            OSError: the address is taken or not ours.
        """
        await self._runner.setup()
        self._sockets = await asyncio.get_running_loop().create_server(
            lambda: Front(self.connections, self._runner, self._refusals, self._lane),
            self._at.host,
            self._at.port,
            backlog=self._at.backlog,
            reuse_port=self._at.reuse_port or None,
        )
        if hasattr(socket, "TCP_NOTSENT_LOWAT"):  # not on Windows; connections inherit it
            for sock in self._sockets.sockets:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, _UNSENT_BYTES)
        self.port = self._sockets.sockets[0].getsockname()[1]

    async def stop_accepting(self) -> None:
        """
        Close the listening sockets; repeatable.

        Requests in flight continue. A new one on an open connection is refused with
        503 ``SVC.GTW.006``, and every answer ends its connection.
        """
        self.connections.draining = True
        if self._sockets is not None:
            self._sockets.close()

    async def close(self, timeout_s: float = 30.0) -> bool:
        """
        Wait for requests in flight, then close everything; repeatable.

        Returns:
            False if ``timeout_s`` seconds were not enough and requests were cancelled.
        """
        if self._sockets is None:
            return True
        await self.stop_accepting()
        finished = await self.connections.wait_idle(timeout_s)
        await self.connections.cancel(_CANCELLED_GRACE_S)
        await self._runner.cleanup()
        self.connections.abort()
        await asyncio.sleep(0)  # the loop closes sockets in its next turn, if it has one
        self._sockets = None
        return finished
