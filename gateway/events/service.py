"""The feed of an account: every event in the order of commit, and none twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from gateway.core import errors
from gateway.core.calls import Caller
from gateway.core.clocks import Now
from gateway.core.errors import ServiceError
from gateway.events.model import FEED_KEPT, Cursor, FeedPart, Wanted, place
from gateway.events.store import EventRecords, Placed
from gateway.events.waiting import Waits

_LATE: Final = timedelta(days=2)
"""How much older than its cursor an event behind it may be; see ``place`` and ``Cursor.at``."""
_PASSED_OVER: Final = 2_000
"""Events that one call passes over at most while it looks for events of some types."""


def _unnoted(_account_id: str) -> None:
    """Note nothing."""


@dataclass(frozen=True, slots=True)
class EventFeed:
    """
    The feeds, for partners.

    Attributes:
        waits: The calls of this process that wait.
        note: Called with the account of each read.
    """

    records: EventRecords
    waits: Waits
    now: Now
    note: Callable[[str], None] = _unnoted

    async def read(self, caller: Caller, wanted: Wanted) -> FeedPart:
        """
        Read the events of an account behind a cursor, oldest first.

        Raises:
            ServiceError: ``SVC.VAL.011`` for a cursor of another account, ``SVC.VAL.008`` for one
                that is older than 30 days, ``SVC.GTW.005`` where too many calls wait already.
            StoreUnavailable: the store did not answer.
        """
        part = await self._part(caller, wanted)
        self.note(caller.account.id)
        if part.events or not wanted.wait_s:
            return part
        with self.waits.place(caller.principal.client_id, wanted.wait_s) as until:
            while not part.events and await self.waits.news(
                caller.account.id, part.next.position, until
            ):
                part = await self._part(caller, replace(wanted, after=part.next))
        return part

    async def _part(self, caller: Caller, wanted: Wanted) -> FeedPart:
        account_id, after, now = caller.account.id, wanted.after, self.now()
        if after is not None and after.account_id != account_id:
            raise ServiceError(errors.PAYLOAD_INVALID, "cursor_form", field="after")
        if after is not None and after.at < now - FEED_KEPT:
            raise ServiceError(errors.WINDOW_INVALID, "cursor_old", field="after")
        if after is None:
            since = now - FEED_KEPT
            after = Cursor(account_id, await self.records.beginning(account_id, since), since)
        else:
            since = after.at - _LATE
        most = _PASSED_OVER if wanted.types else wanted.limit
        reached = await self.records.reach(account_id, after.position, most)
        if reached.last < after.position:
            raise ServiceError(errors.PAYLOAD_INVALID, "cursor_form", field="after")
        last = min(reached.last, after.position + most)
        found: Sequence[Placed] = ()
        if last > after.position:
            found = await self.records.between(account_id, after.position, last, since, wanted)
        events = [each.event for each in found]
        if len(found) == wanted.limit:
            return FeedPart(events, place(account_id, found[-1].position, events[-1].at, now))
        is_end = last == reached.last and not reached.has_more
        return FeedPart(events, place(account_id, last, now if is_end else after.at, now))
