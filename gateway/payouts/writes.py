"""
Group commit of payouts: intents, claims, steps and checks, in batches of one or more.

Every write of a batch gets the result it would get alone, as if the writes came one after another.
Items that a batch of many cannot decide are written again as a batch of one, by the same
statements. Only three things depend on the number:

- Many first lock the rows they are about to change, and skip rows that another transaction has
  locked, so that two batches never wait for each other. One delays no other: it waits for its
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

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import (
    CTE,
    ColumnElement,
    CompoundSelect,
    Insert,
    Select,
    Table,
    Update,
    and_,
    case,
    func,
    insert,
    select,
    union_all,
    update,
)
from sqlalchemy.ext.asyncio.engine import AsyncConnection
from sqlalchemy.sql.base import ReadOnlyColumnCollection
from sqlalchemy.sql.expression import Executable

from gateway.core.night import NIGHT, Night
from gateway.core.storage import LimitReached, StoreUnavailable
from gateway.payouts.archived import ARCHIVED
from gateway.payouts.events import PayoutEvent, begun, held, stepped
from gateway.payouts.first_payees import FirstPayments, first_payments
from gateway.payouts.limits import Allowances, allowances
from gateway.payouts.model import SUCCESSORS, Attempt, Change, Claim, Intent, Payout, PayoutState
from gateway.payouts.rows import (
    attempt_row,
    check,
    claim_columns,
    ending_columns,
    event_row,
    key_columns,
    payout_row,
    restored_payout,
    step_columns,
)
from gateway.payouts.schedule import Checked
from gateway.store.kernel.batching import BatchLimits, BatchQueue, faults_of_rows
from gateway.store.kernel.database import Database, FactSealing, failures_as_ours
from gateway.store.kernel.prepared import (
    EXECUTE_MANY,
    Among,
    BulkParameters,
    BulkRow,
    EachOf,
    Execution,
    Found,
    Key,
    Result,
    Types,
    bound,
)
from gateway.store.tables.columns import Record, reference_digest
from gateway.store.tables.core import archived_payouts, attempts, payout_events, payouts

Write = Intent | Claim | Change | Checked
WriteResult = Payout | bool | LimitReached
"""
What became of a write.

True: done. False: the payout was in another state or attempt, or another process has its claim to
check it. A payout: it has the reference already. LimitReached: the payout is above a limit of its
credential, or its first payee would get too much. All but True: nothing was written.
"""
Move = Claim | Change | Checked


class PayoutWriter:
    """
    Every write of payouts into a database, in batches.

    A commit waits for the disk, and writes that come meanwhile share the next one. Every caller
    gets its result after the commit. Where one statement can be all, new payouts, steps and checks
    are batches apart: mixed ones would take a transaction of several statements.
    """

    def __init__(self, database: Database, night: Night = NIGHT) -> None:
        self._database = database
        self._night = night
        limits = BatchLimits(
            count=database.writers, queue_s=database.checkout_s, whole_s=database.whole_s
        )
        self._intents: BatchQueue[Write, WriteResult] = BatchQueue(self._commit, limits)
        self._moves = self._checks = self._intents
        if database.commits_statements:
            self._moves = BatchQueue(self._commit, limits)
            self._checks = BatchQueue(self._commit, limits)

    async def write(self, write: Write) -> Payout | bool:
        """
        Write durably, in a batch with others or alone, and return the result.

        Raises:
            StoreUnavailable: it was not done; or its commit was asked for, and the answer is lost.
            LimitReached: it is above a limit; it was not done.
        """
        with failures_as_ours():
            result = await self._queue(write).ask(write)
        if isinstance(result, LimitReached):
            raise result
        return result

    async def close(self) -> None:
        """Commit pending writes; refuse later ones."""
        for queue in (self._intents, self._moves, self._checks):
            await queue.close()

    def _queue(self, write: Write) -> BatchQueue[Write, WriteResult]:
        match write:
            case Intent():
                return self._intents
            case Checked():
                return self._checks
        return self._moves

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
                return await write_batch(self._database, connection, writes, self._night)


async def record_step(database: Database, connection: AsyncConnection, change: Change) -> bool:
    """Take a step inside the caller's transaction; see ``StoredPayouts.record``."""
    check(change)
    [result] = await write_batch(database, connection, [change])
    return result is True


