"""
Many writes of payouts in one transaction, each with the answer it would have had alone.

A statement serves all of a kind. Rows are inserted in the order of their keys, and a row that
somebody else holds is passed over: two batches never wait for each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from sqlalchemy import select
from sqlalchemy.ext.asyncio.engine import AsyncConnection

from gateway.domain.payouts.payouts import Change, Payout, PayoutState
from gateway.store.kernel.database import Database, Key
from gateway.store.payouts.limits import Allowances, allowances
from gateway.store.payouts.rows import attempt_row, key_columns, payout_row, restored_payout
from gateway.store.payouts.statements import (
    Statements,
    claim_values,
    ending_values,
    statements,
    step_values,
)
from gateway.store.payouts.steps import Claim, Intent, Write, WriteResult
from gateway.store.tables.columns import Record, reference_digest
from gateway.store.tables.core import payouts

_KEY = (payouts.c.account_id, payouts.c.reference_sha256)
_STANDING = select(*_KEY, payouts.c.state, payouts.c.attempt)


async def write_batch(
    database: Database, connection: AsyncConnection, writes: Sequence[Write]
) -> Sequence[WriteResult | None]:
    """
    Do many inside a transaction that holds nothing else.

    Returns:
        What each would have been told alone, in turn. None where that is not decided here, and
        nothing was done: the row is held by somebody else, the same batch moves it already, or
        a limit of its credential seems reached.
    """
    intents = {number: each for number, each in enumerate(writes) if isinstance(each, Intent)}
    moves = {number: each for number, each in enumerate(writes) if not isinstance(each, Intent)}
    told: dict[int, WriteResult] = {}
    left = await allowances(connection, [*_limited(intents.values()), *_limited(moves.values())])
    # Inserting may wait for another's commit: no row is held by then but those inserted.
    if intents:
        told |= await _add(database, connection, intents, left)
    if moves:
        told |= await _move(database, connection, moves, left)
    return [told.get(number) for number in range(len(writes))]


async def _add(
    database: Database,
    connection: AsyncConnection,
    intents: Mapping[int, Intent],
    left: Allowances,
) -> Mapping[int, WriteResult]:
    keys = {number: _key_of(each) for number, each in intents.items()}
    firsts = _firsts(keys)
    wanted = [intents[firsts[key]] for key in sorted(firsts)]
    rows = [payout_row(each.payout) for each in wanted if _pays(each, left)]
    said = _statements(database)
    done = (await connection.execute(said.add, database.bulk.bind(rows))).all() if rows else ()
    told: dict[int, WriteResult] = {
        firsts[row.account_id, row.reference_sha256]: True for row in done
    }
    if told:
        tries = [_try(intents[number]) for number in told]
        await connection.execute(said.begin, database.bulk.bind(tries))
    lost = {number: key for number, key in keys.items() if number not in told}
    if lost:
        found = await _found(database, connection, list(dict.fromkeys(lost.values())))
        told |= {number: found[key] for number, key in lost.items() if key in found}
    return told


async def _found(
    database: Database, connection: AsyncConnection, keys: Sequence[Key]
) -> Mapping[Key, WriteResult]:
    rows = await connection.execute(select(payouts).where(database.among(_KEY, keys)))
    return {(row.account_id, row.reference_sha256): restored_payout(row) for row in rows.all()}


async def _move(
    database: Database,
    connection: AsyncConnection,
    moves: Mapping[int, Claim | Change],
    left: Allowances,
) -> Mapping[int, WriteResult]:
    """Read and hold the rows, then write where they stand as each step asks."""
    keys = {number: _key_of(each) for number, each in moves.items()}
    firsts = _firsts(keys)
    holding = _STANDING.where(database.among(_KEY, list(firsts))).with_for_update(skip_locked=True)
    held = (await connection.execute(holding)).all()
    stands = {firsts[row.account_id, row.reference_sha256]: row for row in held}
    fits = {number: _fits(moves[number], row) for number, row in stands.items()}
    told = {number: each for number, each in fits.items() if not each or _pays(moves[number], left)}
    won = [(moves[number], stands[number]) for number, done in told.items() if done]
    await _claim(database, connection, [each for each, _ in won if isinstance(each, Claim)])
    await _take(
        database, connection, [(each, row) for each, row in won if isinstance(each, Change)]
    )
    return told


async def _claim(database: Database, connection: AsyncConnection, claims: Sequence[Claim]) -> None:
    if claims:
        said, bind = _statements(database), database.bulk.bind
        await connection.execute(said.claim, bind([claim_values(each) for each in claims]))
        await connection.execute(said.begin, bind([_try(each) for each in claims]))


async def _take(
    database: Database, connection: AsyncConnection, steps: Sequence[tuple[Change, Record]]
) -> None:
    if steps:
        said, bind = _statements(database), database.bulk.bind
        taken = [step_values(each, row.state) for each, row in steps]
        await connection.execute(said.step, bind(taken))
        await connection.execute(said.end, bind([ending_values(each) for each, _ in steps]))


def _statements(database: Database) -> Statements:
    return statements(database.bulk, database.insert_new)


def _fits(move: Claim | Change, row: Record) -> bool:
    """Compare: the row is ours until the transaction ends, so it stands so when it is set."""
    if isinstance(move, Claim):
        unsent = PayoutState.NOT_SENT.value
        return (row.state, row.attempt) == (unsent, move.attempt.number - 1)
    return row.attempt == move.attempt and PayoutState(row.state) in move.before


def _pays(write: Write, left: Allowances) -> bool:
    """Say whether a limit of the credential lets it through; a step moves no money."""
    return isinstance(write, Change) or not write.limited or left.take(write.payout)


def _limited(writes: Iterable[Write]) -> Iterator[Payout]:
    """Return the payouts whose credentials have limits."""
    for each in writes:
        if not isinstance(each, Change) and each.limited:
            yield each.payout


def _firsts(keys: Mapping[int, Key]) -> dict[Key, int]:
    """Name the first of each key."""
    return {key: number for number, key in reversed(list(keys.items()))}


def _try(begun: Intent | Claim) -> dict[str, object]:
    key = key_columns(begun.payout.account_id, begun.payout.reference)
    return key | attempt_row(begun.attempt)


def _key_of(write: Write) -> Key:
    payout = write if isinstance(write, Change) else write.payout
    return payout.account_id, reference_digest(payout.reference)
