"""Looking up credentials and accounts on the way in: bounded, cached, remembered."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from gateway.domain.accounts.credentials import Credentials
from gateway.domain.kernel.clocks import Now
from gateway.domain.kernel.storage import StoreUnavailable

_log = logging.getLogger(__name__)

Key = TypeVar("Key")
Record = TypeVar("Record")

_WRITE_EVERY_S = 5.0


def within(
    seconds: float, load: Callable[[Key], Coroutine[Any, Any, Record | None]]
) -> Callable[[Key], Awaitable[Record | None]]:
    """
    Bound a look-up in time; too slow is ``StoreUnavailable`` like every other failure.

    A look-up that is given up is cancelled and not waited for: a driver may take
    seconds to let go of a server that is silent.
    """
    given_up: set[asyncio.Task[Record | None]] = set()

    def ended(task: asyncio.Task[Record | None]) -> None:
        given_up.discard(task)
        if not task.cancelled():
            task.exception()

    async def bounded(key: Key) -> Record | None:
        task = asyncio.create_task(load(key))  # noqa: TID251 - awaited here, or cancelled and kept
        try:
            done, _ = await asyncio.wait({task}, timeout=seconds)
        finally:
            if not task.done():
                given_up.add(task)
                task.add_done_callback(ended)
                task.cancel()
        if not done:
            raise StoreUnavailable(load.__qualname__)
        return task.result()

    return bounded


def watched(
    load: Callable[[str], Awaitable[Record | None]], show: Callable[[str, float], None]
) -> Callable[[str], Awaitable[Record | None]]:
    """Show whether the credential store answered the last time it was asked."""

    async def seen(key: str) -> Record | None:
        try:
            found = await load(key)
        except StoreUnavailable:
            show("credential_store_up", 0)
            raise
        show("credential_store_up", 1)
        return found

    return seen


class LastUses:
    """
    Remembers which secrets were used and writes it down now and then.

    A use that is lost in a crash is no harm: the next one is written.
    """

    def __init__(self, store: Credentials, now: Now) -> None:
        """Write to ``store``."""
        self._store = store
        self._now = now
        self._used: set[tuple[str, bytes]] = set()
        self._task: asyncio.Task[None] | None = None

    def note(self, client_id: str, digest: bytes) -> None:
        """Remember one use."""
        self._used.add((client_id, digest))

    def start(self) -> None:
        """Begin to write in the background."""
        self._task = asyncio.create_task(self._run())  # noqa: TID251 - stop() ends it

    async def stop(self) -> None:
        """End, after a last write."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        await self._write()

    async def _run(self) -> None:
        """Write for ever."""
        while True:
            await asyncio.sleep(_WRITE_EVERY_S)
            await self._write()

    async def _write(self) -> None:
        """Write down what was used; a store that fails is tried again with the next use."""
        used, self._used = self._used, set()
        for client_id, digest in used:
            try:
                await self._store.touch(client_id, digest, self._now())
            except StoreUnavailable:
                _log.warning("last use not stored")
                return