async def append_event(database: Database, connection: AsyncConnection, event: PayoutEvent) -> None:
    """Add an event inside the caller's transaction."""
    await connection.execute(insert(payout_events), event_row(event, database.facts))


def can_stand_alone(database: Database, writes: Sequence[Write]) -> bool:
    """
    Return whether ``write_at_once`` can do a batch.

    It can where all are steps, or new payouts that are sent at once, have no limits and go to known
    payees.
    """
    return database.commits_statements and (
        all(isinstance(each, Change) for each in writes)
        or all(
            isinstance(each, Intent)
            and each.attempt is not None
            and not each.limited
            and each.first is None
            for each in writes
        )
    )


async def write_at_once(
    database: Database, connection: Execution, writes: Sequence[Write]
) -> Sequence[WriteResult | None]:
    """
    Do writes that can stand alone by one statement, which is a transaction of its own.

    Returns:
        The result of ``write_batch``, which is durable.

    Raises:
        Undone: as of ``faults_of_rows``. A statement that was not answered is no such case.
        StoreUnavailable: as ``write_batch``.
    """
    batch = _Batch(database, connection, Allowances({}), None, alone=_alone(writes))
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
    database: Database, connection: Execution, writes: Sequence[Write], night: Night = NIGHT
) -> Sequence[WriteResult | None]:
    """
    Do writes inside a transaction that has written nothing of these payouts.

    Returns:
        The result of each, in order. None where a batch of many cannot decide, and nothing was
        done: another transaction has locked the row, an earlier write of the batch changes it, or a
        limit of the credential seems reached. A batch of one always has a result.

    Raises:
        LimitReached: the only write is above a limit; the transaction is to be undone.
        StoreUnavailable: the only write is a new payout with the provider key of another.
    """
    intents = {number: each for number, each in enumerate(writes) if isinstance(each, Intent)}
    moves = {number: each for number, each in enumerate(writes) if not isinstance(each, Intent)}
    bounded = [
        each
        for each in writes
        if isinstance(each, Intent | Claim) and (each.limited or each.first is not None)
    ]
    left, firsts = Allowances({}), None
    if bounded:
        # Companies are locked before credentials in every batch, so that no two can deadlock.
        firsts = await first_payments(connection, bounded)
        left = await allowances(connection, [each for each in bounded if each.limited], night)
    batch = _Batch(database, connection, left, firsts, alone=_alone(writes))
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
    firsts: FirstPayments | None
    alone: bool

    async def write_one(self, write: Write) -> Payout | bool:
        """Execute a batch of a single write; see ``write_batch``."""
        above = self._above(write)
        if isinstance(write, Intent):
            done = bool(await self._insert([write]))
        else:
            done = await self._change([write]) == 1
        if done and above is not None:
            raise above
        if done or not isinstance(write, Intent):
            return done
        key = _key_of(write)
        found = await _found(self.database, self.connection, [key])
        if key in found:
            return found[key]
        problem = "another payout has this provider key"
        raise StoreUnavailable(problem)

    async def add(self, intents: Mapping[int, Intent]) -> Mapping[int, Payout | bool]:
        """Insert new payouts; the result of the others is the payout with their reference."""
        new = await self.add_new(intents)
        return new | await self.rivals({n: each for n, each in intents.items() if n not in new})

    async def add_new(self, intents: Mapping[int, Intent]) -> dict[int, bool]:
        """Insert payouts that are new; True for each of them."""
        firsts = _firsts({number: _key_of(each) for number, each in intents.items()})
        # In the order of their keys, so that two batches with the same ones cannot deadlock.
        wanted = [intents[firsts[key]] for key in sorted(firsts)]
        new = await self._insert([each for each in wanted if self._above(each) is None])
        return {firsts[key]: True for key in new}

    async def rivals(self, lost: Mapping[int, Intent]) -> dict[int, Payout]:
        """Return the payout that has the reference of each."""
        if not lost:
            return {}
        keys = {number: _key_of(each) for number, each in lost.items()}
        found = await _found(self.database, self.connection, list(dict.fromkeys(keys.values())))
        return {number: found[key] for number, key in keys.items() if key in found}

    async def move(self, moves: Mapping[int, Move]) -> Mapping[int, bool]:
        """Do claims, steps and checks where the payouts are as each expects."""
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
        return decided

    async def settle_free(self, steps: Mapping[int, Change]) -> dict[int, bool]:
        """Do steps as ``move`` does, by one statement."""
        firsts = _firsts({number: _key_of(each) for number, each in steps.items()})
        rows = [_settling_values(steps[number], self.database.facts) for number in firsts.values()]
        found = await self._execute(_step_free(self._bulk), rows)
        return {firsts[row.account_id, row.reference_sha256]: row.is_done for row in found.all()}

    def _above(self, write: Write) -> LimitReached | None:
        """Return the limit that a write exceeds, of the credential or of a first payee."""
        above = None
        if isinstance(write, Intent | Claim) and write.limited:
            above = self.left.take(write)
        if above is None and self.firsts is not None and isinstance(write, Intent):
            above = self.firsts.take(write)
        return above

    async def _insert(self, intents: Sequence[Intent]) -> Sequence[Key]:
        """Insert payouts that are new, each with its attempt if it has one; return their keys."""
        if not intents:
            return []
        if self.database.joins and all(each.attempt is not None for each in intents):
            rows = [_intent_values(each, self.database.facts) for each in intents]
            whole = _add_whole(self._bulk, self.database.insert_new)
            return _keys(await self._execute(whole, rows))
        rows = [payout_row(each.payout) for each in intents]
        add = _add_payouts(self._bulk, self.database.insert_new)
        new = _keys(await self._execute(add, rows))
        by_key = {_key_of(each): each for each in intents}
        await self._begin([by_key[key] for key in new])
        return new

    async def _change(self, moves: Sequence[Move]) -> int:
        """Change payouts that are as a move expects, and attempts; return how many were."""
        claimed = await self._claim([each for each in moves if isinstance(each, Claim)])
        stepped = await self._step([each for each in moves if isinstance(each, Change)])
        checked = await self._check([each for each in moves if isinstance(each, Checked)])
        return claimed + stepped + checked

    async def _claim(self, claims: Sequence[Claim]) -> int:
        if not claims:
            return 0
        rows = [_claim_values(each) for each in claims]
        done = (await self._execute(_claim_payouts(self._bulk), rows)).rowcount
        if done:
            await self._begin(claims)
        return done

    async def _step(self, steps: Sequence[Change]) -> int:
        if not steps:
            return 0
        if self.database.joins:
            rows = [_settling_values(each, self.database.facts) for each in steps]
            return len((await self._execute(_step_whole(self._bulk), rows)).all())
        rows = list(map(_step_values, steps))
        done = (await self._execute(_step_payouts(self._bulk), rows)).rowcount
        if done:
            rows = [_ending_values(each) for each in steps]
            await self._tell(_end_attempts(self._bulk), rows, map(stepped, steps))
        return done

    async def _check(self, checks: Sequence[Checked]) -> int:
        """Let claims go, and note the checks; a bank's answer that moved nothing is an event."""
        if not checks:
            return 0
        rows = [_let_go_values(each) for each in checks]
        done = (await self._execute(_let_go(self._bulk), rows)).rowcount
        if done:
            await self._execute(_note_probes(self._bulk), list(map(_probe_values, checks)))
            heard = [each.heard for each in checks if each.heard is not None]
            if heard:
                await self._execute(_add_events(self._bulk), self._events(heard))
        return done

    async def _begin(self, writes: Sequence[Intent | Claim]) -> None:
        """Begin the attempts of written intents and claims, or their holds; record it."""
        tried = [(each.payout, each.attempt) for each in writes if each.attempt is not None]
        if len(tried) < len(writes):
            holds = [held(each.payout) for each in writes if each.attempt is None]
            await self._execute(_add_events(self._bulk), self._events(holds))
        if tried:
            rows = [_beginning_values(payout, attempt) for payout, attempt in tried]
            begin = _begin_attempts(self._bulk, with_events=self.database.joins)
            logged = (begun(payout, attempt) for payout, attempt in tried)
            await self._tell(begin, rows, logged)

    async def _tell(
        self, statement: Insert | Update, rows: Sequence[BulkRow], logged: Iterable[PayoutEvent]
    ) -> None:
        """Execute a statement, and add an event for each row; together where that is possible."""
        events = self._events(logged)
        if self.database.joins:
            rows = [{**row, **event} for row, event in zip(rows, events, strict=True)]
            await self._execute(statement, rows)
            return
        await self._execute(statement, rows)
        await self._execute(_add_events(self._bulk), events)

    def _events(self, logged: Iterable[PayoutEvent]) -> Sequence[BulkRow]:
        return [_named("event", event_row(each, self.database.facts)) for each in logged]

    async def _execute(self, statement: Executable, rows: Sequence[BulkRow]) -> Result:
        return await self.connection.execute(statement, self._bulk.bind(rows))

    @property
    def _bulk(self) -> BulkParameters:
        return EXECUTE_MANY if self.alone else self.database.bulk


