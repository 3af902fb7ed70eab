"""
Writes of payouts: intents, claims and steps, in batches of one or more.

Every write of a batch gets the result it would get alone, as if the writes came one after another.
What a batch of many cannot decide is written again as a batch of one, by the same statements. Only
three things depend on the number:

- Many first lock the rows they are about to change, and skip those that another transaction has
  locked, so that two batches never wait for each other. One delays nobody else: it waits for its
  row, and the number of changed rows says whether the payout was in the state it expects. That
  saves a round trip.
- Many leave a payout above a limit undecided, because another write of the batch may have used up
  the limit and may turn out to be a duplicate. One is written first and undone if it is above:
  writing waits for a rival with the same reference, and its payout is the result then. A refusal
  that overtakes such a rival would be followed by money.
- Many come as arrays where that saves a server work. For one row arrays cost PostgreSQL about half
  as much again as plain parameters, so one row comes as those. See ``BulkParameters``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import Insert, Select, Update, select
from sqlalchemy.ext.asyncio.engine import AsyncConnection

from gateway.domain.kernel.storage import LimitReached, StoreUnavailable
from gateway.domain.payouts.events import PayoutEvent, begun, stepped
from gateway.domain.payouts.payouts import SUCCESSORS, Attempt, Change, Payout, PayoutState
from gateway.store.kernel.batching import BatchLimits, BatchQueue
from gateway.store.kernel.database import Database, failures_as_ours, faults_of_rows
from gateway.store.kernel.hot_statements import (
    EXECUTE_MANY,
    Among,
    BulkParameters,
    BulkRow,
    Execution,
    Key,
    Result,
    bound,
)
from gateway.store.payouts.events import event_row
from gateway.store.payouts.rows import attempt_row, key_columns, payout_row, restored_payout
from gateway.store.payouts.statements import (
    Allowances,
    Statements,
    allowances,
    claim_values,
    ending_values,
    statements,
    step_values,
    telling_values,
)
from gateway.store.tables.columns import Record, reference_digest
from gateway.store.tables.core import payouts

_KEY = (payouts.c.account_id, payouts.c.reference_sha256)
_LOCK = select(*_KEY, payouts.c.state, payouts.c.attempt).with_for_update(skip_locked=True)


@dataclass(frozen=True, slots=True)
class Intent:
    """A new payout and its first attempt; ``limited`` says that its credential has limits."""

    payout: Payout
    attempt: Attempt
    limited: bool = False


@dataclass(frozen=True, slots=True)
class Claim:
    """The next attempt of a payout that was not sent; see ``StoredPayouts.claim``."""

    payout: Payout
    attempt: Attempt
    limited: bool = False


Write = Intent | Claim | Change
WriteResult = Payout | bool | LimitReached
"""
What became of a write.

True: done. False: the payout was in another state or attempt. A payout: it has the reference
already. LimitReached: the payout is above a limit of its credential. All but True: nothing was
written.
"""


def check(change: Change) -> None:
    """
    Check a step against the states before the store is asked.

    Raises:
        ValueError: the states do not allow it; a mistake in our code.
    """
    if change.after is PayoutState.SENDING:
        problem = "only a claim leads to SENDING"
        raise ValueError(problem)
    allowed = {state for state, after in SUCCESSORS.items() if change.after in after}
    if not change.before or not change.before <= allowed:
        problem = f"{change.after} does not follow each of {sorted(change.before)}"
        raise ValueError(problem)


class PayoutWriter:
    """
    Every write of payouts into a database, in batches.

    A commit waits for the disk, and writes that come meanwhile share the next one. Every caller
    gets its result after the commit.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._queue: BatchQueue[Write, WriteResult] = BatchQueue(
            self._commit,
            BatchLimits(
                count=database.writers, queue_s=database.checkout_s, whole_s=database.whole_s
            ),
        )

    async def write(self, write: Write) -> Payout | bool:
        """
        Do one durably, in a batch with others or alone, and return what became of it.

        Raises:
            StoreUnavailable: it was not done; or its commit was asked for, and the answer is lost.
            LimitReached: it is above a limit of its credential; it was not done.
        """
        with failures_as_ours():
            result = await self._queue.ask(write)
        if isinstance(result, LimitReached):
            raise result
        return result

    async def close(self) -> None:
        """Commit what was asked so far; refuse what is asked from now on."""
        await self._queue.close()

    async def _commit(self, writes: Sequence[Write]) -> Sequence[WriteResult | None]:
        """
        Write a batch in one transaction.

        A row that cannot be stored undoes a batch of many, and each write is tried alone then. Once
        the commit was asked for nothing is tried again: it may have happened.
        """
        try:
            async with self._database.writing() as connection:
                with faults_of_rows(of=len(writes)):
                    done: Sequence[WriteResult | None] = await self._database.together(
                        connection, lambda trip: write_batch(self._database, trip, writes)
                    )
                    return done
        except LimitReached as above:
            # A result like any other, of the only write there is.
            return [above]


