"""The public listener: a socket, our limits, and the application behind them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

import aiohttp
from aiohttp import http_parser, web

from gateway.net.server.http_server import Handler, WireServer
from gateway.net.server.limits import WireLimits
from gateway.net.server.refusals import Refusals
from gateway.net.server.web_handler import (
    Direct,
    WebAnswers,
    WebHandler,
    application_answers,
    build_bare,
)

AIOHTTP: Final = "3.14."
"""The one minor version whose inner parts this package was written against."""

_CANCELLED_GRACE_S: Final = 1.0


class UnfitParser(RuntimeError):
    """This process cannot serve safely; it must not start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """
    Where to listen.

    Attributes:
        port: 0 lets the system choose; the listener tells which.
        reuse_port: Several processes share the port, the kernel spreads callers.
        backlog: Connections the kernel holds before they are accepted.
    """

    host: str = "127.0.0.1"
    port: int = 0
    reuse_port: bool = False
    backlog: int = 128


class Listener:
    """
    Serves an application, or one handler, over hardened HTTP/1.1.

    Every answer carries X-Trace-ID and no Server header; one that does not come
    from the application has our error body. Stop in two steps: ``stop_accepting``,
    then ``close``.
    """

    def __init__(
        self,
        serves: web.Application | WebHandler | Direct,
        *,
        at: Address,
        limits: WireLimits | None = None,
        refusals: Refusals | None = None,
    ) -> None:
        self._serves = serves
        self._at = at
        self._limits = limits or WireLimits()
        self._refusals = refusals or Refusals()
        self._runner: web.AppRunner | None = None
        self._server: WireServer | None = None
        self._sockets: asyncio.Server | None = None
        self._port = at.port

    @property
    def port(self) -> int:
        """The port listened on; the asked one until started."""
        return self._port

    @property
    def is_open(self) -> bool:
        """Whether it was started and not closed since."""
        return self._server is not None

    @property
    def server(self) -> WireServer:
        """
        The connections, for metrics and for shedding.

        Raises:
            RuntimeError: not started, or closed.
        """
        if self._server is None:
            problem = "the listener is not open"
            raise RuntimeError(problem)
        return self._server

    async def start(self) -> None:
        """
        Start the application and listen.

        Raises:
            UnfitParser: without aiohttp's C parser, or with another minor version.
            OSError: the address is taken or not ours.
        """
        require_parser()
        server = WireServer(await self._make_handler(), self._limits, self._refusals)
        try:
            self._sockets = await asyncio.get_running_loop().create_server(
                server,
                self._at.host,
                self._at.port,
                backlog=self._at.backlog,
                reuse_port=self._at.reuse_port or None,
            )
        except OSError:
            await self._end_application()
            raise
        self._server = server
        self._port = self._sockets.sockets[0].getsockname()[1]

    async def stop_accepting(self) -> None:
        """
        Close the listening sockets; repeatable.

        Requests in flight go on. A new one on a kept connection is refused with
        503 ``SVC.GTW.006``, and every answer ends its connection.
        """
        self.server.draining = True
        if self._sockets is not None:
            self._sockets.close()

    async def close(self, timeout_s: float = 30.0) -> bool:
        """
        Wait for requests in flight, then close everything; repeatable.

        Returns:
            False when ``timeout_s`` seconds were not enough and some were cut off.
        """
        if self._server is None:
            return True
        await self.stop_accepting()
        finished = await self._server.rest(timeout_s)
        await self._server.close(_CANCELLED_GRACE_S)
        await self._end_application()
        self._server = None
        return finished

    async def _make_handler(self) -> Handler:
        """Start what is served; an application has a life of its own."""
        if isinstance(self._serves, Direct):
            return self._serves.handler
        if not isinstance(self._serves, web.Application):
            return WebAnswers(self._serves, build_bare)
        self._runner = web.AppRunner(self._serves)
        await self._runner.setup()
        return application_answers(self._runner)

    async def _end_application(self) -> None:
        """Clean an application up."""
        if self._runner is not None:
            await self._runner.cleanup()


def require_parser() -> None:
    """
    Refuse to serve on a parser that was not proven.

    Raises:
        UnfitParser: aiohttp runs without its C parser, which differs from the
            Python one in what it lets through, or is of another minor version.
    """
    if not aiohttp.__version__.startswith(AIOHTTP):
        problem = f"aiohttp {AIOHTTP}x is needed, this is {aiohttp.__version__}"
        raise UnfitParser(problem)
    if http_parser.HttpRequestParser is http_parser.HttpRequestParserPy:
        problem = (
            "aiohttp's C parser is not loaded: unset AIOHTTP_NO_EXTENSIONS, "
            "or install aiohttp from a wheel for this platform"
        )
        raise UnfitParser(problem)