def _alone(writes: Sequence[Write]) -> bool:
    return len(writes) == 1


async def _found(
    database: Database, connection: Execution, keys: Sequence[Key]
) -> Mapping[Key, Payout]:
    rows = await connection.execute(by_keys(database.each_of), bound("keys", keys))
    return {(row.account_id, row.reference_sha256): restored_payout(row) for row in rows.all()}


def _fits(move: Move, row: Record) -> bool:
    """Return whether a payout, whose row is locked, is in the expected state."""
    match move:
        case Claim():
            return (row.state, row.attempt) == (move.before.value, move.attempt.number - 1)
        case Checked():
            return bool(row.check_owner == move.owner)
    return row.attempt == move.attempt and PayoutState(row.state) in move.before


def _firsts(keys: Mapping[int, Key]) -> dict[Key, int]:
    """Return the number of the first write of each key."""
    return {key: number for number, key in reversed(list(keys.items()))}


def _keys(new: Result) -> Sequence[Key]:
    return [(row.account_id, row.reference_sha256) for row in new.all()]


def _key_of(write: Write) -> Key:
    payout = write.payout if isinstance(write, Intent | Claim) else write
    return payout.account_id, reference_digest(payout.reference)


# The statements. The text of each is the same for any number of rows: a batch of one is a batch.
# Values are named ``was_*`` where they say which row is meant and ``new_*`` where they are written.
_KEY = ("account_id", "reference_sha256")
# A step may leave these as they are. They are NULL then, so that every step has the same text.
_KEPT = (
    *("provider_id", "e2e_id", "settled_at", "failure_code", "failure_forbidden"),
    *("held_until", "moved_centavos", "absence"),
)
_WRITTEN = ("state", "review", "updated_at", "next_check_at")
_CLAIMED = (
    *("state", "attempt", "provider", "provider_account", "date", "client_id"),
    *("lease_until", "updated_at", "next_check_at", "held_until"),
)
_ATTEMPT_KEY = (*_KEY, "number")
_ENDING = ("outcome", "ended_at", "evidence")
_CHECKED = ("next_check_at", "review", "held_until")
_PROBED = ("last_probe_at", "next_probe_at")


