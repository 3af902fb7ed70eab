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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Insert, Update
from sqlalchemy.ext.asyncio.engine import AsyncConnection
from sqlalchemy.sql.expression import Executable

from gateway.core.storage import LimitReached, StoreUnavailable
from gateway.payouts import sql as statements
from gateway.payouts.event_store import event_row
from gateway.payouts.events import PayoutEvent, begun, stepped
from gateway.payouts.limits import Allowances, allowances
from gateway.payouts.model import Change, Claim, Intent, Payout, PayoutState
from gateway.payouts.rows import check, payout_row, restored_payout
from gateway.payouts.sql import (
    beginning_values,
    claim_values,
    ending_values,
    intent_values,
    lock,
    named,
    settling_values,
    step_values,
    telling_values,
)
from gateway.store.kernel.batching import BatchLimits, BatchQueue, faults_of_rows
from gateway.store.kernel.database import Database, failures_as_ours
from gateway.store.kernel.hot_statements import (
    EXECUTE_MANY,
    BulkParameters,
    BulkRow,
    Execution,
    Key,
    Result,
    bound,
)
from gateway.store.tables.columns import Record, reference_digest

Write = Intent | Claim | Change
WriteResult = Payout | bool | LimitReached
"""
What became of a write.

True: done. False: the payout was in another state or attempt. A payout: it has the reference
already. LimitReached: the payout is above a limit of its credential. All but True: nothing was
written.
"""


class PayoutWriter:
    """
    Every write of payouts into a database, in batches.

    A commit waits for the disk, and writes that come meanwhile share the next one. Every caller
    gets its result after the commit. Where one statement can be all, new payouts and what becomes
    of them are batches apart: mixed ones would take a transaction of several statements.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        limits = BatchLimits(
            count=database.writers, queue_s=database.checkout_s, whole_s=database.whole_s
        )
        self._intents: BatchQueue[Write, WriteResult] = BatchQueue(self._commit, limits)
        self._moves = self._intents
        if database.commits_statements:
            self._moves = BatchQueue(self._commit, limits)

    async def write(self, write: Write) -> Payout | bool:
        """
        Do one durably, in a batch with others or alone, and return what became of it.

        Raises:
            StoreUnavailable: it was not done; or its commit was asked for, and the answer is lost.
            LimitReached: it is above a limit of its credential; it was not done.
        """
        with failures_as_ours():
            queue = self._intents if isinstance(write, Intent) else self._moves
            result = await queue.ask(write)
        if isinstance(result, LimitReached):
            raise result
        return result

    async def close(self) -> None:
        """Commit what was asked so far; refuse what is asked from now on."""
        await self._intents.close()
        await self._moves.close()

    async def _commit(self, writes: Sequence[Write]) -> Sequence[WriteResult | None]:
        """
        Write a batch durably: by one statement where it can stand alone, else in a transaction.

        A row that cannot be stored undoes a batch of many, and each write is tried alone then. Once
        the commit was asked for nothing is tried again: it may have happened.
        """
        if can_stand_alone(self._database, writes):
            return await self._at_once(writes)
        try:
            return await self._in_transaction(writes)
        except LimitReached as above:
            # A result like any other, of the only write there is.
            return [above]

    async def _at_once(self, writes: Sequence[Write]) -> Sequence[WriteResult | None]:
        """Write by a statement that commits itself: to ask for it is to ask for its commit."""
        async with self._database.writing_at_once() as execution:
            return await write_at_once(self._database, execution, writes)

    async def _in_transaction(self, writes: Sequence[Write]) -> Sequence[WriteResult | None]:
        async with self._database.writing() as connection:
            with faults_of_rows(of=len(writes)):
                return await write_batch(self._database, connection, writes)


async def record_step(database: Database, connection: AsyncConnection, change: Change) -> bool:
    """Do a step inside the caller's transaction; see ``StoredPayouts.record``."""
    check(change)
    [result] = await write_batch(database, connection, [change])
    return result is True


