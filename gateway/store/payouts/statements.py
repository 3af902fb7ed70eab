"""
The statements that write payouts, and limits of credentials, checked in the same transaction.

There is one set. Each text is the same for any number of rows: a batch of one is a batch. Values
are named ``was_*`` where they say which row is meant and ``new_*`` where they are written.

The credential's row is locked until the transaction ends, so the second of two simultaneous
payouts counts the first. Credentials without limits cost nothing: they are not read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Insert,
    Table,
    Update,
    bindparam,
    case,
    func,
    insert,
    select,
    update,
)

from gateway.domain.kernel.storage import LimitReached
from gateway.domain.payouts.payouts import SUCCESSORS, Attempt, Change, Payout, PayoutState
from gateway.store.kernel.hot_statements import BulkParameters, Execution, Types
from gateway.store.payouts.rows import claim_columns, ending_columns, key_columns, step_columns
from gateway.store.tables.columns import Record, instant_unseen
from gateway.store.tables.core import accounts, attempts, credentials, payout_events, payouts

_KEY = ("account_id", "reference_sha256")
# A step may leave these as they are. They are NULL then, so that every step has the same text.
_KEPT = (
    *("provider_id", "e2e_id", "settled_at", "failure_code", "failure_forbidden"),
    "held_until",
)
_WRITTEN = ("state", "review", "updated_at", "next_check_at")
_CLAIMED = (
    *("state", "attempt", "provider", "date", "client_id", "lease_until", "updated_at"),
    "next_check_at",
)
_ATTEMPT_KEY = (*_KEY, "number")
_ENDING = ("outcome", "ended_at", "evidence")
_TOLD = [each.name for each in payout_events.c if each.name != "number"]
# A new payout has none of these.
_LATER = ("check_owner", "check_until", "held_until")
# No state has more predecessors than this, so no step can be allowed from more states.
_STATES = max(sum(state in after for after in SUCCESSORS.values()) for state in PayoutState)
_WAS_STATES = tuple(f"was_state_{number}" for number in range(_STATES))
Parameters = Mapping[str, ColumnElement[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statements:
    """
    Executed with what ``BulkParameters.bind`` returns.

    Attributes:
        add: Inserts payouts written by ``payout_row``; returns the keys of those that are new.
        begin: Inserts the attempts of new payouts and of claims; see ``tell``.
        step: Does steps where the payouts are at the attempt and in a state the step allows; see
            ``step_values``.
        claim: Does claims where the payouts are unsent and at the attempt before; see
            ``claim_values``.
        end: Ends the attempts of steps; see ``ending_values`` and ``tell``.
        tell: Inserts events, see ``telling_values``; None where ``begin`` and ``end`` do so too.
    """

    add: Insert
    begin: Insert
    step: Update
    claim: Update
    end: Update
    tell: Insert | None


@cache
def statements(
    bulk: BulkParameters, insert_new: Callable[[Table], Insert], *, joins: bool = False
) -> Statements:
    """Build them for a database, once; with ``joins`` a statement takes another's work along."""
    new = [each.name for each in payouts.c if each.name not in _LATER]
    add = bulk.insert_rows(insert_new(payouts), _types(payouts, "", new))
    begin = bulk.insert_rows(insert(attempts), _types(attempts, "", attempts.c.keys()))
    end, tell = _end(bulk), _tell(bulk)
    if joins:
        told = tell.cte("told")
        begin, end = begin.add_cte(told), end.add_cte(told)
    return Statements(
        add=add.returning(*(payouts.c[name] for name in _KEY)),
        begin=begin,
        step=_step(bulk),
        claim=_claim(bulk),
        end=end,
        tell=None if joins else tell,
    )


def _types(table: Table, when: str, names: Iterable[str]) -> Types:
    return {f"{when}{name}": table.c[name].type for name in names}


def _matches(
    table: Table, given: Parameters, names: Iterable[str]
) -> Iterable[ColumnElement[bool]]:
    return (table.c[name] == given[f"was_{name}"] for name in names)


def _step(bulk: BulkParameters) -> Update:
    was = _types(payouts, "was_", (*_KEY, "attempt"))
    states = dict.fromkeys(_WAS_STATES, payouts.c.state.type)
    given = bulk.parameters({**was, **states, **_types(payouts, "new_", (*_WRITTEN, *_KEPT))})
    kept = {name: func.coalesce(given[f"new_{name}"], payouts.c[name]) for name in _KEPT}
    return (
        update(payouts)
        .where(*_matches(payouts, given, (*_KEY, "attempt")))
        .where(payouts.c.state.in_([given[name] for name in _WAS_STATES]))
        .values({name: given[f"new_{name}"] for name in _WRITTEN} | kept)
    )


def _claim(bulk: BulkParameters) -> Update:
    was = (*_KEY, "attempt", "state")
    given = bulk.parameters({**_types(payouts, "was_", was), **_types(payouts, "new_", _CLAIMED)})
    return (
        update(payouts)
        .where(*_matches(payouts, given, was))
        .values({name: given[f"new_{name}"] for name in _CLAIMED})
    )