def _given(table: Table, *later: str) -> Sequence[str]:
    """Name the columns of a new row that we write; those with a default get it from the server."""
    return [each.name for each in table.c if each.server_default is None and each.name not in later]


_TOLD = _given(payout_events, "number")
_NEW_PAYOUT = _given(payouts, "check_owner", "check_until", "moved_centavos", "absence")
_NEW_ATTEMPT = _given(attempts)
# No state has more predecessors than this, so no step can be allowed from more states.
_STATES = max(sum(state in after for after in SUCCESSORS.values()) for state in PayoutState)
_WAS_STATES = tuple(f"was_state_{number}" for number in range(_STATES))
_NEW = {name: f"new_{name}" for name in (*_WRITTEN, *_KEPT)}
_LEFT = dict.fromkeys(_NEW[name] for name in _KEPT)
Parameters = Mapping[str, ColumnElement[Any]]
InsertNew = Callable[[Table], Insert]
"""See ``Database.insert_new``."""
_COLUMNS = (payouts.c.account_id, payouts.c.reference_sha256)
_LOCK = select(
    *_COLUMNS, payouts.c.state, payouts.c.attempt, payouts.c.check_owner
).with_for_update(skip_locked=True)


@cache
def _lock(among: Among) -> Select[*tuple[Any, ...]]:
    """Lock payouts by their keys, skipping rows locked by another transaction."""
    return _LOCK.where(among(_COLUMNS, "keys"))


