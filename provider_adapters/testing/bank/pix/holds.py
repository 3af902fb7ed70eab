"""Holds: accepted payouts under precautionary analysis, each until a deadline."""

from __future__ import annotations

from typing import Final

from provider_adapters.testing.bank.kernel import refusals
from provider_adapters.testing.bank.kernel.books import Books

LONGEST_S: Final = 3600
"""Seconds; the central bank gives a bank no longer to decide on a Pix that looks like fraud."""

_SECOND: Final = 1_000_000


def hold(books: Books, payout_seq: int, seconds: int) -> None:
    """
    Hold a payout that is under way; what was to happen to it happens at the deadline.

    Raises:
        Refusal: ``INVALID_REQUEST`` for one that is not under way, or a wrong length.
    """
    _check(seconds)
    if not _is_under_way(books, payout_seq):
        problem = "the payout is not under way"
        raise refusals.invalid(problem)
    with books.database.transaction():
        _hold(books, payout_seq, seconds)


def hold_next(books: Books, account_id: str, seconds: int) -> None:
    """Hold the next payout that the account orders; raises as ``hold`` does."""
    _check(seconds)
    books.database.run(
        "INSERT INTO holds_wanted (account_id, seconds) VALUES (?, ?)"
        " ON CONFLICT (account_id) DO UPDATE SET seconds = excluded.seconds",
        (account_id, seconds),
    )


def hold_if_wanted(books: Books, account_id: str, payout_seq: int) -> None:
    """Hold a payout just ordered, if ``hold_next`` was told so; call only inside a transaction."""
    wanted = books.database.one(
        "DELETE FROM holds_wanted WHERE account_id = ? RETURNING seconds", (account_id,)
    )
    if wanted:
        _hold(books, payout_seq, wanted["seconds"])


def release(books: Books, payout_seq: int, *, refuse: bool) -> None:
    """
    End a hold before its deadline: the payout goes on, or fails.

    Raises:
        Refusal: ``INVALID_REQUEST`` for a payout that is not held.
    """
    held = "SELECT 1 FROM holds WHERE payout_seq = ?"
    if not (_is_under_way(books, payout_seq) and books.database.one(held, (payout_seq,))):
        problem = "the payout is not held"
        raise refusals.invalid(problem)
    with books.database.transaction():
        books.database.run("DELETE FROM holds WHERE payout_seq = ?", (payout_seq,))
        _due(books, payout_seq, books.clock.micros())
        if refuse:
            books.database.run("UPDATE payouts SET step = 'fail' WHERE seq = ?", (payout_seq,))


def _check(seconds: int) -> None:
    if not 1 <= seconds <= LONGEST_S:
        problem = f"seconds is 1 to {LONGEST_S}"
        raise refusals.invalid(problem)


def _is_under_way(books: Books, payout_seq: int) -> bool:
    sql = "SELECT 1 FROM payouts WHERE seq = ? AND state = 'processing'"
    return books.database.one(sql, (payout_seq,)) is not None


def _hold(books: Books, payout_seq: int, seconds: int) -> None:
    until = books.clock.micros() + seconds * _SECOND
    books.database.run(
        "INSERT INTO holds (payout_seq, until) VALUES (?, ?)"
        " ON CONFLICT (payout_seq) DO UPDATE SET until = excluded.until",
        (payout_seq, until),
    )
    _due(books, payout_seq, until)


def _due(books: Books, payout_seq: int, at: int) -> None:
    books.database.run("UPDATE payouts SET due_at = ? WHERE seq = ?", (at, payout_seq))
