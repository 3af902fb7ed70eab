"""
The process's audit log: its keys, and sign-in failures counted once a minute.

If each failed sign-in were written, an attacker could hold the lock that stops and approvals need.
Counting touches no store and costs the same for known and unknown users. A crash loses the last
minute at most; the process's own log has each failure.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from gateway.audit.store import StoredAudit
from gateway.core.audit import AuditEvent
from gateway.core.clocks import Now
from gateway.core.networks import network
from gateway.core.storage import StoreUnavailable
from gateway.core.user import User
from gateway.core.user_errors import FORBIDDEN
from gateway.security.keys import Keys
from gateway.store.kernel.chain import ChainKeys
from gateway.telemetry.logs.events import Fields
from gateway.telemetry.observer import Keep
from gateway.telemetry.records import AccessRecord, current_record

_EVENTS: Final = "audit events"
_HEADS: Final = "audit heads"


def audit_keys(keys: Keys) -> ChainKeys:
    """Derive the audit keys; events under a retired sealing key verify as long as it is kept."""
    derived = keys.derivation
    return ChainKeys(events=derived.keys(_EVENTS), heads=derived.keys(_HEADS))


BATCH: Final = 50
"""Events of one transaction: some ten milliseconds that a stop may have to wait."""
MOST_PEOPLE: Final = 2_000
"""Entries of people in a minute; there are never so many of the operator."""
MOST_ADDRESSES: Final = 200
"""Entries of addresses in a minute; the others are one entry, so that no flood fills the log."""
FAILED: Final[Mapping[str, str]] = {
    "authn_login_fail": "sign_in.failed",
    "authn_sign_on_refused": "sign_in.failed",
    "authn_login_lock": "sign_in.locked",
    "authn_factor_fail": "factor.failed",
}
"""What befalls sign-ins, by the words of the security log."""
TAKEN: Final[Mapping[str, str]] = {
    "backoffice.report": "report.downloaded",
    "backoffice.audit_export": "audit.exported",
    "backoffice.payouts_export": "payouts.exported",
    "backoffice.requests_export": "requests.exported",
    "panel_pages.statement_export": "report.downloaded",
    "panel_pages.audit_export": "audit.exported",
    "panel_pages.payouts_export": "payouts.exported",
    "panel_pages.received_export": "received.exported",
    "panel_pages.requests_export": "requests.exported",
}
"""What people take away, by the rows and pages that give it; also where it was cut."""
REFUSED: Final = "access.refused"
_GOOD: Final = 400
_OTHERS: Final = "others"
_MOST_PLACES: Final = 8

FindUser = Callable[[str], Awaitable[User | None]]


@dataclass(frozen=True, slots=True)
class Meant:
    """Key of a counter: an act, and its user or else the address."""

    action: str
    user_id: str
    place: str = ""
    account_id: str = ""


@dataclass(slots=True, kw_only=True)
class Count:
    """Number since the last write, with the time, request and address of the last."""

    times: int
    at: datetime
    trace_id: str
    route: str
    places: set[str] = field(default_factory=set)

    def add(self, more: Count) -> None:
        """Add further occurrences."""
        self.times += more.times
        self.at, self.trace_id, self.route = more.at, more.trace_id, more.route
        if len(self.places) < _MOST_PLACES:
            self.places |= more.places


class AuditTally:
    """Counters, one for each act and user or address; ``turn`` writes them."""

    def __init__(self, audit: StoredAudit, find_user: FindUser, now: Now) -> None:
        """Write to ``audit``; ``find_user`` finds the users' names by id."""
        self._audit = audit
        self._find_user = find_user
        self._now = now
        self._counts: dict[Meant, Count] = {}
        self._addresses = 0

    def on_event(self, word: str, user_id: str) -> None:
        """Count a sign-in event; ``user_id`` is empty for an unknown user."""
        action, record = FAILED.get(word), current_record()
        if action is None or record is None:
            return
        place = network(record.address)
        self._count(Meant(action, user_id, "" if user_id else place), record, place)

    def on_request(self, record: AccessRecord) -> None:
        """Count a user's refusals and throttled requests."""
        if not record.user_id:
            return
        place = network(record.address)
        if record.code == FORBIDDEN.code:
            self._count(Meant(REFUSED, record.user_id), record, place)
        elif record.status < _GOOD and record.route in TAKEN:
            meant = Meant(TAKEN[record.route], record.user_id, account_id=record.account_id)
            self._count(meant, record, place)

    async def run_once(self) -> int:
        """
        Write the counters; return the number of events.

        Raises:
            StoreUnavailable: unwritten counters are kept and keep counting.
        """
        counts, self._counts, self._addresses = self._counts, {}, 0
        entries = list(counts.items())
        for first in range(0, len(entries), BATCH):
            try:
                batch = entries[first : first + BATCH]
                await self._audit.append(*[await self._event(*each) for each in batch])
            except StoreUnavailable:
                for meant, count in entries[first:]:
                    self._put(meant, count)
                raise
        return len(entries)

    def _count(self, meant: Meant, record: AccessRecord, place: str) -> None:
        self._put(
            meant,
            Count(
                times=1,
                at=self._now(),
                trace_id=record.trace_id,
                route=record.route,
                places={place},
            ),
        )

    def _put(self, meant: Meant, count: Count) -> None:
        """Add to the counter, within the maximum number of counters."""
        known = self._counts.get(meant)
        if known is None and self._is_full(meant):
            meant = Meant(meant.action, "", _OTHERS)
            known = self._counts.get(meant)
        if known is not None:
            known.add(count)
            return
        self._counts[meant] = count
        self._addresses += not meant.user_id

    def _is_full(self, meant: Meant) -> bool:
        """Return whether no new counter is allowed; addresses leave room for users."""
        if meant.user_id:
            return len(self._counts) - self._addresses >= MOST_PEOPLE
        return self._addresses >= MOST_ADDRESSES

    async def _event(self, meant: Meant, count: Count) -> AuditEvent:
        """Build the event; its company is looked up here, before the log is locked."""
        user = await self._find_user(meant.user_id) if meant.user_id else None
        details = {"count": str(count.times), "addresses": " ".join(sorted(count.places))}
        if meant.action == REFUSED:
            details["route"] = count.route
        return AuditEvent(
            at=count.at,
            actor=_actor(meant, count, user),
            action=meant.action,
            subject=_subject(meant),
            details=details,
            trace_id=count.trace_id,
            companies=None if meant.account_id else user.companies if user else frozenset(),
        )


def _actor(meant: Meant, count: Count, user: User | None) -> str:
    """Return the actor: the address, if the user was only guessed at."""
    if meant.action in FAILED.values():
        return f"address:{meant.place or min(count.places)}"
    return f"user:{user.email if user else meant.user_id}"


def _subject(meant: Meant) -> str:
    if meant.account_id:
        return f"account:{meant.account_id}"
    return f"user:{meant.user_id}" if meant.user_id else f"address:{meant.place}"


def keeping(tally: AuditTally, keep: Keep | None) -> Keep:
    """Return the request observer: counts first, then stores the line where lines are stored."""

    def kept(at: datetime, record: AccessRecord, line: Fields) -> None:
        tally.on_request(record)
        if keep is not None:
            keep(at, record, line)

    return kept
