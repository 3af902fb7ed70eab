"""Verification of the audit log: every link, then the head."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Sequence
from datetime import UTC
from typing import Final

from gateway.core.audit import AcceptedBreak, AuditBreak, AuditEvent, AuditHead
from gateway.store.kernel.chain import BEGINNING, NO_HASH, ChainKeys, KeyAbsent
from gateway.store.tables import columns
from gateway.store.tables.columns import Record

BROKEN: Final = "audit.broken"
"""The act of finding a head that was not ours; see ``audit.append``."""
ACCEPTED: Final = "audit.break_accepted"
"""The act of accepting a break, by two people."""


class Walk:
    """
    A verification of the whole log; every method raises ValueError for the first broken link.

    Attributes:
        number: The last verified event.
        reached: Its hash.
    """

    def __init__(
        self,
        keys: ChainKeys,
        kept: AuditHead | None = None,
        accepted: Sequence[AcceptedBreak] = (),
    ) -> None:
        """
        Verify with these keys, and check ``kept``, an earlier, externally stored head.

        A break in ``accepted`` counts only once its own event has been verified.
        """
        self._keys = keys
        self._kept = kept
        self._accepted = accepted
        self._passed: dict[int, AcceptedBreak] = {}
        self._stretch: Stretch | None = None
        self.number = 0
        self.reached = NO_HASH

    def step(self, row: Record) -> None:
        """Verify the next event."""
        if self._stretch is not None:
            self._pass(row, self._stretch)
            return
        try:
            self._follow(row, self.number, self.reached)
        except ValueError as problem:
            if not self._accepted:
                raise
            self._pass(row, Stretch(self.number + 1, self.reached, problem))
            return
        if row.number in self._passed and self._passed[row.number] == accepted_break(row):
            del self._passed[row.number]
        self._compare(row)
        self._reach(row)

    def follows(self, previous: Record, row: Record) -> bool:
        """Return whether an event is chained to the stored hash of the one before."""
        try:
            self._follow(row, previous.number, previous.hash)
        except ValueError:
            return False
        return True

    def _follow(self, row: Record, before: int, reached: bytes) -> None:
        number = before + 1
        if row.number != number or not row.key_id:
            raise broken(number)
        try:
            expected = self._keys.link(row.key_id, reached, number, event_of(row))
        except KeyAbsent:
            raise
        except ValueError as problem:
            raise broken(number) from problem
        if not hmac.compare_digest(row.hash, expected) or row.action == BROKEN:
            raise broken(number)

    def _pass(self, row: Record, stretch: Stretch) -> None:
        """Skip an unprovable event, if an accepted break may contain it."""
        stretch.add(row)
        self._compare(row)
        found = [each for each in self._accepted if stretch.may_become(each.found)]
        for each in found:
            if each.found == stretch.until(row.number, each.found.problem):
                self._stretch, self._passed[each.number] = None, each
                self._reach(row)
                return
        if not found:
            raise stretch.problem
        self._stretch = stretch

    def _reach(self, row: Record) -> None:
        """Continue after an event."""
        self.number, self.reached = row.number, row.hash

    def end(self, head: AuditHead, last: int) -> None:
        """
        Compare the last hash with the head, and the head with its seal.

        Args:
            head: As of before the verification.
            last: The highest event number then.
        """
        if self._stretch is not None:
            raise self._stretch.problem
        beyond = self.number + 1
        if (head.number, last) != (self.number, self.number) or head.hash != self.reached:
            raise broken(beyond)
        check_seal(self._keys, head)
        if self._kept is not None and self._kept.number > self.number:
            raise cut_before(self._kept.number, self.number)
        for each in self._passed.values():
            raise broken(each.found.first)

    def _compare(self, row: Record) -> None:
        """Compare the log with the externally stored head, at the head's number."""
        kept = self._kept
        if kept is None or kept.number != row.number:
            return
        if row.hash[: len(kept.hash)] != kept.hash:
            message = f"event {row.number} is not the one that was kept: the log was made anew"
            raise ValueError(message)


class Stretch:
    """Consecutive events that cannot be proven."""

    def __init__(self, first: int, after: bytes, problem: ValueError) -> None:
        """Begin at the event that does not chain to the hash ``after``."""
        self.problem = problem
        self._first = first
        self._after = after.hex()
        self._last = 0
        self._digest = hashlib.sha256()

    def add(self, row: Record) -> None:
        """Take the next event, as it is stored."""
        self._last = row.number
        stored = (
            *(row.number, row.at.astimezone(UTC).isoformat(), row.actor, row.action, row.subject),
            *(row.details, row.trace_id, row.companies, row.key_id, row.hash.hex()),
        )
        self._digest.update(json.dumps(stored).encode())

    def may_become(self, found: AuditBreak) -> bool:
        """Return whether a break begins like this one and does not end before it."""
        begins = (self._first, self._after)
        return begins == (found.first, found.after) and self._last <= found.last

    def until(self, last: int, problem: str) -> AuditBreak:
        """Return the events so far as a break."""
        digest = self._digest.hexdigest()
        return AuditBreak(
            first=self._first, last=last, after=self._after, digest=digest, problem=problem
        )


def accepted_break(row: Record) -> AcceptedBreak | None:
    """Read the acceptance of a break; None for another event, or one that accepts later events."""
    try:
        event = event_of(row)
        found = AuditBreak(
            first=int(event.details["first"]),
            last=int(event.details["last"]),
            after=event.details["after"],
            digest=event.details["digest"],
            problem=event.details["problem"],
        )
        proposed_by, reason = event.details["proposed_by"], event.details["reason"]
    except (KeyError, ValueError):
        return None
    if row.action != ACCEPTED or not found.first <= found.last < row.number:
        return None
    return AcceptedBreak(
        number=row.number,
        at=event.at,
        found=found,
        proposed_by=proposed_by,
        approved_by=event.actor,
        reason=reason,
    )


def check_seal(keys: ChainKeys, head: AuditHead) -> None:
    """
    Compare a head with its seal; that of a log without an event has none.

    Raises:
        ValueError: the head was not written by a process with our keys; KeyAbsent where that
            cannot be said.
    """
    if head == BEGINNING:
        return
    if not head.key_id or not hmac.compare_digest(head.seal, keys.seal(head)):
        raise broken(head.number + 1)


def event_of(row: Record) -> AuditEvent:
    """Build an event from its row."""
    return AuditEvent(
        at=row.at,
        actor=row.actor,
        action=row.action,
        subject=row.subject,
        details=columns.read(row.details),
        trace_id=row.trace_id,
        companies=frozenset(row.companies.split()),
    )


def broken(number: int) -> ValueError:
    """Return the error for a broken chain."""
    return ValueError(f"the audit log is broken at event {number}")


def cut_before(kept: int, number: int) -> ValueError:
    """Return the error for a log that was longer before."""
    return ValueError(f"the audit log ends at event {number}, and had reached event {kept}")