@cache
def by_keys(each_of: EachOf) -> CompoundSelect[*tuple[Any, ...]]:
    """
    Find payouts by their keys, archived ones too; perhaps others of these accounts and references.

    One statement, so that a payout that is archived meanwhile is found in one of the two tables: a
    reference that is found nowhere is paid.
    """
    archived = (archived_payouts.c.account_id, archived_payouts.c.reference_sha256)
    return union_all(
        each_of(select(payouts), _COLUMNS, "keys"), each_of(ARCHIVED, archived, "keys")
    )


@cache
def _add_payouts(bulk: BulkParameters, insert_new: InsertNew) -> Insert:
    """Insert payouts written by ``payout_row``; return the keys of the new ones."""
    into = bulk.insert_rows(insert_new(payouts), _types(payouts, "", _NEW_PAYOUT))
    return into.returning(*_COLUMNS)


@cache
def _begin_attempts(bulk: BulkParameters, *, with_events: bool) -> Insert:
    """Insert the attempts of new payouts and of claims; with ``with_events`` their events, too."""
    into = bulk.insert_rows(insert(attempts), _types(attempts, "", _NEW_ATTEMPT))
    return into.add_cte(_add_events(bulk).cte("logged")) if with_events else into


@cache
def _add_whole(bulk: BulkParameters, insert_new: InsertNew) -> Found:
    """
    Insert new payouts, their attempts and events, which is a transaction's whole work.

    Returns the keys of the new ones.
    """
    given = bulk.parameters(_types(payouts, "", _NEW_PAYOUT))
    add = insert_new(payouts).from_select(list(_NEW_PAYOUT), select(*given.values()))
    added = add.returning(*_COLUMNS).cte("added")
    tried = bulk.parameters(_types(attempts, "begin_", _NEW_ATTEMPT))
    rows = select(*tried.values()).where(*_is_of(added, tried, "begin_"))
    begin = insert(attempts).from_select(list(_NEW_ATTEMPT), rows)
    return select(*added.c).add_cte(begin.cte("begun"), _add_events(bulk, added).cte("logged"))


@cache
def _step_whole(bulk: BulkParameters) -> Found:
    """
    Do steps, the ends of their attempts and their events, which is a transaction's whole work.

    Returns the keys of the payouts that were changed.
    """
    stepped = _step_payouts(bulk).returning(*_COLUMNS).cte("stepped")
    ended, logged = (
        _end_attempts(bulk, stepped).cte("ended"),
        _add_events(bulk, stepped).cte("logged"),
    )
    return select(*stepped.c).add_cte(ended, logged)


