"""Walking along the chain of the audit log: every link, and then the head."""

from __future__ import annotations

import hmac
from typing import Final

from gateway.domain.kernel.audit import AuditEvent, AuditHead
from gateway.store.kernel.chain import NO_HASH, NO_KEY, ChainKeys, KeyAbsent
from gateway.store.tables import columns
from gateway.store.tables.columns import Record

BROKEN: Final = "audit.broken"
"""The act of finding a head that was not ours; see ``audit.append``."""


class Walk:
    """
    A walk from the first event on; every method raises ValueError, naming the first broken link.

    Attributes:
        number: The last event that was walked.
        reached: Its hash.
    """

    def __init__(self, keys: ChainKeys, kept: AuditHead | None = None) -> None:
        """Walk under these keys, and past ``kept``: a head of before, kept elsewhere."""
        self._keys = keys
        self._kept = kept
        self._is_sealed = False
        self.number = 0
        self.reached = NO_HASH

    def step(self, row: Record) -> None:
        """Take the next event."""
        number = self.number + 1
        if row.number != number or (self._is_sealed and row.key_id == NO_KEY):
            raise broken(number)
        try:
            expected = self._keys.chained(row.key_id, self.reached, number, event_of(row))
        except KeyAbsent as problem:
            raise key_absent(number, row.key_id) from problem
        except ValueError as problem:
            raise broken(number) from problem
        if not hmac.compare_digest(row.hash, expected) or row.action == BROKEN:
            raise broken(number)
        self._is_sealed = row.key_id != NO_KEY
        self.number, self.reached = number, expected
        self._compare()

    def end(self, head: AuditHead, last: int) -> None:
        """
        Compare what was reached with the head, and the head with its seal.

        Args:
            head: As it was before the walk began.
            last: The highest number that any event had then.
        """
        beyond = self.number + 1
        if (head.number, last) != (self.number, self.number) or head.hash != self.reached:
            raise broken(beyond)
        check_seal(self._keys, head)
        if self._kept is not None and self._kept.number > self.number:
            raise cut_before(self._kept.number, self.number)

    def _compare(self) -> None:
        """Compare with the head that was kept elsewhere, where it ends here."""
        kept = self._kept
        if kept is None or kept.number != self.number:
            return
        if self.reached[: len(kept.hash)] != kept.hash:
            message = f"event {self.number} is not the one that was kept: the log was made anew"
            raise ValueError(message)


def check_seal(keys: ChainKeys, head: AuditHead) -> None:
    """
    Compare a head with its seal.

    Raises:
        ValueError: it was not written by a process with our keys.
    """
    if head.key_id == NO_KEY and keys.current != NO_KEY:
        message = f"the audit log is not sealed at event {head.number}, its last"
        raise ValueError(message)
    try:
        is_ours = hmac.compare_digest(head.seal, keys.seal(head))
    except KeyAbsent as problem:
        raise key_absent(head.number, head.key_id) from problem
    if not is_ours:
        raise broken(head.number + 1)


def event_of(row: Record) -> AuditEvent:
    """Read an event back."""
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
    """Say where the chain ends to hold."""
    return ValueError(f"the audit log is broken at event {number}")


def key_absent(number: int, key_id: str) -> ValueError:
    """Say which key is missing to go on."""
    return ValueError(f"event {number} is sealed under the key {key_id}, which is not configured")


def cut_before(kept: int, number: int) -> ValueError:
    """Say that the log was longer."""
    return ValueError(f"the audit log ends at event {number}, and had reached event {kept}")
