"""Look-ups on the way of a request, bounded in time, and when each secret was last used."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final, TypeVar

from gateway.domain.accounts.credentials import Credentials
from gateway.domain.kernel.clocks import Now
from gateway.domain.kernel.storage import StoreUnavailable
from gateway.runtime.periodic_task import PeriodicTask, Schedule
from gateway.telemetry.ports import Gauge, Show

Key = TypeVar("Key")


Record = TypeVar("Record")


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
    load: Callable[[str], Awaitable[Record | None]], show: Show
) -> Callable[[str], Awaitable[Record | None]]:
    """Show whether the credential store answered the last time it was asked."""

    async def watched_load(key: str) -> Record | None:
        try:
            found = await load(key)
        except StoreUnavailable:
            show(Gauge.CREDENTIAL_STORE_UP, 0)
            raise
        show(Gauge.CREDENTIAL_STORE_UP, 1)
        return found

    return watched_load


_log = logging.getLogger(__name__)


_WRITE_EVERY_S: Final = 5.0
"""The date is for people who look for unused secrets; a write per request would double its cost."""


class LastUses:
    """
    Remembers which secrets were used; written in the background, not with the request.

    A use that is lost in a crash does no harm: the next one is written.

    Attributes:
        task: Writes in the background, and once more when it is stopped.
    """

    def __init__(self, store: Credentials, now: Now) -> None:
        """Write to ``store``."""
        self._store = store
        self._now = now
        self._used: set[tuple[str, bytes]] = set()
        schedule = Schedule(every_s=_WRITE_EVERY_S, delayed=True, finishing=True)
        self.task = PeriodicTask("last uses", self.write, schedule)

    def note(self, client_id: str, digest: bytes) -> None:
        """Remember one use."""
        self._used.add((client_id, digest))

    async def write(self) -> None:
        """Write what was used; when the store fails, the next use tries again."""
        used, self._used = self._used, set()
        for client_id, digest in used:
            try:
                await self._store.touch(client_id, digest, self._now())
            except StoreUnavailable:
                _log.warning("last use not stored")
                return
