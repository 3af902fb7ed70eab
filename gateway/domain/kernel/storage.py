"""
What a store may answer instead of doing what it was asked.

Every port to storage raises ``StoreUnavailable`` when the store cannot answer. For a
write that means: it was not done, or nobody can tell.
"""

from __future__ import annotations


class StoreUnavailable(Exception):
    """The store did not answer, or answered that it cannot."""


class AlreadyExists(Exception):
    """A record with that key exists already; nothing was changed."""


class NothingToCollect(Exception):
    """The secret of an order was fetched already, or its time is over; nothing was changed."""


class BankAccountTaken(AlreadyExists):
    """The bank's account stands behind an account of another company; nothing was changed."""


class LimitReached(Exception):
    """A payout is above a limit of its credential; nothing was stored."""