async def record_step(database: Database, connection: AsyncConnection, change: Change) -> bool:
    """Do a step inside the caller's transaction; see ``StoredPayouts.record``."""
    check(change)
    [result] = await write_batch(database, connection, [change])
    return result is True


async def write_batch(
    database: Database, connection: Execution, writes: Sequence[Write]
) -> Sequence[WriteResult | None]:
    """
    Do writes inside a transaction that has written nothing of these payouts.

    Returns:
        The result of each, in order. None where a batch of many cannot tell, and nothing was
        done: another transaction has locked the row, an earlier write of the batch changes it, or a
        limit of the credential seems reached. A batch of one always has a result.

    Raises:
        LimitReached: the only write is above a limit; the transaction is to be undone.
        StoreUnavailable: the only write is a new payout with the provider key of another.
    """
    intents = {number: each for number, each in enumerate(writes) if isinstance(each, Intent)}
    moves = {number: each for number, each in enumerate(writes) if not isinstance(each, Intent)}
    left = await allowances(connection, [*_limited(intents.values()), *_limited(moves.values())])
    batch = _Batch(database, connection, left, alone=_alone(writes))
    if batch.alone:
        return [await batch.write_one(writes[0])]
    results: dict[int, Payout | bool] = {}
    # Inserting may wait for the commit of another transaction, so it comes before rows are locked.
    if intents:
        results |= await batch.add(intents)
    if moves:
        results |= await batch.move(moves)
    return [results.get(number) for number in range(len(writes))]