def _end(bulk: BulkParameters) -> Update:
    given = bulk.parameters(
        {**_types(attempts, "was_", _ATTEMPT_KEY), **_types(attempts, "new_", _ENDING)}
    )
    outcome, unsent = attempts.c.outcome, PayoutState.NOT_SENT.value
    return (
        update(attempts)
        .where(*_matches(attempts, given, _ATTEMPT_KEY))
        .values(
            # An attempt proven unsent stays so, whatever becomes of the payout.
            outcome=case((outcome == unsent, outcome), else_=given["new_outcome"]),
            ended_at=func.coalesce(attempts.c.ended_at, given["new_ended_at"]),
            evidence=func.coalesce(given["new_evidence"], attempts.c.evidence),
        )
    )


def _tell(bulk: BulkParameters) -> Insert:
    given = bulk.parameters(_types(payout_events, "event_", _TOLD))
    return insert(payout_events).from_select(_TOLD, select(*given.values()))


def telling_values(event: Mapping[str, object]) -> dict[str, object]:
    """Return the values of an event's row."""
    return _named("event", event)


def step_values(change: Change) -> dict[str, object]:
    """Return the values of a step; parameters for states it does not name repeat one it does."""
    states = sorted(state.value for state in change.before)
    was = key_columns(change.account_id, change.reference) | {"attempt": change.attempt}
    return {
        **_named("was", was),
        **dict(zip(_WAS_STATES, states + states[-1:] * _STATES, strict=False)),
        **_named("new", dict.fromkeys(_KEPT) | step_columns(change)),
    }


def claim_values(payout: Payout, attempt: Attempt) -> dict[str, object]:
    """Return the values of a claim of a payout by its next attempt."""
    was = {"attempt": attempt.number - 1, "state": PayoutState.NOT_SENT.value}
    key = key_columns(payout.account_id, payout.reference)
    return _named("was", key | was) | _named("new", claim_columns(payout, attempt))


def ending_values(change: Change) -> dict[str, object]:
    """Return the values of the end of a step's attempt."""
    was = key_columns(change.account_id, change.reference) | {"number": change.attempt}
    return _named("was", was) | _named("new", ending_columns(change))


def _named(when: str, columns: Mapping[str, object]) -> dict[str, object]:
    return dict(zip(_names(when, tuple(columns)), columns.values(), strict=True))


@cache
def _names(when: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of parameters; there are as many kinds of rows as statements."""
    return tuple(f"{when}_{name}" for name in names)


# Money may have left in these states. In the others it is proven that it did not.
_COUNTED = (PayoutState.SENDING, PayoutState.UNKNOWN, PayoutState.ACCEPTED, PayoutState.PAID)
# Locked in the order of their ids, so that two transactions never wait for each other.
_HOLD = (
    select(
        credentials.c.client_id,
        credentials.c.company_id,
        credentials.c.limit_payout,
        credentials.c.limit_day,
    )
    .where(credentials.c.client_id.in_(bindparam("client_ids", expanding=True)))
    .order_by(credentials.c.client_id)
    .with_for_update(key_share=True)
)
# ``created_at`` is there for the index. A payout of a day may have been created the day before it,
# around midnight.
_SPENT = select(func.coalesce(func.sum(payouts.c.centavos), 0)).where(
    payouts.c.account_id.in_(
        select(accounts.c.id).where(accounts.c.company_id == bindparam("company_id"))
    ),
    payouts.c.created_at >= instant_unseen(bindparam("since", type_=payouts.c.created_at.type)),
    payouts.c.date == bindparam("day"),
    payouts.c.client_id == bindparam("client_id"),
    payouts.c.state.in_([state.value for state in _COUNTED]),
)


@dataclass(slots=True)
class Allowances:
    """
    What credentials may still pay out, in centavos.

    Attributes:
        held: The locked credentials, by id.
        left: The rest of the daily limit, by credential and day (UTC). There is no entry where
            there is no daily limit.
    """

    held: Mapping[str, Record]
    left: dict[tuple[str, date], int] = field(default_factory=dict)

    def take(self, payout: Payout) -> LimitReached | None:
        """Count a payout, or return the limit it exceeds; a credential not held has none."""
        held = self.held.get(payout.client_id)
        if held is None:
            return None
        centavos, spender = payout.value.centavos, (payout.client_id, payout.date)
        if held.limit_payout is not None and centavos > held.limit_payout:
            return LimitReached("per_payout")
        if spender in self.left:
            if centavos > self.left[spender]:
                return LimitReached("per_day")
            self.left[spender] -= centavos
        return None


async def allowances(connection: Execution, wanted: Iterable[Payout]) -> Allowances:
    """Lock the credentials of payouts about to be stored, and count what is left of each."""
    spenders = {(each.client_id, each.date) for each in wanted}
    if not spenders:
        return Allowances({})
    found = Allowances(await _hold(connection, {client_id for client_id, _ in spenders}))
    for client_id, day in spenders:
        held = found.held.get(client_id)
        if held is not None and held.limit_day is not None:
            spent = await _spent(connection, held, day)
            found.left[client_id, day] = held.limit_day - spent
    return found


async def _hold(connection: Execution, client_ids: Iterable[str]) -> Mapping[str, Record]:
    rows = (await connection.execute(_HOLD, {"client_ids": sorted(client_ids)})).all()
    return {row.client_id: row for row in rows}


async def _spent(connection: Execution, held: Record, day: date) -> int:
    """Return the centavos of a credential's payouts of a UTC day."""
    since = datetime.combine(day, time(), UTC) - timedelta(days=1)
    asked = {
        "company_id": held.company_id,
        "client_id": held.client_id,
        "day": day,
        "since": since,
    }
    return int((await connection.execute(_SPENT, asked)).scalar_one())
