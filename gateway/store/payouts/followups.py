"""
Payouts that are due for a check, and which process checks them.

A claim is a lease on the row, not a lock. When a process dies with one, another takes over after
the lease ends. Two checks at once do no harm: they only read at the bank, and their steps are
compare-and-set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import Update, and_, case, func, literal, or_, select, update
from sqlalchemy.ext.asyncio.engine import AsyncConnection

from gateway.domain.payouts.followups import Checked, Unsettled
from gateway.domain.payouts.payouts import Payout, PayoutState
from gateway.store.kernel.database import Database
from gateway.store.payouts.rows import key_columns, restored_payout
from gateway.store.tables.columns import Instant, Record
from gateway.store.tables.core import attempts, payouts

# A process checks two payouts of a provider at once, and its claims last a minute: fifty fit while
# a check takes two seconds. Another process takes over the rest.
_AT_ONCE = 50

_IN_DOUBT = payouts.c.state == PayoutState.UNKNOWN.value
_OPEN = payouts.c.state.in_([PayoutState.UNKNOWN.value, PayoutState.ACCEPTED.value])
UNRESOLVED = or_(_IN_DOUBT, payouts.c.review)
"""The outcome is not proven: unknown yet, or for people to find out."""
_UNRESOLVED = select(payouts).where(UNRESOLVED).order_by(payouts.c.created_at)
_STANDING = (
    select(
        payouts.c.provider,
        func.sum(case((_IN_DOUBT, 1), else_=0)).label("unresolved"),
        func.min(case((_IN_DOUBT, payouts.c.created_at))).label("oldest_at"),
        func.sum(case((payouts.c.review, 1), else_=0)).label("review"),
    )
    .where(or_(_OPEN, payouts.c.review))
    .group_by(payouts.c.provider)
)


class StoredFollowUps:
    """``FollowUps`` over a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim_due(self, owner: str, now: datetime, until: datetime) -> Sequence[Payout]:
        """
        Claim what is due and free, at most fifty; the claims end at ``until``.

        PostgreSQL skips rows that another process is claiming at this moment; SQLite has one
        writer at a time.
        """
        free = or_(payouts.c.check_until.is_(None), payouts.c.check_until <= now)
        due = (
            select(payouts.c.account_id, payouts.c.reference_sha256)
            .where(payouts.c.next_check_at <= now, free)
            .order_by(payouts.c.next_check_at)
            .limit(_AT_ONCE)
            .with_for_update(skip_locked=True)
        )
        async with self._database.writing() as connection:
            keys = (await connection.execute(due)).all()
            return [
                restored_payout(row)
                for key in keys
                for row in await _claim(connection, (key[0], key[1]), owner, until)
            ]

    async def checked(self, checked: Checked) -> bool:
        """
        Record a check and release the claim; False when another process has the claim by now.

        A payout that has changed since the check keeps the schedule of its last step.
        """
        key = key_columns(checked.account_id, checked.reference)
        check = (
            update(attempts)
            .where(*(attempts.c[name] == value for name, value in key.items()))
            .where(attempts.c.number == checked.attempt)
            .values(last_probe_at=checked.at, next_probe_at=checked.next_check_at)
        )
        async with self._database.writing() as connection:
            if (await connection.execute(_release(checked, key))).rowcount == 0:
                return False
            await connection.execute(check)
        return True

    async def unresolved(self) -> Sequence[Payout]:
        """Return every payout whose outcome is unknown or that is in review."""
        async with self._database.reading() as connection:
            rows = (await connection.execute(_UNRESOLVED)).all()
        return [restored_payout(row) for row in rows]

    async def find_by_key(self, provider_key: str) -> Payout | None:
        """Return the payout that a bank knows by this provider key."""
        known = select(payouts).where(payouts.c.provider_key == provider_key)
        async with self._database.reading() as connection:
            row = (await connection.execute(known)).first()
        return None if row is None else restored_payout(row)

    async def standing(self) -> Sequence[Unsettled]:
        """Count the unsettled payouts of each provider that has any."""
        async with self._database.reading() as connection:
            rows = (await connection.execute(_STANDING)).all()
        return [
            Unsettled(
                provider=row.provider,
                unresolved=int(row.unresolved),
                oldest_at=row.oldest_at,
                review=int(row.review),
            )
            for row in rows
        ]


async def _claim(
    connection: AsyncConnection, key: tuple[str, bytes], owner: str, until: datetime
) -> Sequence[Record]:
    """Claim one row and return it."""
    account_id, digest = key
    taken = (
        update(payouts)
        .where(payouts.c.account_id == account_id, payouts.c.reference_sha256 == digest)
        .values(check_owner=owner, check_until=until)
        .returning(payouts)
    )
    rows: Sequence[Record] = (await connection.execute(taken)).all()
    return rows


def _release(checked: Checked, key: Mapping[str, object]) -> Update:
    """Release a claim; note what the check found only if the payout is as it was then."""
    stands = and_(payouts.c.state == checked.state.value, payouts.c.attempt == checked.attempt)
    due = literal(checked.next_check_at, Instant)
    held = literal(checked.held_until, Instant)
    return (
        update(payouts)
        .where(*(payouts.c[name] == value for name, value in key.items()))
        .where(payouts.c.check_owner == checked.owner)
        .values(
            next_check_at=case((stands, due), else_=payouts.c.next_check_at),
            review=case((stands, checked.review), else_=payouts.c.review),
            held_until=case((stands, held), else_=payouts.c.held_until),
            check_owner=None,
            check_until=None,
        )
    )