@cache
def _step_free(bulk: BulkParameters) -> Found:
    """
    Do the same for payouts whose rows no other transaction has locked.

    Returns the keys of those, and whether each was changed.
    """
    given = bulk.parameters(_types(payouts, "was_", _KEY))
    free = select(*_COLUMNS).where(*_matches(payouts, given, _KEY))
    locked = free.with_for_update(skip_locked=True, of=payouts).cte("locked")
    stepped = _step_payouts(bulk, locked).returning(*_COLUMNS).cte("stepped")
    ended, logged = (
        _end_attempts(bulk, stepped).cte("ended"),
        _add_events(bulk, stepped).cte("logged"),
    )
    both = locked.outerjoin(stepped, and_(*(locked.c[name] == stepped.c[name] for name in _KEY)))
    is_done = stepped.c.account_id.is_not(None).label("is_done")
    return select(*locked.c, is_done).select_from(both).add_cte(ended, logged)


def _is_of(
    done: CTE | None, row: Parameters | ReadOnlyColumnCollection[str, Any], when: str = ""
) -> Iterable[ColumnElement[bool]]:
    """Return the conditions that a row's payout was written by ``done``; none without it."""
    if done is None:
        return []
    return [row[f"{when}{name}"] == done.c[name] for name in _KEY]


def _types(table: Table, when: str, names: Iterable[str]) -> Types:
    return {f"{when}{name}": table.c[name].type for name in names}


def _matches(
    table: Table, given: Parameters, names: Iterable[str]
) -> Iterable[ColumnElement[bool]]:
    return (table.c[name] == given[f"was_{name}"] for name in names)


@cache
def _step_payouts(bulk: BulkParameters, of: CTE | None = None) -> Update:
    """Do steps where payouts are at the attempt and in a state it allows; see ``_step_values``."""
    was = _types(payouts, "was_", (*_KEY, "attempt"))
    states = dict.fromkeys(_WAS_STATES, payouts.c.state.type)
    given = bulk.parameters({**was, **states, **_types(payouts, "new_", (*_WRITTEN, *_KEPT))})
    kept = {name: func.coalesce(given[f"new_{name}"], payouts.c[name]) for name in _KEPT}
    return (
        update(payouts)
        .where(*_matches(payouts, given, (*_KEY, "attempt")), *_is_of(of, payouts.c))
        .where(payouts.c.state.in_([given[name] for name in _WAS_STATES]))
        .values({name: given[f"new_{name}"] for name in _WRITTEN} | kept)
    )


@cache
def _claim_payouts(bulk: BulkParameters) -> Update:
    """Do claims where payouts are as each expects; see ``_claim_values``."""
    was = (*_KEY, "attempt", "state")
    given = bulk.parameters({**_types(payouts, "was_", was), **_types(payouts, "new_", _CLAIMED)})
    return (
        update(payouts)
        .where(*_matches(payouts, given, was))
        .values({name: given[f"new_{name}"] for name in _CLAIMED})
    )


@cache
def _end_attempts(bulk: BulkParameters, of: CTE | None = None) -> Update:
    """End the attempts of steps; see ``_ending_values``."""
    given = bulk.parameters(
        {**_types(attempts, "was_", _ATTEMPT_KEY), **_types(attempts, "new_", _ENDING)}
    )
    outcome, unsent = attempts.c.outcome, PayoutState.NOT_SENT.value
    return (
        update(attempts)
        .where(*_matches(attempts, given, _ATTEMPT_KEY), *_is_of(of, attempts.c))
        .values(
            # An attempt proven unsent stays so, whatever becomes of the payout.
            outcome=case((outcome == unsent, outcome), else_=given["new_outcome"]),
            ended_at=func.coalesce(attempts.c.ended_at, given["new_ended_at"]),
            evidence=func.coalesce(given["new_evidence"], attempts.c.evidence),
        )
    )


@cache
def _let_go(bulk: BulkParameters) -> Update:
    """Release claims; a check's result is written only if the payout is unchanged."""
    was, claimed = (*_KEY, "check_owner", "state", "attempt"), (*_KEY, "check_owner")
    given = bulk.parameters({**_types(payouts, "was_", was), **_types(payouts, "new_", _CHECKED)})
    stands = and_(payouts.c.state == given["was_state"], payouts.c.attempt == given["was_attempt"])
    found = {name: case((stands, given[f"new_{name}"]), else_=payouts.c[name]) for name in _CHECKED}
    return (
        update(payouts)
        .where(*_matches(payouts, given, claimed))
        .values(**found, check_owner=None, check_until=None)
    )


