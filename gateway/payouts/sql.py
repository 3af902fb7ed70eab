"""
The statements that write payouts.

There is one set. Each text is the same for any number of rows: a batch of one is a batch. Values
are named ``was_*`` where they say which row is meant and ``new_*`` where they are written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import (
    CTE,
    ColumnElement,
    Insert,
    Select,
    Table,
    Update,
    and_,
    case,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.sql.base import ReadOnlyColumnCollection

from gateway.payouts.event_store import event_row
from gateway.payouts.events import begun, stepped
from gateway.payouts.model import (
    SUCCESSORS,
    Attempt,
    Change,
    Claim,
    Intent,
    Payout,
    PayoutState,
)
from gateway.payouts.rows import (
    attempt_row,
    claim_columns,
    ending_columns,
    key_columns,
    payout_row,
    step_columns,
)
from gateway.store.kernel.database import FactSealing
from gateway.store.kernel.hot_statements import Among, BulkParameters, Found, Types
from gateway.store.tables.columns import reference_digest
from gateway.store.tables.core import attempts, payout_events, payouts

_KEY = ("account_id", "reference_sha256")
# A step may leave these as they are. They are NULL then, so that every step has the same text.
_KEPT = (
    *("provider_id", "e2e_id", "settled_at", "failure_code", "failure_forbidden"),
    *("held_until", "moved_centavos", "absence"),
)
_WRITTEN = ("state", "review", "updated_at", "next_check_at")
_CLAIMED = (
    *("state", "attempt", "provider", "provider_account", "date", "client_id"),
    *("lease_until", "updated_at", "next_check_at"),
)
_ATTEMPT_KEY = (*_KEY, "number")
_ENDING = ("outcome", "ended_at", "evidence")


def _given(table: Table, *later: str) -> Sequence[str]:
    """Name the columns of a new row that we write; those with a default get it from the server."""
    return [each.name for each in table.c if each.server_default is None and each.name not in later]


_TOLD = _given(payout_events, "number")
_NEW_PAYOUT = _given(
    payouts, *("check_owner", "check_until", "held_until", "moved_centavos", "absence")
)
_NEW_ATTEMPT = _given(attempts)
# No state has more predecessors than this, so no step can be allowed from more states.
_STATES = max(sum(state in after for after in SUCCESSORS.values()) for state in PayoutState)
_WAS_STATES = tuple(f"was_state_{number}" for number in range(_STATES))
_NEW = {name: f"new_{name}" for name in (*_WRITTEN, *_KEPT)}
_LEFT = dict.fromkeys(_NEW[name] for name in _KEPT)
Parameters = Mapping[str, ColumnElement[Any]]


InsertNew = Callable[[Table], Insert]
"""See ``Database.insert_new``."""


@cache
def add(bulk: BulkParameters, insert_new: InsertNew) -> Insert:
    """Insert payouts written by ``payout_row``; return the keys of those that are new."""
    into = bulk.insert_rows(insert_new(payouts), _types(payouts, "", _NEW_PAYOUT))
    return into.returning(*_keys())


@cache
def begin(bulk: BulkParameters, *, with_events: bool) -> Insert:
    """Insert the attempts of new payouts and of claims; with ``with_events`` their events, too."""
    into = bulk.insert_rows(insert(attempts), _types(attempts, "", _NEW_ATTEMPT))
    return into.add_cte(tell(bulk).cte("told")) if with_events else into


def _keys() -> Sequence[ColumnElement[Any]]:
    return [payouts.c[name] for name in _KEY]


@cache
def intend(bulk: BulkParameters, insert_new: InsertNew) -> Found:
    """
    Do ``add``, ``begin`` and ``tell``, a transaction's whole work; see ``intent_values``.

    Returns keys as ``add``.
    """
    given = bulk.parameters(_types(payouts, "", _NEW_PAYOUT))
    add = insert_new(payouts).from_select(list(_NEW_PAYOUT), select(*given.values()))
    added = add.returning(*_keys()).cte("added")
    tried = bulk.parameters(_types(attempts, "begin_", _NEW_ATTEMPT))
    rows = select(*tried.values()).where(*_is_of(added, tried, "begin_"))
    begin = insert(attempts).from_select(list(_NEW_ATTEMPT), rows)
    return select(*added.c).add_cte(begin.cte("begun"), tell(bulk, added).cte("told"))


@cache
def settle(bulk: BulkParameters) -> Found:
    """
    Do ``step``, ``end`` and ``tell``, a transaction's whole work; see ``settling_values``.

    Returns the keys of the payouts that were changed.
    """
    stepped = step(bulk).returning(*_keys()).cte("stepped")
    ended, told = end(bulk, stepped).cte("ended"), tell(bulk, stepped).cte("told")
    return select(*stepped.c).add_cte(ended, told)


@cache
def settle_free(bulk: BulkParameters) -> Found:
    """
    Do the same for payouts whose rows no other transaction has locked.

    Returns the keys of those, and whether each was changed.
    """
    given = bulk.parameters(_types(payouts, "was_", _KEY))
    free = select(*_keys()).where(*_matches(payouts, given, _KEY))
    locked = free.with_for_update(skip_locked=True, of=payouts).cte("locked")
    stepped = step(bulk, locked).returning(*_keys()).cte("stepped")
    ended, told = end(bulk, stepped).cte("ended"), tell(bulk, stepped).cte("told")
    both = locked.outerjoin(stepped, and_(*(locked.c[name] == stepped.c[name] for name in _KEY)))
    is_done = stepped.c.account_id.is_not(None).label("is_done")
    return select(*locked.c, is_done).select_from(both).add_cte(ended, told)


def _is_of(
    done: CTE | None, row: Parameters | ReadOnlyColumnCollection[str, Any], when: str = ""
) -> Iterable[ColumnElement[bool]]:
    """Say that a row's payout is one of those that were written; without them each is."""
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
def step(bulk: BulkParameters, of: CTE | None = None) -> Update:
    """Do steps where payouts are at the attempt and in a state it allows; see ``step_values``."""
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
def claim(bulk: BulkParameters) -> Update:
    """Do claims where payouts are unsent and at the attempt before; see ``claim_values``."""
    was = (*_KEY, "attempt", "state")
    given = bulk.parameters({**_types(payouts, "was_", was), **_types(payouts, "new_", _CLAIMED)})
    return (
        update(payouts)
        .where(*_matches(payouts, given, was))
        .values({name: given[f"new_{name}"] for name in _CLAIMED})
    )


