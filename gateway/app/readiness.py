"""The checks of ``/readyz``."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from gateway.app.store import Store
from gateway.core.clocks import Monotonic
from gateway.core.storage import StoreUnavailable

_WRITES_CHECKED_S: Final = 1.0
"""At most one trial write a second: on SQLite it waits for the disk, in the only writer's place."""


@dataclass(slots=True)
class Readiness:
    """
    The checks behind ``/readyz``.

    Attributes:
        has_worker: Whether a live worker is known; requests are served without a worker.
        started: Set once the store was prepared and the listener is open.
        draining: Set when the process begins to stop; not ready any more, whatever passes.
    """

    store: Store
    has_worker: Callable[[], bool] = lambda: True
    started: bool = False
    draining: bool = False
    monotonic: Monotonic = time.monotonic
    _writable: bool = field(default=False, init=False)
    _writes_checked_at: float | None = field(default=None, init=False)
    _checking: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def checks(self) -> Mapping[str, bool]:
        """Return every check by name, True when it passes."""
        try:
            await self.store.check()
            answers = True
        except StoreUnavailable:
            answers = False
        return {
            "store": answers,
            "writable": answers and await self._store_takes_writes(),
            "migrations": self.started,
        }

    async def _store_takes_writes(self) -> bool:
        """Return whether the store was writable at the last check, a second old at most."""
        async with self._checking:
            now, last = self.monotonic(), self._writes_checked_at
            if last is not None and now - last < _WRITES_CHECKED_S:
                return self._writable
            # Set before the check: one that is cancelled by the caller's deadline has failed.
            self._writable, self._writes_checked_at = False, now
            try:
                await self.store.check_writes()
            except StoreUnavailable:
                return False
            self._writable = True
            return True
