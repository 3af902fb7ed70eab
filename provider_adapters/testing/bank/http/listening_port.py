"""The bank's listening ports, which can be closed so that connections are refused."""

from __future__ import annotations

import asyncio
import contextlib
import ssl

from aiohttp import web
from aiohttp.web_protocol import RequestHandler

from provider_adapters.testing.bank.kernel.faults import Fault

_REOPEN_TRIES = 50
_REOPEN_PAUSE_S = 0.02


class ListeningPort:
    """
    A port that can close and open again at the same number.

    While it is closed, the operating system refuses connections. Open ones are
    closed at once, together with requests that hang on them.
    """

    def __init__(
        self, runner: web.AppRunner, host: str, port: int, tls: ssl.SSLContext | None = None
    ) -> None:
        """Serve the runner's application; port 0 takes a free one."""
        self._tls = tls
        self._runner = runner
        self._host = host
        self._port = port
        self._site: web.TCPSite | None = None
        self._reopening: asyncio.Task[None] | None = None
        self._opened = False
        self._refusing: Fault | None = None

    @property
    def port(self) -> int:
        """The port's real number, once open."""
        return self._port

    @property
    def refusing(self) -> Fault | None:
        """The fault that keeps the port closed, if any."""
        return self._refusing

    async def open(self) -> None:
        """Listen; safe to repeat."""
        await self._stop_waiting()
        if self._site is None:
            self._site = await self._listen()

    async def refuse(self, fault: Fault) -> None:
        """Refuse connections for ``count`` seconds, or until opened."""
        await self.close()
        self._refusing = fault
        if fault.count is not None:
            reopening = self._reopen_in(fault.count)
            self._reopening = asyncio.create_task(reopening)  # noqa: TID251 - owned: close() ends it

    async def close(self) -> None:
        """Stop listening and close all connections."""
        await self._stop_waiting()
        if self._site is not None:
            await self._site.stop()
            self._site = None
        for connection in self._connections():
            # Not close(): in aiohttp 3.14 that leaves an idle connection open and deaf.
            connection.force_close()

    def _connections(self) -> list[RequestHandler]:
        return self._runner.server.connections if self._runner.server else []

    async def _listen(self) -> web.TCPSite:
        """Listen; when reopening, another program may use the port briefly for a connection."""
        tries = _REOPEN_TRIES if self._opened else 1
        while True:
            site = web.TCPSite(self._runner, self._host, self._port, ssl_context=self._tls)
            try:
                await site.start()
            except OSError:
                await site.stop()
                tries -= 1
                if not tries:
                    raise
                await asyncio.sleep(_REOPEN_PAUSE_S)
            else:
                self._opened = True
                self._refusing = None
                self._port = site.port
                return site

    async def _reopen_in(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        self._site = await self._listen()

    async def _stop_waiting(self) -> None:
        task, self._reopening = self._reopening, None
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
