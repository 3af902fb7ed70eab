"""The checks of ``/readyz``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gateway.app.store_check import StoreCheck
from gateway.core.storage import StoreUnavailable


@dataclass(slots=True)
class Readiness:
    """
    The checks behind ``/readyz``.

    Attributes:
        has_worker: Whether a live worker is known; requests are served without a worker.
        started: Set once the store was prepared and the listener is open.
        draining: Set when the process begins to stop; then never ready.
    """

    check: StoreCheck
    has_worker: Callable[[], bool] = lambda: True
    started: bool = False
    draining: bool = False

    async def checks(self) -> Mapping[str, bool]:
        """Return every check by name, True when it passes."""
        try:
            await self.check.store.check()
            answers = True
        except StoreUnavailable:
            answers = False
        return {
            "store": answers,
            "writable": answers and await self.check.takes_writes(),
            "clock": self.check.clock.is_in_step(),
            "migrations": self.started,
        }