@cache
def end(bulk: BulkParameters, of: CTE | None = None) -> Update:
    """End the attempts of steps; see ``ending_values``."""
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
def tell(bulk: BulkParameters, of: CTE | None = None) -> Insert:
    """Insert events; see ``telling_values``."""
    given = bulk.parameters(_types(payout_events, "event_", _TOLD))
    rows = select(*given.values()).where(*_is_of(of, given, "event_"))
    return insert(payout_events).from_select(_TOLD, rows)


def telling_values(event: Mapping[str, object]) -> dict[str, object]:
    """Return the values of an event's row."""
    return _named("event", event)


def beginning_values(write: Intent | Claim) -> dict[str, object]:
    """Return the values of the attempt that a new payout or a claim begins."""
    key = key_columns(write.payout.account_id, write.payout.reference)
    return key | attempt_row(write.attempt)


def intent_values(write: Intent, sealing: FactSealing | None) -> dict[str, object]:
    """Return the values of a new payout, its first attempt, and what tells of it."""
    told = event_row(begun(write.payout, write.attempt), sealing)
    tried = _named("begin", beginning_values(write))
    return {**payout_row(write.payout), **tried, **telling_values(told)}


def settling_values(change: Change, sealing: FactSealing | None) -> dict[str, object]:
    """Return the values of a step, of the end of its attempt, and of what tells of it."""
    told = event_row(stepped(change), sealing)
    return {**step_values(change), **ending_values(change), **telling_values(told)}


def step_values(change: Change) -> dict[str, object]:
    """Return the values of a step; what it leaves as it is, is None."""
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


def claim_values(payout: Payout, attempt: Attempt) -> dict[str, object]:
    """Return the values of a claim of a payout by its next attempt."""
    was = {"attempt": attempt.number - 1, "state": PayoutState.NOT_SENT.value}
    key = key_columns(payout.account_id, payout.reference)
    return _named("was", key | was) | _named("new", claim_columns(payout, attempt))


def ending_values(change: Change) -> dict[str, object]:
    """Return the values of the end of a step's attempt."""
    ending = ending_columns(change)
    return {
        "was_account_id": change.account_id,
        "was_reference_sha256": reference_digest(change.reference),
        "was_number": change.attempt,
        "new_outcome": ending["outcome"],
        "new_ended_at": ending["ended_at"],
        "new_evidence": ending["evidence"],
    }


def _named(when: str, columns: Mapping[str, object]) -> dict[str, object]:
    return {f"{when}_{name}": value for name, value in columns.items()}


_COLUMNS = (payouts.c.account_id, payouts.c.reference_sha256)
_LOCK = select(*_COLUMNS, payouts.c.state, payouts.c.attempt).with_for_update(skip_locked=True)


@cache
def lock(among: Among) -> Select[*tuple[Any, ...]]:
    """Lock payouts by their keys, but for those that another transaction has locked."""
    return _LOCK.where(among(_COLUMNS, "keys"))


@cache
def named(among: Among) -> Select[*tuple[Any, ...]]:
    """Find payouts by their keys."""
    return select(payouts).where(among(_COLUMNS, "keys"))