@cache
def _note_probes(bulk: BulkParameters) -> Update:
    """Record in attempts the last and the next query of the bank."""
    given = bulk.parameters(
        {**_types(attempts, "was_", _ATTEMPT_KEY), **_types(attempts, "new_", _PROBED)}
    )
    return (
        update(attempts)
        .where(*_matches(attempts, given, _ATTEMPT_KEY))
        .values({name: given[f"new_{name}"] for name in _PROBED})
    )


@cache
def _add_events(bulk: BulkParameters, of: CTE | None = None) -> Insert:
    given = bulk.parameters(_types(payout_events, "event_", _TOLD))
    rows = select(*given.values()).where(*_is_of(of, given, "event_"))
    return insert(payout_events).from_select(_TOLD, rows)


def _beginning_values(payout: Payout, attempt: Attempt) -> dict[str, object]:
    """Return the values of the attempt that a new payout or a claim begins."""
    return key_columns(payout.account_id, payout.reference) | attempt_row(attempt)


def _intent_values(write: Intent, sealing: FactSealing | None) -> dict[str, object]:
    """
    Return the values of a new payout, its first attempt, and its event.

    Raises:
        ValueError: it is held, and has no attempt. A mistake in our code.
    """
    if write.attempt is None:
        problem = "a held payout has no attempt"
        raise ValueError(problem)
    event = event_row(begun(write.payout, write.attempt), sealing)
    tried = _named("begin", _beginning_values(write.payout, write.attempt))
    return {**payout_row(write.payout), **tried, **_named("event", event)}


def _settling_values(change: Change, sealing: FactSealing | None) -> dict[str, object]:
    """Return the values of a step, of its attempt's end, and of its event."""
    event = event_row(stepped(change), sealing)
    return {**_step_values(change), **_ending_values(change), **_named("event", event)}


def _step_values(change: Change) -> dict[str, object]:
    """Return the values of a step; unchanged columns are None."""
    return {
        "was_account_id": change.account_id,
        "was_reference_sha256": reference_digest(change.reference),
        "was_attempt": change.attempt,
        **_was_states(change.before),
        **_LEFT,
        **{_NEW[name]: value for name, value in step_columns(change).items()},
    }


@cache
def _was_states(before: frozenset[PayoutState]) -> Mapping[str, str]:
    """Return the states a step is from; parameters beyond those it names repeat one it does."""
    states = sorted(state.value for state in before)
    return dict(zip(_WAS_STATES, states + states[-1:] * _STATES, strict=False))


def _claim_values(claim: Claim) -> dict[str, object]:
    """Return the values of a claim of a payout by its next attempt."""
    payout, attempt = claim.payout, claim.attempt
    was = {"attempt": attempt.number - 1, "state": claim.before.value}
    key = key_columns(payout.account_id, payout.reference)
    return _named("was", key | was) | _named("new", claim_columns(payout, attempt))


def _ending_values(change: Change) -> dict[str, object]:
    """Return the values of the end of a step's attempt."""
    was = key_columns(change.account_id, change.reference) | {"number": change.attempt}
    return _named("was", was) | _named("new", ending_columns(change))


def _let_go_values(checked: Checked) -> dict[str, object]:
    was = {
        **key_columns(checked.account_id, checked.reference),
        "check_owner": checked.owner,
        "state": checked.state.value,
        "attempt": checked.attempt,
    }
    return _named("was", was) | {
        "new_next_check_at": checked.next_check_at,
        "new_review": checked.review,
        "new_held_until": checked.held_until,
    }


def _probe_values(checked: Checked) -> dict[str, object]:
    was = key_columns(checked.account_id, checked.reference) | {"number": checked.attempt}
    return _named("was", was) | {
        "new_last_probe_at": checked.at,
        "new_next_probe_at": checked.next_check_at,
    }


def _named(when: str, columns: Mapping[str, object]) -> dict[str, object]:
    return {f"{when}_{name}": value for name, value in columns.items()}
