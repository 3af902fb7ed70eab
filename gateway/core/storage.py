"""
Errors of the stores.

Every port to storage raises ``StoreUnavailable`` when the store cannot answer. A write was then not
done, or its outcome is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Final


class StoreUnavailable(Exception):
    """The store did not answer, or answered that it cannot."""


class WritesRefused(StoreUnavailable):
    """The store answers, and takes no writes: it is full, or read-only."""


class AlreadyExists(Exception):
    """A record with that key exists already; nothing was changed."""


class NothingToCollect(Exception):
    """The secret of an order was fetched already, or its time is over; nothing was changed."""


class BankAccountTaken(AlreadyExists):
    """The bank's account stands behind an account of another company; nothing was changed."""


class LimitReached(Exception):
    """Something is above a limit, as a payout above one of its credential; nothing was stored."""


LEASE: Final = timedelta(seconds=30)
"""A worker that was killed leaves its tasks to the others after this time."""
LEASE_AHEAD: Final = LEASE * 2
"""No lease ends later than that from now, for the clocks of several machines are seconds apart. One
that does was taken before a clock was put back."""


@dataclass(slots=True)
class Writes:
    """
    Whether a process can write to its store.

    Attributes:
        are_refused: Whether the last trial write was refused, and not only unanswered.
    """

    are_refused: bool = False
