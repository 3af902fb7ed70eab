"""
A second look at the store for who would be refused by what is kept.

What is kept may be older than the secret somebody shows. So nobody is refused
before the store was looked at once more, after the request arrived. Strangers
must not make the store work by that: the look is shared by all who wait for the
same key, and there are at most two a second for each. A key without a record is
treated like any other, so that no duration tells which exist.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import Final, Generic, TypeVar

from gateway.domain.kernel import errors
from gateway.domain.kernel.clocks import Monotonic
from gateway.domain.kernel.errors import ServiceError
from gateway.runtime.records.record_cache import RecordCache

Record = TypeVar("Record")

EVERY_S: Final = 0.5
"""Between two looks for the same key."""
_RETRY: Final = {"Retry-After": "1"}


class SecondLooks(Generic[Record]):
    """Looks again, for as many as wait; remembers the looks of the last half second alone."""

    def __init__(self, records: RecordCache[Record], clock: Monotonic, most: int) -> None:
        """
        Look for nothing yet.

        Args:
            records: What is kept; a look renews it.
            clock: The one that ``records`` goes by.
            most: Requests that may wait at once. Without it, strangers who wait
                would take up the places of all requests.
        """
        self._records = records
        self._clock = clock
        self._most = most
        self._waiting = 0
        self._coming: dict[str, asyncio.Task[Record | None]] = {}
        self._looked: OrderedDict[str, float] = OrderedDict()

    async def after(self, key: str, arrived: float) -> Record | None:
        """
        Return the record as the store had it after an instant.

        Args:
            key: Whose record.
            arrived: When the request came, by the clock.

        Raises:
            StoreUnavailable: the store does not answer.
            ServiceError: ``SVC.GTW.006`` (503) when too many wait already, whichever
                key it is; nobody can tell whether the secret is wrong.
        """
        if self._waiting >= self._most:
            raise ServiceError(errors.OVERLOADED, "throttled", _RETRY)
        read = self._records.read_since(key, arrived)
        if read is not None:
            # the first look was late enough, and counts as the second one
            self._remember(key, arrived)
            return read.value
        self._waiting += 1
        try:
            return await asyncio.shield(self._coming.get(key) or self._begin(key))
        finally:
            self._waiting -= 1

    def _begin(self, key: str) -> asyncio.Task[Record | None]:
        """Have a look come, which all share who arrive before it begins."""
        task = asyncio.get_running_loop().create_task(self._look(key))
        self._coming[key] = task
        task.add_done_callback(_seen)
        return task

    async def _look(self, key: str) -> Record | None:
        """Look as soon as the last look for the key is half a second ago."""
        try:
            wait_s = self._looked.get(key, -EVERY_S) + EVERY_S - self._clock()
            if wait_s > 0:
                await asyncio.sleep(wait_s)
        finally:
            # who arrives from now on needs another look: this one begins
            del self._coming[key]
        self._remember(key, self._clock())
        return await self._records.renew(key)

    def _remember(self, key: str, at: float) -> None:
        """Remember a look, and forget those that keep nobody waiting any more."""
        self._looked[key] = max(at, self._looked.get(key, at))
        self._looked.move_to_end(key)
        over = self._clock() - EVERY_S
        while self._looked and next(iter(self._looked.values())) <= over:
            self._looked.popitem(last=False)


def _seen(task: asyncio.Task[Record | None]) -> None:
    """Mark a failure as seen, even if nobody waits any more."""
    if not task.cancelled():
        task.exception()
