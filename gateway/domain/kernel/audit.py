"""The audit log: what is kept of every act that somebody may have to answer for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvent:
    """
    An act worth remembering for years; stored in the transaction it describes.

    Attributes:
        actor: Who did it: a person, ``cli`` or ``system``.
        action: A fixed word such as ``credential.issued``.
        subject: What it was done to: a kind and an id, ``account:<uuid>``.
        details: Flat texts; never a secret.
        companies: Whose it is, by which it is shown to people who are limited
            to companies; None has the store find it by the subject, empty is
            for people of no limit alone.
    """

    at: datetime
    actor: str
    action: str
    subject: str
    details: Mapping[str, str] = field(default_factory=dict)
    trace_id: str = ""
    companies: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class AuditHead:
    """
    The end of the audit log.

    Attributes:
        number, hash: Of the last event; 0 and 32 zero bytes before the first.
        key_id: Names the key it is sealed under; empty where there was none.
        seal: What only somebody with that key can make of the rest.
    """

    number: int
    hash: bytes
    key_id: str = ""
    seal: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditBreak:
    """
    Events that cannot be proven, and exactly as they are stored.

    Attributes:
        first: The event at which the chain cannot be followed.
        last: The last such event; the one after it is chained to its stored hash again.
        after: The hash of the event before ``first``.
        digest: SHA-256 of all that is stored of these events, as hex.
        problem: Why the first one cannot be proven.
    """

    first: int
    last: int
    after: str
    digest: str
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedBreak:
    """
    A break that two people have accepted.

    Attributes:
        number: Of the event that says so.
        found: The break, and nothing but that.
    """

    number: int
    at: datetime
    found: AuditBreak
    proposed_by: str
    approved_by: str
    reason: str


class Audit(Protocol):
    """The append-only, hash-chained record of acts."""

    async def append(self, *events: AuditEvent) -> None:
        """Add events in one transaction."""
        ...

    async def seal(self, at: datetime) -> None:
        """Seal a log that was kept without a key; nothing happens to one that is sealed."""
        ...

    async def head(self) -> AuditHead:
        """Return the head as it is now; ValueError when it is not of our making."""
        ...

    async def verify(self, kept: AuditHead | None = None) -> int:
        """
        Walk the chain; return its length. ValueError names the first broken link.

        A break that was accepted is passed, as long as it is exactly that one. With
        ``kept``, a head of before that was kept elsewhere, it also finds a log that was
        cut or made anew together with its head.
        """
        ...

    async def accepted(self) -> Sequence[AcceptedBreak]:
        """Return the breaks that were accepted, oldest first; proven where ``verify`` succeeds."""
        ...

    async def find_break(self) -> AuditBreak | None:
        """
        Return the first break that was not accepted; None where the log is whole.

        ValueError where the events hold and their end does not: the next act makes an event of
        that, which is a break.
        """
        ...

    async def accept(self, found: AuditBreak, event: AuditEvent) -> None:
        """
        Add the event that accepts a break.

        It is added after an end that is sealed under an unknown key, too, where the last event is
        stored as that end says. ValueError where the end is not of our making.
        """
        ...