def can_stand_alone(database: Database, writes: Sequence[Write]) -> bool:
    """Say whether ``write_at_once`` can do a batch: all steps, or new payouts without limits."""
    return database.commits_statements and (
        all(isinstance(each, Change) for each in writes)
        or all(isinstance(each, Intent) and not each.limited for each in writes)
    )


async def write_at_once(
    database: Database, connection: Execution, writes: Sequence[Write]
) -> Sequence[WriteResult | None]:
    """
    Do writes that can stand alone by one statement, which is a transaction of its own.

    Returns:
        What ``write_batch`` returns, and it is durable.

    Raises:
        Undone: as of ``faults_of_rows``. A statement that was not answered is no such case.
        StoreUnavailable: as ``write_batch``.
    """
    batch = _Batch(database, connection, Allowances({}), alone=_alone(writes))
    if batch.alone:
        return [await batch.write_one(writes[0])]
    intents = {number: each for number, each in enumerate(writes) if isinstance(each, Intent)}
    steps = {number: each for number, each in enumerate(writes) if isinstance(each, Change)}
    results: dict[int, Payout | bool] = {}
    with faults_of_rows(of=len(writes), commits=True):
        results |= await (batch.add_new(intents) if intents else batch.settle_free(steps))
    # From here on they are stored: whatever fails now, none of them is tried again.
    lost = {number: each for number, each in intents.items() if number not in results}
    results |= await batch.rivals(lost)
    return [results.get(number) for number in range(len(writes))]


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
    limited = [each.payout for each in writes if not isinstance(each, Change) and each.limited]
    left = await allowances(connection, limited) if limited else Allowances({})
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
        if done or not isinstance(write, Intent):
            return done
        for found in (await _found(self.database, self.connection, [_key_of(write)])).values():
            return found
        problem = "another payout has this provider key"
        raise StoreUnavailable(problem)

    async def add(self, intents: Mapping[int, Intent]) -> Mapping[int, Payout | bool]:
        """Insert new payouts; the result of the others is the payout with their reference."""
        new = await self.add_new(intents)
        return new | await self.rivals({n: each for n, each in intents.items() if n not in new})

    async def add_new(self, intents: Mapping[int, Intent]) -> dict[int, Payout | bool]:
        """Insert payouts that are new; True for each of them."""
        firsts = _firsts({number: _key_of(each) for number, each in intents.items()})
        # In the order of their keys, so that two batches with the same ones cannot deadlock.
        wanted = [intents[firsts[key]] for key in sorted(firsts)]
        new = await self._insert([each for each in wanted if self._above(each) is None])
        return {firsts[key]: True for key in new}

    async def rivals(self, lost: Mapping[int, Intent]) -> dict[int, Payout | bool]:
        """Return the payout that has the reference of each."""
        if not lost:
            return {}
        keys = {number: _key_of(each) for number, each in lost.items()}
        found = await _found(self.database, self.connection, list(dict.fromkeys(keys.values())))
        return {number: found[key] for number, key in keys.items() if key in found}

    async def move(self, moves: Mapping[int, Claim | Change]) -> Mapping[int, bool]:
        """Do claims and steps where the payouts are in the state that each expects."""
        firsts = _firsts({number: _key_of(each) for number, each in moves.items()})
        locked = await self.connection.execute(
            lock(self.database.among), bound("keys", list(firsts))
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
        return decided

    async def settle_free(self, steps: Mapping[int, Change]) -> dict[int, Payout | bool]:
        """Do steps as ``move`` does, by one statement."""
        firsts = _firsts({number: _key_of(each) for number, each in steps.items()})
        rows = [settling_values(steps[number], self.database.facts) for number in firsts.values()]
        found = await self._execute(statements.settle_free(self._bulk), rows)
        return {firsts[row.account_id, row.reference_sha256]: row.is_done for row in found.all()}

    def _above(self, write: Write) -> LimitReached | None:
        """Return the limit of the credential that a write exceeds; a step moves no money."""
        if isinstance(write, Change) or not write.limited:
            return None
        return self.left.take(write.payout)

    async def _insert(self, intents: Sequence[Intent]) -> Sequence[Key]:
        """Insert payouts that are new, each with its attempt; return their keys."""
        if not intents:
            return []
        if self.database.joins:
            rows = [intent_values(each, self.database.facts) for each in intents]
            whole = statements.intend(self._bulk, self.database.insert_new)
            return _keys(await self._execute(whole, rows))
        rows = [payout_row(each.payout) for each in intents]
        add = statements.add(self._bulk, self.database.insert_new)
        new = _keys(await self._execute(add, rows))
        by_key = {_key_of(each): each for each in intents}
        await self._begin([by_key[key] for key in new])
        return new

    async def _change(self, moves: Sequence[Claim | Change]) -> int:
        """Change payouts in the state a move expects, and attempts; return how many were."""
        claimed = await self._claim([each for each in moves if isinstance(each, Claim)])
        return claimed + await self._step([each for each in moves if isinstance(each, Change)])

    async def _claim(self, claims: Sequence[Claim]) -> int:
        if not claims:
            return 0
        rows = [claim_values(each.payout, each.attempt) for each in claims]
        done = (await self._execute(statements.claim(self._bulk), rows)).rowcount
        if done:
            await self._begin(claims)
        return done

    async def _step(self, steps: Sequence[Change]) -> int:
        if not steps:
            return 0
        if self.database.joins:
            rows = [settling_values(each, self.database.facts) for each in steps]
            return len((await self._execute(statements.settle(self._bulk), rows)).all())
        rows = list(map(step_values, steps))
        done = (await self._execute(statements.step(self._bulk), rows)).rowcount
        if done:
            rows = [ending_values(each) for each in steps]
            await self._tell(statements.end(self._bulk), rows, map(stepped, steps))
        return done

    async def _begin(self, writes: Sequence[Intent | Claim]) -> None:
        """Begin the attempts of intents and claims that were done; tell it."""
        if writes:
            rows = [beginning_values(each) for each in writes]
            begin = statements.begin(self._bulk, with_events=self.database.joins)
            told = (begun(each.payout, each.attempt) for each in writes)
            await self._tell(begin, rows, told)

    async def _tell(
        self, statement: Insert | Update, rows: Sequence[BulkRow], told: Iterable[PayoutEvent]
    ) -> None:
        """Execute a statement, and add an event for each row; together where that is possible."""
        events = [telling_values(event_row(each, self.database.facts)) for each in told]
        if self.database.joins:
            rows = [{**row, **event} for row, event in zip(rows, events, strict=True)]
            await self._execute(statement, rows)
            return
        await self._execute(statement, rows)
        await self._execute(statements.tell(self._bulk), events)

    async def _execute(self, statement: Executable, rows: Sequence[BulkRow]) -> Result:
        return await self.connection.execute(statement, self._bulk.bind(rows))

    @property
    def _bulk(self) -> BulkParameters:
        return EXECUTE_MANY if self.alone else self.database.bulk


def _alone(writes: Sequence[Write]) -> bool:
    return len(writes) == 1


async def _found(
    database: Database, connection: Execution, keys: Sequence[Key]
) -> Mapping[Key, Payout | bool]:
    rows = await connection.execute(named(database.among), bound("keys", keys))
    return {(row.account_id, row.reference_sha256): restored_payout(row) for row in rows.all()}


def _fits(move: Claim | Change, row: Record) -> bool:
    """Say whether a payout, whose row is locked, is in the state that a write expects."""
    if isinstance(move, Claim):
        unsent = PayoutState.NOT_SENT.value
        return (row.state, row.attempt) == (unsent, move.attempt.number - 1)
    return row.attempt == move.attempt and PayoutState(row.state) in move.before


def _firsts(keys: Mapping[int, Key]) -> dict[Key, int]:
    """Return the number of the first write of each key."""
    return {key: number for number, key in reversed(list(keys.items()))}


def _keys(new: Result) -> Sequence[Key]:
    return [(row.account_id, row.reference_sha256) for row in new.all()]


def _key_of(write: Write) -> Key:
    payout = write if isinstance(write, Change) else write.payout
    return payout.account_id, reference_digest(payout.reference)
