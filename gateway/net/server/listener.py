"""A listening socket, its limits, and the handler behind it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

from gateway.net.common.parser import require_proven_parser
from gateway.net.server.http_server import Handler, HttpServer
from gateway.net.server.peer import ServerLimits
from gateway.net.server.reply import Refusals

# A cancelled handler needs no longer to run its ``finally`` blocks.
_CANCELLED_GRACE_S: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """
    Where to listen.

    Attributes:
        port: 0 lets the system choose; ``Listener.port`` is the one it chose.
        reuse_port: Several processes share the port; the kernel spreads callers.
        backlog: Connections the kernel holds before they are accepted.
    """

    host: str = "127.0.0.1"
    port: int = 0
    reuse_port: bool = False
    backlog: int = 128


class Listener:
    """
    Serves a handler over hardened HTTP/1.1.

    Every answer has X-Trace-ID and no Server header. An answer that the handler did
    not make has our error body. Stop in two steps: ``stop_accepting``, then ``close``.
    """

    def __init__(
        self,
        handler: Handler,
        *,
        at: Address,
        limits: ServerLimits | None = None,
        refusals: Refusals | None = None,
    ) -> None:
        self._handler = handler
        self._at = at
        self._limits = limits or ServerLimits()
        self._refusals = refusals or Refusals()
        self._server: HttpServer | None = None
        self._sockets: asyncio.Server | None = None
        self._port = at.port

    @property
    def port(self) -> int:
        """The port listened on; until the start, the configured one."""
        return self._port

    @property
    def is_open(self) -> bool:
        """Was it started, and not closed since?"""
        return self._server is not None

    @property
    def server(self) -> HttpServer:
        """
        The connections, for metrics and load shedding.

        Raises:
            RuntimeError: not started, or closed.
        """
        if self._server is None:
            problem = "the listener is not open"
            raise RuntimeError(problem)
        return self._server

    def change(self, limits: ServerLimits) -> None:
        """Keep to other limits from now on; where the client's address comes from stays."""
        self._limits = limits
        if self._server is not None:
            self._server.limits = limits

    async def start(self) -> None:
        """
        Listen.

        Raises:
            UnfitParser: aiohttp's parser is not the proven one.
            OSError: the address is taken or not ours.
        """
        require_proven_parser()
        server = HttpServer(self._handler, self._limits, self._refusals)
        self._sockets = await asyncio.get_running_loop().create_server(
            server,
            self._at.host,
            self._at.port,
            backlog=self._at.backlog,
            reuse_port=self._at.reuse_port or None,
        )
        self._server = server
        self._port = self._sockets.sockets[0].getsockname()[1]

    async def stop_accepting(self) -> None:
        """
        Close the listening sockets; repeatable.

        Requests in flight go on. A new one on an open connection is refused with
        503 ``SVC.GTW.006``, and every answer ends its connection.
        """
        self.server.draining = True
        if self._sockets is not None:
            self._sockets.close()

    async def close(self, timeout_s: float = 30.0) -> bool:
        """
        Wait for requests in flight, then close everything; repeatable.

        Returns:
            False if ``timeout_s`` seconds were not enough and requests were cancelled.
        """
        if self._server is None:
            return True
        await self.stop_accepting()
        finished = await self._server.wait_idle(timeout_s)
        await self._server.close(_CANCELLED_GRACE_S)
        self._server = None
        return finished
