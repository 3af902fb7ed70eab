"""
What looks have found, stored in batches: the next look, and the claim let go.

Each gets the result that it would get alone. Of many, rows that another transaction has locked are
left to be written alone, so that two batches never wait for each other; see ``writes``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlalchemy import Insert, Select, Update, and_, case, insert, select, update
from sqlalchemy.ext.asyncio.engine import AsyncConnection

from gateway.payouts.event_store import event_row
from gateway.payouts.rows import key_columns
from gateway.payouts.schedule import Checked
from gateway.store.kernel.batching import BatchLimits, BatchQueue, faults_of_rows
from gateway.store.kernel.database import Database, failures_as_ours
from gateway.store.kernel.hot_statements import (
    EXECUTE_MANY,
    Among,
    BulkParameters,
    Key,
    Types,
    bound,
)
from gateway.store.tables.columns import reference_digest
from gateway.store.tables.core import attempts, payout_events, payouts

_KEY = (payouts.c.account_id, payouts.c.reference_sha256)
_HELD = select(*_KEY, payouts.c.check_owner).with_for_update(skip_locked=True)
_NAMES = ("account_id", "reference_sha256")
_NOTED = ("next_check_at", "review", "held_until")
_EVENT = [each.name for each in payout_events.c if each.name != "number"]


@cache
def _held(among: Among) -> Select[*tuple[Any, ...]]:
    return _HELD.where(among(_KEY, "keys"))


@cache
def _release(bulk: BulkParameters) -> Update:
    """Let claims go; note what was found only where the payout is as it was then."""
    was = (*_NAMES, "check_owner", "state", "attempt")
    types: Types = {f"was_{name}": payouts.c[name].type for name in was}
    given = bulk.parameters({**types, **{f"new_{each}": payouts.c[each].type for each in _NOTED}})
    stands = and_(payouts.c.state == given["was_state"], payouts.c.attempt == given["was_attempt"])
    noted = {name: case((stands, given[f"new_{name}"]), else_=payouts.c[name]) for name in _NOTED}
    return (
        update(payouts)
        .where(*(payouts.c[name] == given[f"was_{name}"] for name in was[:3]))
        .values(**noted, check_owner=None, check_until=None)
    )


@cache
def _look(bulk: BulkParameters) -> Update:
    """Note in the tries when the bank was asked."""
    was, new = (*_NAMES, "number"), ("last_probe_at", "next_probe_at")
    types: Types = {f"was_{name}": attempts.c[name].type for name in was}
    given = bulk.parameters({**types, **{f"new_{each}": attempts.c[each].type for each in new}})
    return (
        update(attempts)
        .where(*(attempts.c[name] == given[f"was_{name}"] for name in was))
        .values({name: given[f"new_{name}"] for name in new})
    )


@cache
def _tell(bulk: BulkParameters) -> Insert:
    """Add events."""
    events = {name: payout_events.c[name].type for name in _EVENT}
    return bulk.insert_rows(insert(payout_events), events)


class CheckWriter:
    """Every note of a look into a database, in batches; a caller is answered after the commit."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._queue: BatchQueue[Checked, bool] = BatchQueue(
            self._commit,
            BatchLimits(count=1, queue_s=database.checkout_s, whole_s=database.whole_s),
        )

    async def write(self, checked: Checked) -> bool:
        """
        Note one; False when somebody else has the claim by now, and nothing was done.

        Raises:
            StoreUnavailable: it was not done; or its commit was asked for, and the answer is lost.
        """
        with failures_as_ours():
            return await self._queue.ask(checked)

    async def close(self) -> None:
        """Finish what was asked for."""
        await self._queue.close()

    async def _commit(self, checks: Sequence[Checked]) -> Sequence[bool | None]:
        async with self._database.writing() as connection:
            with faults_of_rows(of=len(checks)):
                if len(checks) == 1:
                    return [await self._alone(connection, checks[0])]
                return await self._many(connection, checks)

    async def _alone(self, connection: AsyncConnection, checked: Checked) -> bool:
        release = _release(EXECUTE_MANY)
        if (await connection.execute(release, _release_values(checked))).rowcount == 0:
            return False
        await self._note(connection, EXECUTE_MANY, [checked])
        return True

    async def _many(
        self, connection: AsyncConnection, checks: Sequence[Checked]
    ) -> Sequence[bool | None]:
        """Note those whose claim holds; None for a row that is locked, or in the batch before."""
        firsts = {_key(each): number for number, each in reversed(list(enumerate(checks)))}
        held = _held(self._database.among)
        owners = {
            firsts[row.account_id, row.reference_sha256]: row.check_owner
            for row in (await connection.execute(held, bound("keys", list(firsts)))).all()
        }
        results = {number: checks[number].owner == owner for number, owner in owners.items()}
        done = [checks[number] for number, is_held in results.items() if is_held]
        if done:
            bulk = self._database.bulk
            rows = bulk.bind([_release_values(each) for each in done])
            await connection.execute(_release(bulk), rows)
            await self._note(connection, bulk, done)
        return [results.get(number) for number in range(len(checks))]

    async def _note(
        self, connection: AsyncConnection, bulk: BulkParameters, done: Sequence[Checked]
    ) -> None:
        """Note the looks in the tries, and what the banks said as events."""
        await connection.execute(_look(bulk), bulk.bind([_look_values(each) for each in done]))
        heard = [
            event_row(each.heard, self._database.facts) for each in done if each.heard is not None
        ]
        if heard:
            await connection.execute(_tell(bulk), bulk.bind(heard))


def _key(checked: Checked) -> Key:
    return checked.account_id, reference_digest(checked.reference)


def _release_values(checked: Checked) -> dict[str, object]:
    key = key_columns(checked.account_id, checked.reference)
    return {
        **{f"was_{name}": value for name, value in key.items()},
        "was_check_owner": checked.owner,
        "was_state": checked.state.value,
        "was_attempt": checked.attempt,
        "new_next_check_at": checked.next_check_at,
        "new_review": checked.review,
        "new_held_until": checked.held_until,
    }


def _look_values(checked: Checked) -> dict[str, object]:
    key = key_columns(checked.account_id, checked.reference)
    return {
        **{f"was_{name}": value for name, value in key.items()},
        "was_number": checked.attempt,
        "new_last_probe_at": checked.at,
        "new_next_probe_at": checked.next_check_at,
    }
