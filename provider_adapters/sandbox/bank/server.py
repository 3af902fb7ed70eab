"""The sandbox bank as a running thing: two ports, one file, one background task."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from aiohttp import web

from provider_adapters.sandbox.bank import (
    books,
    calls,
    control,
    control_accounts,
    customers,
    notices,
    settlement,
)
from provider_adapters.sandbox.bank.control import Levers
from provider_adapters.sandbox.bank.door import Door
from provider_adapters.sandbox.bank.faults import Faults
from provider_adapters.sandbox.bank.notices import Listener

_LOG = logging.getLogger(__name__)
_SETTLE_EVERY_S = 0.5
_SHUTDOWN_S = 0.1


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(slots=True, kw_only=True)
class SandboxBank:
    """
    A bank for the sandbox, in its own process or inside another's event loop.

    Attributes:
        db_path: The SQLite file that holds everything; made when missing.
        host: A loopback address; it can be reached from nowhere else.
        port: The customers' port; 0 takes a free one, the real one after start.
        control_port: The control interface's, likewise.
        settle_after_s: Seconds of bank clock from accepting a payout to
            settling it.
        now: The wall clock, aware UTC.
        random_hex: Gives this many random bytes as hexadecimal text.
        listener: Who is told of payouts, payments and refunds; None nobody.
    """

    db_path: str
    host: str = "127.0.0.1"
    port: int = 8090
    control_port: int = 8091
    settle_after_s: float = 0.3
    now: Callable[[], datetime] = _utc_now
    random_hex: Callable[[int], str] = secrets.token_hex
    listener: Listener | None = None
    _closing: contextlib.AsyncExitStack = field(
        init=False, repr=False, default_factory=contextlib.AsyncExitStack
    )

    def __post_init__(self) -> None:
        """Refuse an address others could reach: there is money's shape behind it, no lock."""
        if not ipaddress.ip_address(self.host).is_loopback:
            message = "the sandbox bank listens on loopback only"
            raise ValueError(message)

    async def start(self) -> None:
        """
        Open the file and both ports.

        Raises:
            OSError: When a port is in use; nothing stays open then.
        """
        async with contextlib.AsyncExitStack() as opened:
            await self._open(opened)
            self._closing = opened.pop_all()

    async def close(self) -> None:
        """Close both ports and the file; safe to repeat. Requests that hang are cut off."""
        await self._closing.aclose()

    async def _open(self, opened: contextlib.AsyncExitStack) -> None:
        kept = books.open_books(
            self.db_path,
            now=self.now,
            random_hex=self.random_hex,
            settle_after_s=self.settle_after_s,
        )
        opened.callback(kept.database.close)
        faults, seen = Faults(), calls.Calls(kept.clock)
        door = await self._door(opened, customers.application(kept, faults, seen), self.port)
        levers = Levers(books=kept, faults=faults, calls=seen, door=door)
        rows = control.ROWS + control_accounts.ROWS
        app = control.application(levers, rows)
        self.control_port = (await self._door(opened, app, self.control_port)).port
        self.port = door.port
        settling = asyncio.create_task(_settle(kept))  # noqa: TID251 - owned: close() ends it
        opened.push_async_callback(_end, settling)
        if self.listener is None:
            notices.forget(kept)
            return
        telling = asyncio.create_task(  # noqa: TID251 - owned: close() ends it
            notices.tell_for_ever(kept, self.listener)
        )
        opened.push_async_callback(_end, telling)

    async def _door(
        self, opened: contextlib.AsyncExitStack, app: web.Application, port: int
    ) -> Door:
        # A caller who gave up frees the handler that hangs for him; what executes never waits.
        runner = web.AppRunner(
            app, access_log=None, handler_cancellation=True, shutdown_timeout=_SHUTDOWN_S
        )
        await runner.setup()
        opened.push_async_callback(runner.cleanup)
        door = Door(runner, self.host, port)
        opened.push_async_callback(door.close)
        await door.open()
        return door


async def _settle(kept: books.Books) -> None:
    """Let time pass for payouts that nobody asks about."""
    while True:
        await asyncio.sleep(_SETTLE_EVERY_S)
        try:
            settlement.settle_due(kept)
        except Exception:  # noqa: BLE001 - a background loop: the next turn tries again
            _LOG.exception("settling failed")


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
