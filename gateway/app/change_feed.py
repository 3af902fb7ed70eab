"""
Following the audit log: what another process has changed is forgotten here.

Twice a second, whatever goes on. A change counts here within a second; a process
that cannot follow believes nothing it keeps after four, and reads the store for
every request, until it can.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Final

from gateway.app.kept_records import KeptRecords
from gateway.core.change_feed import Mark, News
from gateway.core.clocks import Monotonic
from gateway.core.storage import StoreUnavailable

_log = logging.getLogger(__name__)

EVERY_S: Final = 0.5
"""Between two turns: with the time of a turn, less than the second promised."""
PATIENCE_S: Final = 1.5
"""For one reading; two that fail still leave time for a third before nothing is believed."""
BELIEVED_S: Final = 4.0
"""From the beginning of the last turn that ended well; below the five promised without a feed."""

Read = Callable[[Mark | None], Awaitable[News | None]]
"""As ``Changes.read``, bounded in time."""


class ChangeFeed:
    """Forgets what the audit log tells was changed; ``turn`` is called again and again."""

    def __init__(
        self,
        read: Read,
        kept: KeptRecords,
        clock: Monotonic,
    ) -> None:
        """
        Know no place in the log yet.

        Args:
            read: Reads the log, at the database that writes.
            kept: What is forgotten, and believed for as long as the log is followed.
            clock: The one that kept records go by.
        """
        self._read = read
        self._kept = kept
        self._clock = clock
        self._mark: Mark | None = None
        self._followed_at = clock()
        self._is_lost = False

    async def run_once(self) -> None:
        """Follow to the end of the log; a silent store is asked again with the next turn."""
        try:
            followed_at = await self._follow()
        except StoreUnavailable as problem:
            self._log_lost(problem)
            return
        # only now: what was changed before that instant is forgotten
        self._followed_at = followed_at
        self._kept.belief.until = followed_at + BELIEVED_S
        if self._is_lost:
            self._is_lost = False
            _log.info("change_feed_back")

    def age_s(self) -> float:
        """Return how long ago the log was followed to its end."""
        return self._clock() - self._followed_at

    def is_believed(self) -> bool:
        """Say whether kept records are believed."""
        return self._clock() < self._kept.belief.until

    async def _follow(self) -> float:
        """Read until nothing is left; return when the reading began that found so."""
        while True:
            asked = self._clock()
            news = await self._read(self._mark)
            if news is None:
                _log.error("change_feed_restarted: the audit log is not the one followed so far")
                self._mark = None
                continue
            if self._mark is None:
                self._kept.forget_all()
            self._mark = news.mark
            for act in news.acts:
                self._kept.forget(act, "feed")
            if news.is_all:
                return asked

    def _log_lost(self, problem: StoreUnavailable) -> None:
        """Log the first failure of a row."""
        if not self._is_lost:
            self._is_lost = True
            _log.warning("change_feed_lost: %s", problem)
