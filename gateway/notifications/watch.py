"""
Finds occasions, writes a notification for each recipient, and mails people.

A notification is written once for each recipient, occasion and way, and kept; a mail goes into the
mailbox by the transaction that ends its notifications. So nobody is mailed twice, whenever a
process ends. What is due for one person at the same time is one mail; what comes up within a minute
after a message of its kind waits for the minute's end. Before a mail is written, the occasion is
looked at again: an order that was decided meanwhile is not told.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from gateway.core.audit import AuditEvent
from gateway.core.audit_context import AuditContext
from gateway.core.clocks import Now
from gateway.identity.mail import Mailer
from gateway.identity.store import StoredMailbox
from gateway.notifications.model import OF_ORDERS, Kind, Notification, Occasion, State, Way
from gateway.notifications.outages import Outages
from gateway.notifications.recipients import Recipient, Recipients, UserRecipient
from gateway.notifications.schedule import after_others, due_at
from gateway.notifications.store import NotificationRecords, Topic
from gateway.notifications.texts import compose, mail_text
from gateway.telemetry.ports import Count, Event

EVERY_S: Final = 2.0
"""An order that is stored by a process that is no worker is found within it."""
SENT: Final = "notification.sent"
_ACTOR: Final = "system"
Key = tuple[Kind, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class NotificationWatch:
    """
    The work of one process for all.

    Attributes:
        origin: The begin of links.
        wake_calls: Called with the ways that notifications were written for.
        seen: By recipient and way: its version, and the occasions that it was looked at for.
    """

    recipients: Recipients
    outages: Outages
    records: NotificationRecords
    mailbox: StoredMailbox
    mailer: Mailer
    origin: str
    now: Now
    new_id: Callable[[], str]
    count: Count
    wake_calls: Callable[[Collection[Way]], None] = lambda _ways: None
    seen: dict[tuple[str, Way], tuple[object, set[Key]]] = field(default_factory=dict)

    async def turn(self) -> None:
        """
        Write notifications for what has come up, and mail what is due.

        Raises:
            StoreUnavailable: the next turn goes on.
        """
        now = self.now()
        people, rooms = await self.recipients.people(), await self.recipients.rooms()
        everybody: Sequence[Recipient] = [*people, *await self.recipients.pushed(), *rooms]
        wanted = {kind for each in everybody for kind in each.kinds}
        if Kind.BANK in wanted:
            await self.outages.turn(now)
        occasions = await self.recipients.occasions.open(wanted, now)
        ways = await self._write(everybody, occasions, now)
        self.wake_calls(ways - {Way.MAIL})
        await self._mail({each.name: each for each in people}, occasions, now)

    async def _write(
        self, everybody: Sequence[Recipient], occasions: Sequence[Occasion], now: datetime
    ) -> frozenset[Way]:
        """Write what is new; return the ways that it is for."""
        current = {each.key for each in occasions}
        found: list[tuple[Recipient, Occasion]] = []
        looked_at: dict[tuple[str, Way], tuple[object, set[Key]]] = {}
        for each in everybody:
            name = each.name, each.way
            version, seen = self.seen.get(name, (None, set()))
            seen = seen & current if version == each.version else set()
            fresh = [one for one in occasions if one.kind in each.kinds and one.key not in seen]
            if fresh:
                concerned = await each.concerned(fresh)
                found += [(each, one) for one in concerned]
            looked_at[name] = each.version, seen | {one.key for one in fresh}
        last = await self.records.last_due(now) if found else {}
        await self.records.add([self._notification(*each, last, now) for each in found])
        # Only now: what a failing store has not taken is found again.
        self.seen.clear()
        self.seen.update(looked_at)
        return frozenset(each.way for each, _ in found)

    async def _mail(
        self, people: Mapping[str, UserRecipient], occasions: Sequence[Occasion], now: datetime
    ) -> None:
        """Mail each person what is due, in one message."""
        for name, due in by_recipient(await self.records.due(Way.MAIL, now)).items():
            person = people.get(name)
            holding = await still_holding(person, due, occasions)
            await self.records.drop([each for each in due if each.key not in holding])
            sent = [each for each in due if each.key in holding]
            if person is None or not sent:
                continue
            language = person.user.preferences.language or ""
            message = compose([holding[each.key] for each in sent], language, self.origin)
            mail = self.mailer.letter(person.user, message.subject, mail_text(message))
            event = message_event(name, Way.MAIL, sent, self.now, companies=None)
            if await self.records.mail(self.mailbox, mail, sent, event):
                self.count(Event.NOTIFICATION, f"{Way.MAIL}.{State.SENT}")

    def _notification(
        self,
        recipient: Recipient,
        occasion: Occasion,
        last: Mapping[Topic, datetime],
        now: datetime,
    ) -> Notification:
        due = due_at(occasion, recipient.choice, now, recipient.way)
        told = last.get((recipient.name, recipient.way, occasion.kind))
        return Notification(
            id=self.new_id(),
            recipient=recipient.name,
            kind=occasion.kind,
            subject=occasion.subject,
            way=recipient.way,
            created_at=now,
            due_at=after_others(due, occasion.ends_at, now, told),
        )


def by_recipient(due: Sequence[Notification]) -> Mapping[str, Sequence[Notification]]:
    """Return notifications by their recipient, in their order."""
    found: defaultdict[str, list[Notification]] = defaultdict(list)
    for each in due:
        found[each.recipient].append(each)
    return found


async def still_holding(
    recipient: Recipient | None, due: Sequence[Notification], occasions: Sequence[Occasion]
) -> Mapping[Key, Occasion]:
    """Return the occasions of notifications that hold and still concern their recipient."""
    if recipient is None:
        return {}
    keys = {each.key for each in due}
    concerned = await recipient.concerned([each for each in occasions if each.key in keys])
    return {each.key: each for each in concerned}


def message_event(
    recipient: str,
    way: Way,
    sent: Sequence[Notification],
    now: Now,
    companies: Collection[str] | None,
) -> AuditEvent:
    """
    Return the audit event of a message: to whom, by which way, about what, and which orders.

    ``companies`` are those of a chat; of a person the store finds them by the recipient.
    """
    details = {
        "way": way.value,
        "kinds": " ".join(sorted({each.kind.value for each in sent})),
        "count": str(len(sent)),
    }
    orders = [each.subject for each in sent if each.kind in OF_ORDERS]
    if orders:
        details["orders"] = " ".join(sorted(orders))
    event = AuditContext(_ACTOR, now).event(SENT, recipient, details)
    return event if companies is None else replace(event, companies=frozenset(companies))
