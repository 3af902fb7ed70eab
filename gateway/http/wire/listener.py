"""The public listener: a socket, our limits, and the application behind them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final, cast

import aiohttp
from aiohttp import http_parser, web
from aiohttp.http_parser import RawRequestMessage

from gateway.http.wire.limits import WireLimits
from gateway.http.wire.refusals import Refusals
from gateway.http.wire.request import Rest, WireRequest
from gateway.http.wire.server import Handler, WireServer

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
        serves: web.Application | Handler,
        *,
        at: Address,
        limits: WireLimits | None = None,
        refusals: Refusals | None = None,
    ) -> None:
        self._serves = serves
        self._at = at
        self._limits = limits or WireLimits()
        self._refusals = refusals or Refusals()
        self._runner: web.BaseRunner | None = None
        self._port = at.port

    @property
    def port(self) -> int:
        """The port listened on; the asked one until started."""
        return self._port

    @property
    def server(self) -> WireServer:
        """
        The connections, for metrics and for shedding.

        Raises:
            RuntimeError: not started, or closed.
        """
        server = self._runner.server if self._runner else None
        if server is None:
            problem = "the listener is not open"
            raise RuntimeError(problem)
        return cast("WireServer", server)

    async def start(self) -> None:
        """
        Start the application and listen.

        Raises:
            UnfitParser: without aiohttp's C parser, or with another minor version.
            OSError: the address is taken or not ours.
        """
        require_parser()
        self._runner = self._make_runner()
        await self._runner.setup()
        site = web.TCPSite(
            self._runner,
            self._at.host,
            self._at.port,
            backlog=self._at.backlog,
            reuse_port=self._at.reuse_port or None,
        )
        try:
            await site.start()
        except OSError:
            await self._runner.cleanup()
            raise
        self._port = site.port

    async def stop_accepting(self) -> None:
        """
        Close the listening sockets; repeatable.

        Requests in flight go on. A new one on a kept connection is refused with
        503 ``SVC.GTW.006``, and every answer ends its connection.
        """
        self.server.draining = True
        for site in self._runner.sites if self._runner else ():
            await site.stop()

    async def close(self, timeout_s: float = 30.0) -> bool:
        """
        Wait for requests in flight, then close everything; repeatable.

        Returns:
            False when ``timeout_s`` seconds were not enough and some were cut off.
        """
        if self._runner is None or self._runner.server is None:
            return True
        await self.stop_accepting()
        finished = await self.server.rest(timeout_s)
        await self._runner.cleanup()
        return finished

    def _make_runner(self) -> web.BaseRunner:
        if isinstance(self._serves, web.Application):
            runner = _ApplicationRunner(self._serves, shutdown_timeout=_CANCELLED_GRACE_S)
            runner.limits, runner.refusals = self._limits, self._refusals
            return runner
        server = WireServer(self._serves, _build_bare, self._limits, self._refusals)
        return web.ServerRunner(server, shutdown_timeout=_CANCELLED_GRACE_S)


class _ApplicationRunner(web.AppRunner):
    """aiohttp's runner, with our server in the place of its own."""

    __slots__ = ("limits", "refusals")

    limits: WireLimits
    refusals: Refusals

    async def _make_server(self) -> WireServer:
        plain = await super()._make_server()
        make = plain.request_factory

        def build(message: RawRequestMessage, *rest: *Rest) -> WireRequest:
            made = make(message, *rest, _cls=WireRequest)  # type: ignore[call-arg]
            return cast("WireRequest", made)

        return WireServer(plain.request_handler, build, self.limits, self.refusals)


def _build_bare(message: RawRequestMessage, *rest: *Rest) -> WireRequest:
    return WireRequest(message, *rest, asyncio.get_running_loop())


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
