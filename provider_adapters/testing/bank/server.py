"""A running simulated bank: two ports or three, one database file, two background tasks."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import secrets
import ssl
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

from aiohttp import web

from provider_adapters.testing.bank import control, settlement
from provider_adapters.testing.bank.books import Books, open_books
from provider_adapters.testing.bank.callbacks import CallbackListener, Delivery
from provider_adapters.testing.bank.dialect import Dialect
from provider_adapters.testing.bank.messages import Faults
from provider_adapters.testing.bank.ports import CustomersPort, ListeningPort, RecordedCalls

_LOG = logging.getLogger(__name__)
# Only for payouts that nobody reads; every read settles what is due first.
_SETTLE_EVERY_S = 0.5
# Requests that hang on purpose would hold a longer shutdown up.
_SHUTDOWN_S = 0.1
_UTC_NOW: Final = partial(datetime.now, UTC)


@dataclass(slots=True, kw_only=True)
class SimulatedBank:
    """
    A bank without real money, in a process of its own or in the gateway's.

    Attributes:
        db_path: The SQLite file with all data; created when missing.
        host: A loopback address.
        port: The customers' port, and as ``control_port`` and ``token_port``: 0 picks a free one;
            after ``start`` this is the real number.
        settle_after_s: Seconds of bank clock from accepting a payout to settling it.
        latency_s: Seconds that every request of a customer waits before anything happens.
        listener: Receives every callback, beside the addresses that accounts have registered.
        books: Its state; present once it is started.
    """

    dialect: Dialect
    db_path: str
    host: str = "127.0.0.1"
    port: int = 8090
    control_port: int = 8091
    token_port: int = 0
    settle_after_s: float = 0.3
    latency_s: float = 0.0
    now: Callable[[], datetime] = _UTC_NOW
    random_hex: Callable[[int], str] = secrets.token_hex
    listener: CallbackListener | None = None
    books: Books = field(init=False, repr=False)
    _closing: contextlib.AsyncExitStack = field(
        init=False, repr=False, default_factory=contextlib.AsyncExitStack
    )

    def __post_init__(self) -> None:
        """Refuse other addresses: the control interface has no password."""
        if not ipaddress.ip_address(self.host).is_loopback:
            message = "a simulated bank listens on loopback only"
            raise ValueError(message)

    @property
    def url(self) -> str:
        """The address for customers."""
        return f"{self._scheme}://{self.host}:{self.port}"

    @property
    def token_url(self) -> str:
        """The address of the token endpoint's host: a second host, or that of ``url``."""
        port = self.token_port if self.dialect.has_token_host else self.port
        return f"{self._scheme}://{self.host}:{port}"

    @property
    def control_url(self) -> str:
        """The address of the control interface."""
        return f"http://{self.host}:{self.control_port}"

    @property
    def authority_file(self) -> Path | None:
        """The CA certificate of the bank's TLS, in PEM; None without TLS."""
        return Path(f"{self.db_path}.ca.pem") if self.dialect.client_certificates else None

    @property
    def _scheme(self) -> str:
        return "https" if self.dialect.client_certificates else "http"

    async def start(self) -> None:
        """
        Open the database file and every port; write the file of its authority.

        Raises:
            OSError: A port is in use; then nothing stays open.
        """
        async with contextlib.AsyncExitStack() as opened:
            await self._open(opened)
            self._closing = opened.pop_all()

    async def close(self) -> None:
        """Close every port and the file; safe to repeat. Open requests are cut off."""
        await self._closing.aclose()

    async def _open(self, opened: contextlib.AsyncExitStack) -> None:
        self.books = kept = open_books(
            self.db_path,
            now=self.now,
            random_hex=self.random_hex,
            settle_after_s=self.settle_after_s,
            identity=self.dialect.identity,
        )
        opened.callback(kept.database.close)
        faults, recorded = Faults(), RecordedCalls(kept.clock, self.dialect.secret_headers)
        served = CustomersPort(self.dialect, kept, faults, recorded, self.latency_s)
        tls = self._tls()
        ports = [await self._listen(opened, served.application(), self.port, tls)]
        self.port = ports[0].port
        if self.dialect.has_token_host:
            tokens = replace(served, at_token_host=True).application()
            ports.append(await self._listen(opened, tokens, self.token_port, tls))
            self.token_port = ports[1].port
        app = control.application(control.Controls(self.dialect, kept, faults, recorded, ports))
        self.control_port = (await self._listen(opened, app, self.control_port)).port
        _run(opened, _settle(kept))
        _run(opened, Delivery(kept, self.dialect.callback, self.listener).send_until_cancelled())

    def _tls(self) -> ssl.SSLContext | None:
        if self.authority_file is None:
            return None
        from provider_adapters.testing.bank import certificates  # noqa: PLC0415 - 6 MB, rarely used

        authority = certificates.authority_of(self.books)
        self.authority_file.write_text(authority, encoding="ascii")
        return certificates.server_context(self.books)

    async def _listen(
        self,
        opened: contextlib.AsyncExitStack,
        app: web.Application,
        port: int,
        tls: ssl.SSLContext | None = None,
    ) -> ListeningPort:
        # A request that hangs is cancelled when its caller disconnects. What executes never
        # waits, so it is never cancelled halfway.
        runner = web.AppRunner(
            app, access_log=None, handler_cancellation=True, shutdown_timeout=_SHUTDOWN_S
        )
        await runner.setup()
        opened.push_async_callback(runner.cleanup)
        listening = ListeningPort(runner, self.host, port, tls)
        opened.push_async_callback(listening.close)
        await listening.open()
        return listening


async def _settle(kept: Books) -> None:
    """Settle due payouts, also without requests."""
    while True:
        await asyncio.sleep(_SETTLE_EVERY_S)
        try:
            settlement.settle_due(kept)
        except Exception:  # noqa: BLE001 - a background loop: the next round tries again
            _LOG.exception("settling failed")


def _run(opened: contextlib.AsyncExitStack, work: Coroutine[None, None, None]) -> None:
    """Run a task until the bank is closed."""
    task = asyncio.create_task(work)  # noqa: TID251 - owned: closing ends it
    opened.push_async_callback(_end, task)


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
