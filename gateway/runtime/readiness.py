"""May the load balancer send requests here?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gateway.domain.kernel.storage import StoreUnavailable
from gateway.store.engine import Store


@dataclass(slots=True)
class Readiness:
    """
    The checks behind ``/readyz``.

    Attributes:
        has_worker: Whether a worker is at work, as far as is known; requests are served without.
        started: Set once the store was prepared and the listener is open.
        draining: Set when the process begins to stop; not ready any more, whatever passes.
    """

    store: Store
    has_worker: Callable[[], bool] = lambda: True
    started: bool = False
    draining: bool = False

    async def checks(self) -> Mapping[str, bool]:
        """Return every check by name, True when it passes."""
        return {
            "store": await self._store_answers(),
            "migrations": self.started,
        }

    async def _store_answers(self) -> bool:
        """Ask the store for a sign of life."""
        try:
            await self.store.check()
        except StoreUnavailable:
            return False
        return True
