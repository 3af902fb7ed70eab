"""
Sends what is due by a way that is a call: claims, calls, notes what came of it.

A process that dies between call and note leaves its claim, after whose end the message is sent
again. Addresses lead anywhere: calls are made as those to partners' endpoints are, never inward.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Generic, Protocol, TypeVar

from gateway.core.clocks import Now
from gateway.deliveries.model import Outcome, TryFailure
from gateway.deliveries.schedule import pause_after
from gateway.deliveries.sender import Sender
from gateway.notifications.model import Notification, Occasion, State, Way
from gateway.notifications.occasions import Occasions
from gateway.notifications.recipients import Recipient
from gateway.notifications.store import NotificationRecords
from gateway.notifications.watch import by_recipient, message_event, still_holding
from gateway.process.leases import RunOnce
from gateway.process.periodic_task import PeriodicTask, Schedule
from gateway.telemetry.ports import Count, Event

Called = TypeVar("Called", bound=Recipient)

EVERY_S: Final = 2.0


class Channel(Protocol[Called]):
    """A way to reach recipients by calls, such as push or chat."""

    @property
    def way(self) -> Way:
        """Return the way, stored with each notification."""
        ...

    async def recipients(self) -> Sequence[Called]:
        """Return the recipients that may be called."""
        ...

    async def call(self, recipient: Called, occasions: Sequence[Occasion]) -> Outcome | None:
        """Send one message; None where there is no address to send it to."""
        ...

    def companies(self, recipient: Called) -> Collection[str] | None:
        """Return the audit event's companies; None if the store takes the recipient's."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSender(Generic[Called]):
    """
    The work of one process for all; a recipient that hangs holds up others of its way at most.

    Attributes:
        chance: Numbers from 0 up to 1; spreads tries.
    """

    channel: Channel[Called]
    occasions: Occasions
    records: NotificationRecords
    now: Now
    chance: Callable[[], float]
    count: Count

    async def turn(self) -> None:
        """
        Send each recipient what is due, in one message.

        Raises:
            ExceptionGroup: of ``StoreUnavailable``: what was claimed is sent again after its claim.
        """
        now = self.now()
        due = by_recipient(await self.records.due(self.channel.way, now))
        if not due:
            return
        recipients = {each.name: each for each in await self.channel.recipients()}
        kinds = {one.kind for found in due.values() for one in found}
        occasions = await self.occasions.open(kinds, now)
        async with asyncio.TaskGroup() as sending:
            for name, found in due.items():
                sending.create_task(self._send(recipients.get(name), found, occasions, now))

    async def _send(
        self,
        recipient: Called | None,
        due: Sequence[Notification],
        occasions: Sequence[Occasion],
        now: datetime,
    ) -> None:
        holding = await still_holding(recipient, due, occasions)
        await self.records.drop([each for each in due if each.key not in holding])
        kept = [each for each in due if each.key in holding]
        if recipient is None or not kept:
            return
        claimed = await self.records.claim(kept, now)
        if claimed:
            outcome = await self.channel.call(recipient, [holding[each.key] for each in claimed])
            await self._note(recipient, claimed, outcome)

    async def _note(
        self, recipient: Called, claimed: Sequence[Notification], outcome: Outcome | None
    ) -> None:
        if outcome is not None and outcome.is_delivered:
            companies = self.channel.companies(recipient)
            event = message_event(recipient.name, self.channel.way, claimed, self.now, companies)
            await self.records.finish(claimed, State.SENT, event)
            self.count(Event.NOTIFICATION, f"{self.channel.way}.{State.SENT}")
            return
        pause = None
        if outcome is not None and outcome.failure is not TryFailure.GONE:
            tries = 1 + max(each.tries for each in claimed)
            pause = pause_after(tries, outcome.retry_after, self.chance)
        if pause is None:
            await self.records.finish(claimed, State.FAILED, None)
            self.count(Event.NOTIFICATION, f"{self.channel.way}.{State.FAILED}")
        else:
            await self.records.try_later(claimed, self.now() + pause)


class CallTask(PeriodicTask):
    """Sends in the background, and closes the connections when it stops."""

    def __init__(self, name: str, run_once: RunOnce, sender: Sender, wake: asyncio.Event) -> None:
        super().__init__(name, run_once, Schedule(every_s=EVERY_S), wake)
        self._sender = sender

    async def stop(self) -> None:
        """Stop; a call that was cut short is made again after its claim."""
        await super().stop()
        await self._sender.close()