@dataclass(frozen=True, slots=True)
class _Batch:
    """A batch inside its transaction; ``alone`` says that it has one write."""

    database: Database
    connection: Execution
    left: Allowances
    alone: bool

    async def write_one(self, write: Write) -> Payout | bool:
        """Do the only write; see ``write_batch``."""
        above = self._above(write)
        if isinstance(write, Intent):
            done = bool(await self._insert([write]))
        else:
            done = await self._change([write]) == 1
        if done and above is not None:
            raise above
        if done:
            await self._write_attempts([write])
        if done or not isinstance(write, Intent):
            return done
        for found in (await _found(self.database, self.connection, [_key_of(write)])).values():
            return found
        problem = "another payout has this provider key"
        raise StoreUnavailable(problem)

    async def add(self, intents: Mapping[int, Intent]) -> Mapping[int, Payout | bool]:
        """Insert new payouts; the result of the others is the payout with their reference."""
        keys = {number: _key_of(each) for number, each in intents.items()}
        firsts = _firsts(keys)
        # In the order of their keys, so that two batches with the same ones cannot deadlock.
        wanted = [intents[firsts[key]] for key in sorted(firsts)]
        new = await self._insert([each for each in wanted if self._above(each) is None])
        await self._write_attempts([intents[firsts[key]] for key in new])
        results: dict[int, Payout | bool] = {firsts[key]: True for key in new}
        lost = {number: key for number, key in keys.items() if number not in results}
        if lost:
            found = await _found(self.database, self.connection, list(dict.fromkeys(lost.values())))
            results |= {number: found[key] for number, key in lost.items() if key in found}
        return results

    async def move(self, moves: Mapping[int, Claim | Change]) -> Mapping[int, bool]:
        """Do claims and steps where the payouts are in the state that each expects."""
        firsts = _firsts({number: _key_of(each) for number, each in moves.items()})
        locked = await self.connection.execute(
            _lock(self.database.among), bound("keys", list(firsts))
        )
        rows = {firsts[row.account_id, row.reference_sha256]: row for row in locked.all()}
        fits = {number: _fits(moves[number], row) for number, row in rows.items()}
        decided = {
            number: fit
            for number, fit in fits.items()
            if not fit or self._above(moves[number]) is None
        }
        done = [moves[number] for number, fit in decided.items() if fit]
        await self._change(done)
        await self._write_attempts(done)
        return decided

    def _above(self, write: Write) -> LimitReached | None:
        """Return the limit of the credential that a write exceeds; a step moves no money."""
        if isinstance(write, Change) or not write.limited:
            return None
        return self.left.take(write.payout)

    async def _insert(self, intents: Sequence[Intent]) -> Sequence[Key]:
        """Insert payouts that are new; return their keys."""
        if not intents:
            return []
        rows = [payout_row(each.payout) for each in intents]
        new = (await self._execute(self._statements.add, rows)).all()
        return [(row.account_id, row.reference_sha256) for row in new]

    async def _change(self, moves: Sequence[Claim | Change]) -> int:
        """Change payouts that are in the state a claim or step expects; return how many were."""
        claims = [
            claim_values(each.payout, each.attempt) for each in moves if isinstance(each, Claim)
        ]
        steps = [step_values(each) for each in moves if isinstance(each, Change)]
        done = 0
        if claims:
            done += (await self._execute(self._statements.claim, claims)).rowcount
        if steps:
            done += (await self._execute(self._statements.step, steps)).rowcount
        return done

    async def _write_attempts(self, writes: Sequence[Write]) -> None:
        """Begin the attempts of intents and claims that were done, end those of steps; tell it."""
        begun = [each for each in writes if not isinstance(each, Change)]
        ended = [each for each in writes if isinstance(each, Change)]
        if begun:
            rows = [_attempt_of(each) for each in begun]
            await self._tell(self._statements.begin, rows, map(_begun, begun))
        if ended:
            rows = [ending_values(each) for each in ended]
            await self._tell(self._statements.end, rows, map(stepped, ended))

    async def _tell(
        self, statement: Insert | Update, rows: Sequence[BulkRow], told: Iterable[PayoutEvent]
    ) -> None:
        """Execute a statement, and add an event for each row; together where that is possible."""
        sealing = self.database.facts
        events = [telling_values(event_row(each, sealing)) for each in told]
        if self._statements.tell is None:
            rows = [{**row, **event} for row, event in zip(rows, events, strict=True)]
            await self._execute(statement, rows)
            return
        await self._execute(statement, rows)
        await self._execute(self._statements.tell, events)

    async def _execute(self, statement: Insert | Update, rows: Sequence[BulkRow]) -> Result:
        return await self.connection.execute(statement, self._bulk.bind(rows))

    @property
    def _bulk(self) -> BulkParameters:
        return EXECUTE_MANY if self.alone else self.database.bulk

    @property
    def _statements(self) -> Statements:
        return statements(self._bulk, self.database.insert_new, joins=self.database.joins)


@cache
def _lock(among: Among) -> Select[*tuple[Any, ...]]:
    return _LOCK.where(among(_KEY, "keys"))


@cache
def _named(among: Among) -> Select[*tuple[Any, ...]]:
    return select(payouts).where(among(_KEY, "keys"))


def _alone(writes: Sequence[Write]) -> bool:
    return len(writes) == 1


async def _found(
    database: Database, connection: Execution, keys: Sequence[Key]
) -> Mapping[Key, Payout | bool]:
    rows = await connection.execute(_named(database.among), bound("keys", keys))
    return {(row.account_id, row.reference_sha256): restored_payout(row) for row in rows.all()}


def _fits(move: Claim | Change, row: Record) -> bool:
    """Say whether a payout, whose row is locked, is in the state that a write expects."""
    if isinstance(move, Claim):
        unsent = PayoutState.NOT_SENT.value
        return (row.state, row.attempt) == (unsent, move.attempt.number - 1)
    return row.attempt == move.attempt and PayoutState(row.state) in move.before


def _limited(writes: Iterable[Write]) -> Iterator[Payout]:
    """Return the payouts whose credentials have limits."""
    for each in writes:
        if not isinstance(each, Change) and each.limited:
            yield each.payout


def _firsts(keys: Mapping[int, Key]) -> dict[Key, int]:
    """Return the number of the first write of each key."""
    return {key: number for number, key in reversed(list(keys.items()))}


def _attempt_of(begun: Intent | Claim) -> dict[str, object]:
    key = key_columns(begun.payout.account_id, begun.payout.reference)
    return key | attempt_row(begun.attempt)


def _begun(write: Intent | Claim) -> PayoutEvent:
    return begun(write.payout, write.attempt)


def _key_of(write: Write) -> Key:
    payout = write if isinstance(write, Change) else write.payout
    return payout.account_id, reference_digest(payout.reference)
