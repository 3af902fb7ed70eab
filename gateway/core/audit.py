"""Events of the audit log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

PAYOUT_RELEASED: Final = "payout.released"
"""The act of a person who ends the hold of a payout."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvent:
    """
    An audited act; stored in the transaction it describes.

    Attributes:
        actor: Who did it: a person, ``cli`` or ``system``.
        action: A fixed word such as ``credential.issued``.
        subject: The record concerned: a kind and an id, ``account:<uuid>``.
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
        key_id: Names the key it is sealed under; empty before the first event.
        seal: A keyed digest of the other fields.
    """

    number: int
    hash: bytes
    key_id: str = ""
    seal: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditBreak:
    """
    Consecutive unprovable events, exactly as stored.

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
        number: Number of the accepting event.
        found: The break.
    """

    number: int
    at: datetime
    found: AuditBreak
    proposed_by: str
    approved_by: str
    reason: str
