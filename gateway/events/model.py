"""Events of an account, and the cursor of its feed."""

from __future__ import annotations

import base64
import binascii
import struct
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final

import msgspec

from gateway.security.secrets import Random

FEED_KEPT: Final = timedelta(days=30)
"""How old the oldest event of a feed is, and a cursor that is still good."""
LONGEST_WAIT_S: Final = 25
"""Below the half minute after which common proxies give a silent answer up."""

_ID: Final = "evt_"
_ID_BYTES: Final = 16
_CURSOR: Final = struct.Struct(">16sQI")
_ONE_DAY: Final = timedelta(days=1)


class EventType(StrEnum):
    """What an event tells."""

    PAYOUT_PAID = "payout.paid"
    PAYOUT_FAILED = "payout.failed"
    PAYOUT_RETURNED = "payout.returned"
    PIX_RECEIVED = "pix.received"
    PIX_REFUNDED = "pix.refunded"
    CREDENTIAL_EXPIRING = "credential.expiring"


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """
    A change that a partner may want to read about.

    Attributes:
        id: Unique, and the same for ever.
        at: By the clock of the process that stored it.
        reference: Of a payout or a charge.
        e2e_id: The end-to-end id of a payment received.
        return_id: The bank's id of a return, of money of ours or of a payer's.
        client_id: Of a credential.
    """

    id: str
    account_id: str
    type: EventType
    at: datetime
    reference: str | None = None
    e2e_id: str | None = None
    return_id: str | None = None
    client_id: str | None = None


def new_event_id(random: Random) -> str:
    """Make ``evt_`` and 32 hexadecimal digits, as the database does for the end of a payout."""
    return _ID + random(_ID_BYTES).hex()


@dataclass(frozen=True, slots=True)
class Cursor:
    """
    A place in the feed of an account.

    Attributes:
        position: Of the last event in front of it; 0 for the beginning.
        at: No event behind it is older, but for the time that a transaction takes.
    """

    account_id: str
    position: int
    at: datetime

    def __str__(self) -> str:
        """Write it as callers get it; what is in it is ours to change."""
        packed = _CURSOR.pack(
            uuid.UUID(self.account_id).bytes, self.position, int(self.at.timestamp())
        )
        return base64.urlsafe_b64encode(packed).rstrip(b"=").decode()

    @classmethod
    def parse(cls, text: str) -> Cursor:
        """
        Read a cursor that a caller got.

        Raises:
            ValueError: it has another form.
        """
        try:
            packed = base64.b64decode(f"{text}==", altchars=b"-_", validate=True)
            account, position, at = _CURSOR.unpack(packed)
        except (binascii.Error, struct.error) as problem:
            raise ValueError from problem
        found = cls(str(uuid.UUID(bytes=account)), position, datetime.fromtimestamp(at, UTC))
        if str(found) != text or position >= 1 << 63:
            raise ValueError
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """
    A request for a part of a feed.

    Attributes:
        after: None for the oldest event that is kept.
        types: Other events are passed over; empty for all.
        limit: The most events of an answer.
        wait_s: For how long to wait for one where there is none.
    """

    after: Cursor | None
    types: frozenset[EventType]
    limit: int
    wait_s: int = 0


@dataclass(frozen=True, slots=True)
class FeedPart:
    """Some events in the order of the feed, and the place behind them."""

    events: Sequence[Event]
    next: Cursor


def place(account_id: str, position: int, at: datetime, now: datetime) -> Cursor:
    """
    Make a cursor behind an event of ``at``; ``at`` is now where no event follows.

    Whoever has just read the oldest events of all has a day for the next.
    """
    return Cursor(account_id, position, max(at, now - FEED_KEPT + _ONE_DAY))
