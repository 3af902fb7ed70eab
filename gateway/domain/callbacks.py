"""Callbacks: what banks tell us unasked. A reason to look, never a truth."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from gateway.domain.calls import Headers


class CallbackState(StrEnum):
    """What became of one."""

    RECEIVED = "received"
    DONE = "done"
    IGNORED = "ignored"
    FAILED = "failed"


class CallbackKind(StrEnum):
    """What it speaks of."""

    PAYOUT = "payout"
    CHARGE = "charge"
    REFUND = "refund"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Callback:
    """
    One that was proven to come from its bank.

    Attributes:
        id: A lower-case UUID.
        event: The bank's own name of it, or the SHA-256 of the body: with the
            provider it tells one that was seen before.
        subject: The provider key of a payout, the reference of a charge.
        body: As it came.
        tries: How often it was looked into.
        due_at: When to look into it; None when that is over.
        company_id: Whose account it speaks of; empty until that is known.
    """

    id: str
    provider: str
    event: str
    kind: CallbackKind
    subject: str
    received_at: datetime
    body: bytes = field(repr=False)
    state: CallbackState = CallbackState.RECEIVED
    tries: int = 0
    due_at: datetime | None = None
    handled_at: datetime | None = None
    company_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """
    What a proven callback says.

    Attributes:
        event: The bank's own name of it; the same one told twice is one.
        subject: The provider key of a payout or refund, the reference of a charge.
        account: The bank's own name of the account.
    """

    event: str
    kind: CallbackKind
    subject: str
    account: str


class CallbackProof(Protocol):
    """How one provider proves that a callback is its own."""

    def check(self, headers: Headers, body: bytes, token: str) -> Notice | None:
        """Return what it says; None when it is not proven, whatever is wrong."""
        ...

    def read(self, body: bytes) -> Notice:
        """Read a body that was proven when it came; its event is empty."""
        ...
