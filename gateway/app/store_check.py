"""The regular check of the store: does it take writes, and are our clock and its own in step?"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from typing import Final

from gateway.app.store import Store
from gateway.core.clocks import Monotonic
from gateway.core.storage import StoreUnavailable, Writes, WritesRefused
from gateway.store.kernel.clock import DatabaseClock
from gateway.telemetry.metrics import series
from gateway.telemetry.metrics.families import Key
from gateway.telemetry.metrics.registry import MetricRegistry

_log = logging.getLogger(__name__)

_RECENT_S: Final = 1.0
"""At most one trial write a second: on SQLite it waits for the disk, in the only writer's place."""
_WATCHED_S: Final = 15.0
"""The usual interval of a scrape: no gauge is older than two of them."""


@dataclass(slots=True, kw_only=True)
class StoreCheck:
    """
    Checks the store for ``/readyz``, the metrics, and refusals while it takes no writes.

    Attributes:
        clock: Is set by the store's clock at every check.
        writes: Receives the result of every check.
    """

    store: Store
    clock: DatabaseClock
    writes: Writes
    monotonic: Monotonic
    values: MetricRegistry
    _passed: bool = field(default=False, init=False)
    _at: float | None = field(default=None, init=False)
    _was_in_step: bool = field(default=True, init=False)
    _checking: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    def __post_init__(self) -> None:
        """Export how far the clock is ahead, as of each scrape."""
        self.values.read(series.CLOCK_AHEAD, self._ahead)

    async def run_once(self) -> None:
        """
        Check anew if the last check is old, or failed a second ago.

        Run each second, so that payouts are taken as soon as there is room again. A store that does
        not answer is no error here.
        """
        is_well = self._passed and self.clock.is_in_step()
        await self.takes_writes(_WATCHED_S if is_well else _RECENT_S)
        self._log_steps()

    async def takes_writes(self, within_s: float = _RECENT_S) -> bool:
        """Return whether the store takes writes, from a check that is not older than that."""
        async with self._checking:
            now = self.monotonic()
            if self._at is not None and now - self._at < within_s:
                return self._passed
            # Set before the check: one that is cancelled by the caller's deadline has failed.
            self._passed, self._at = False, now
            self._passed = await self._check()
            self.values.child(series.STORE_WRITABLE).set(self._passed)
            return self._passed

    async def _check(self) -> bool:
        """Read the store's clock and try a write; note whether it is refused or unanswered."""
        try:
            await self.store.read_time(self.clock)
            await self.store.check_writes()
        except StoreUnavailable as problem:
            self.writes.are_refused = isinstance(problem, WritesRefused)
            return False
        self.writes.are_refused = False
        return True

    def _log_steps(self) -> None:
        """Log when the clocks part and when they agree again."""
        is_in_step = self.clock.is_in_step()
        if is_in_step is not self._was_in_step:
            word = "clock_in_step" if is_in_step else "clock_out_of_step"
            _log.warning("%s ahead_s=%.1f", word, self.clock.ahead_s() or 0.0)
        self._was_in_step = is_in_step

    def _ahead(self) -> dict[Key, float]:
        ahead_s = self.clock.ahead_s()
        return {} if ahead_s is None else {(): ahead_s}
