"""When each secret was last used: remembered here, and written to the store now and then."""

from __future__ import annotations

import logging
from typing import Final

from gateway.domain.accounts.credentials import Credentials
from gateway.domain.kernel.clocks import Now
from gateway.domain.kernel.storage import StoreUnavailable
from gateway.runtime.periodic_task import PeriodicTask, Schedule

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
