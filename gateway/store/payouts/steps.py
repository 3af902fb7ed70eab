"""What is written of a payout, each by a statement of its own that waits for whom it meets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Table, Update, bindparam, insert, select, update
from sqlalchemy.ext.asyncio.engine import AsyncConnection

from gateway.domain.kernel.storage import LimitReached
from gateway.domain.payouts.payouts import SUCCESSORS, Attempt, Change, Payout, PayoutState
from gateway.store.kernel.database import Database
from gateway.store.payouts.limits import hold, refuse_above
from gateway.store.payouts.rows import (
    attempt_row,
    claim_columns,
    ending_columns,
    key_columns,
    payout_row,
    restored_payout,
    step_columns,
)
from gateway.store.tables.core import attempts, payouts


@dataclass(frozen=True, slots=True)
class Intent:
    """A new payout and its first try; ``limited``: its credential has limits."""

    payout: Payout
    attempt: Attempt
    limited: bool = False


@dataclass(frozen=True, slots=True)
class Claim:
    """The next try of a payout that was not sent; see ``StoredPayouts.claim``."""

    payout: Payout
    attempt: Attempt
    limited: bool = False


Write = Intent | Claim | Change
WriteResult = Payout | bool | LimitReached
"""True: done. False: it stood elsewhere. A payout: that row was there first. Else it was above."""

_FIND = select(payouts).where(
    payouts.c.account_id == bindparam("account_id"),
    payouts.c.reference_sha256 == bindparam("reference_sha256"),
)


async def write_one(database: Database, connection: AsyncConnection, write: Write) -> WriteResult:
    """
    Do one inside a transaction that holds nothing else.

    Raises:
        LimitReached: it is above a limit of its credential; the transaction is to be undone.
    """
    match write:
        case Intent():
            return await _add(database, connection, write)
        case Claim():
            return await _claim(connection, write)
        case Change():
            return await take_step(connection, write)


async def take_step(connection: AsyncConnection, change: Change) -> bool:
    """Do a step inside a transaction of the caller's; see ``StoredPayouts.record``."""
    check(change)
    if (await connection.execute(_step(change))).rowcount == 0:
        return False
    await connection.execute(_ending(change))
    return True


def check(change: Change) -> None:
    """Refuse a step the states do not allow; a mistake of ours, found before the store is asked."""
    if change.after is PayoutState.SENDING:
        problem = "only a claim leads to SENDING"
        raise ValueError(problem)
    allowed = {state for state, after in SUCCESSORS.items() if change.after in after}
    if not change.before or not change.before <= allowed:
        problem = f"{change.after} does not follow each of {sorted(change.before)}"
        raise ValueError(problem)


async def _add(database: Database, connection: AsyncConnection, intent: Intent) -> WriteResult:
    key = key_columns(intent.payout.account_id, intent.payout.reference)
    held = await hold(connection, intent.payout) if intent.limited else None
    if not await database.add(connection, payouts, payout_row(intent.payout)):
        return restored_payout((await connection.execute(_FIND, key)).one())
    if held is not None:
        await refuse_above(connection, held, intent.payout)
    await connection.execute(insert(attempts), key | attempt_row(intent.attempt))
    return True


async def _claim(connection: AsyncConnection, claim: Claim) -> bool:
    key = key_columns(claim.payout.account_id, claim.payout.reference)
    held = await hold(connection, claim.payout) if claim.limited else None
    taking = (
        update(payouts)
        .where(*_is(payouts, key))
        .where(payouts.c.state == PayoutState.NOT_SENT.value)
        .where(payouts.c.attempt == claim.attempt.number - 1)
        .values(claim_columns(claim.payout, claim.attempt))
    )
    if (await connection.execute(taking)).rowcount == 0:
        return False
    if held is not None:
        await refuse_above(connection, held, claim.payout)
    await connection.execute(insert(attempts), key | attempt_row(claim.attempt))
    return True


def _is(table: Table, key: Mapping[str, object]) -> Iterator[ColumnElement[bool]]:
    for name, value in key.items():
        yield table.c[name] == value


def _step(change: Change) -> Update:
    return (
        update(payouts)
        .where(*_is(payouts, key_columns(change.account_id, change.reference)))
        .where(payouts.c.attempt == change.attempt)
        .where(payouts.c.state.in_([state.value for state in change.before]))
        .values(step_columns(change))
    )


def _ending(change: Change) -> Update:
    return (
        update(attempts)
        .where(*_is(attempts, key_columns(change.account_id, change.reference)))
        .where(attempts.c.number == change.attempt)
        .values(ending_columns(change))
    )
