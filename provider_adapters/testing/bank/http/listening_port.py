"""The bank's listening ports, which can be closed so that connections are refused."""

from __future__ import annotations

import asyncio
import contextlib
import ssl

from aiohttp import web

from provider_adapters.testing.bank.kernel.faults import Fault

_REOPEN_TRIES = 50
_REOPEN_PAUSE_S = 0.02


class ListeningPort:
    """
    A port that can close and open again at the same number.

    While it is closed, the operating system refuses connections. Open ones are
    closed at once, together with requests that hang on them.

    Attributes:
        port: Its real number, once open.
        refusing: The fault that keeps it closed, if any.
    """

    def __init__(
        self, runner: web.AppRunner, host: str, port: int, tls: ssl.SSLContext | None = None
    ) -> None:
        """Serve the runner's application; port 0 takes a free one."""
        self.port = port
        self.refusing: list[Fault] = []
        self._runner = runner
        self._host = host
        self._tls = tls
        self._site: web.TCPSite | None = None
        self._reopening: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Listen; safe to repeat."""
        await self._stop_waiting()
        if self._site is None:
            await self._listen(_REOPEN_TRIES if self.refusing else 1)

    async def refuse(self, fault: Fault) -> None:
        """Refuse connections for ``count`` seconds, or until opened."""
        await self.close()
        self.refusing = [fault]
        if fault.count is not None:
            reopening = self._reopen_in(fault.count)
            self._reopening = asyncio.create_task(reopening)  # noqa: TID251 - owned: close() ends it

    async def close(self) -> None:
        """Stop listening and close all connections."""
        await self._stop_waiting()
        if self._site is not None:
            await self._site.stop()
            self._site = None
        for connection in self._runner.server.connections if self._runner.server else ():
            # Not close(): in aiohttp 3.14 that leaves an idle connection open and deaf.
            connection.force_close()

    async def _listen(self, tries: int) -> None:
        """Listen; when reopening, another program may use the port briefly for a connection."""
        site = web.TCPSite(self._runner, self._host, self.port, ssl_context=self._tls)
        try:
            await site.start()
        except OSError:
            await site.stop()
            if tries == 1:
                raise
            await asyncio.sleep(_REOPEN_PAUSE_S)
            await self._listen(tries - 1)
        else:
            self._site, self.port, self.refusing = site, site.port, []

    async def _reopen_in(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        await self._listen(_REOPEN_TRIES)

    async def _stop_waiting(self) -> None:
        task, self._reopening = self._reopening, None
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
