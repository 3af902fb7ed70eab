"""Opinions of people on payouts in review, and the step that ends a review."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import ColumnElement, Select, Update, and_, or_, select, update
from sqlalchemy.ext.asyncio.engine import AsyncConnection

from gateway.audit import store as audit_log
from gateway.core.audit import AuditEvent
from gateway.core.money import Money
from gateway.payouts.event_store import append
from gateway.payouts.events import judged, opinion_withdrawn
from gateway.payouts.model import Change, Opinion, PayoutState, Verdict
from gateway.payouts.rows import key_columns
from gateway.payouts.writes import record_step
from gateway.store.kernel.database import Database
from gateway.store.tables.columns import Record
from gateway.store.tables.core import opinions, payouts


class StoredReviews:
    """Opinions on payouts that no proof can settle."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, opinion: Opinion, event: AuditEvent) -> Sequence[Opinion]:
        """
        Store one and return all on this payout, oldest first.

        A person has one opinion in a review: a second one there changes nothing. In a later
        review, of another attempt or state, it takes the place of the earlier one.
        """
        row = _key(opinion) | _judgement(opinion)
        async with self._database.writing() as connection:
            is_new = await self._database.add(connection, opinions, row)
            if is_new or (await connection.execute(_replacing(opinion))).rowcount:
                await append(self._database, connection, judged(opinion))
                await audit_log.append(connection, event)
            return await _of(connection, opinion.account_id, opinion.reference)

    async def of(self, account_id: str, reference: str) -> Sequence[Opinion]:
        """Return all on one payout, oldest first."""
        async with self._database.reading() as connection:
            return await _of(connection, account_id, reference)

    async def withdraw(self, opinion: Opinion, event: AuditEvent) -> bool:
        """Take one back and record it; False when it stands no more, or the review is over."""
        async with self._database.writing() as connection:
            if not await _hold(connection, opinion.account_id, opinion.reference):
                return False
            if not (await connection.execute(_withdrawing(opinion))).rowcount:
                return False
            await append(self._database, connection, opinion_withdrawn(opinion, event.at))
            await audit_log.append(connection, event)
        return True

    async def decide(self, change: Change, by: Sequence[Opinion], event: AuditEvent) -> bool:
        """Do the final step and record it; False when it or an opinion stands no more."""
        async with self._database.writing() as connection:
            await _hold(connection, change.account_id, change.reference)
            given = await _of(connection, change.account_id, change.reference)
            if not all(each in given for each in by):
                return False
            if not await record_step(self._database, connection, change):
                return False
            await audit_log.append(connection, event)
        return True


def restored_opinion(row: Record, reference: str) -> Opinion:
    """Return the opinion of a row, which knows the digest of its reference alone."""
    return Opinion(
        account_id=row.account_id,
        reference=reference,
        verdict=Verdict(row.verdict),
        moved=None if row.centavos is None else Money(row.centavos),
        reason=row.reason,
        by=row.by,
        at=row.at,
        attempt=row.attempt,
        state=None if row.state is None else PayoutState(row.state),
    )


def _key(opinion: Opinion) -> dict[str, object]:
    return key_columns(opinion.account_id, opinion.reference) | {"by": opinion.by}


def _judgement(opinion: Opinion) -> dict[str, object]:
    return {
        "verdict": opinion.verdict.value,
        "centavos": None if opinion.moved is None else opinion.moved.centavos,
        "reason": opinion.reason,
        "at": opinion.at,
        "attempt": opinion.attempt,
        "state": opinion.state and opinion.state.value,
    }


def _replacing(opinion: Opinion) -> Update:
    """Replace the opinion that this person gave in an earlier review."""
    return (
        update(opinions)
        .where(_all_equal(_key(opinion)))
        .where(
            or_(
                opinions.c.attempt != opinion.attempt,
                opinions.c.state.is_distinct_from(opinion.state and opinion.state.value),
            )
        )
        .values(_judgement(opinion))
    )


def _withdrawing(opinion: Opinion) -> Update:
    """Take an opinion out of its review, if it stands there as it was read."""
    return (
        update(opinions)
        .where(_all_equal(_key(opinion) | _judgement(opinion)))
        .values(_judgement(opinion.withdrawn()))
    )


async def _hold(connection: AsyncConnection, account_id: str, reference: str) -> bool:
    """Lock a payout, so that no opinion is withdrawn beside a decision; say if it is in review."""
    key = key_columns(account_id, reference)
    wanted = select(payouts.c.review).where(*(payouts.c[name] == key[name] for name in key))
    return bool((await connection.execute(wanted.with_for_update())).scalar())


def _all_equal(columns: Mapping[str, object]) -> ColumnElement[bool]:
    return and_(*(opinions.c[name] == value for name, value in columns.items()))


async def _of(connection: AsyncConnection, account_id: str, reference: str) -> Sequence[Opinion]:
    rows = (await connection.execute(_all(account_id, reference))).all()
    return [restored_opinion(row, reference) for row in rows]


def _all(account_id: str, reference: str) -> Select[tuple[object, ...]]:
    return (
        select(opinions)
        .where(_all_equal(key_columns(account_id, reference)))
        .order_by(opinions.c.at, opinions.c.by)
    )
