"""
Statements that write many payouts, one text for each whatever their number.

What a step leaves as it is comes as NULL here; single steps name the columns they change instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Insert, Table, Update, case, func, insert, update

from gateway.domain.payouts.payouts import Change, PayoutState
from gateway.store.kernel.database import BulkParameters, Types
from gateway.store.payouts.rows import claim_columns, evidence_document, key_columns, step_columns
from gateway.store.payouts.steps import Claim
from gateway.store.tables.core import attempts, payouts

_KEY = ("account_id", "reference_sha256")
_KEPT = ("provider_id", "e2e_id", "settled_at", "failure_code", "failure_forbidden")
_WRITTEN = ("state", "review", "updated_at", "next_check_at")
_CLAIMED = (
    *("state", "attempt", "provider", "date", "client_id", "lease_until", "updated_at"),
    "next_check_at",
)
_STANDING = (*_KEY, "attempt", "state")
_TRY = (*_KEY, "number")
_OUTCOME = ("outcome", "ended_at", "evidence")
# Of the reconciler alone; a new payout has none of them.
_CHECKS = ("check_owner", "check_until")

Places = Mapping[str, ColumnElement[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statements:
    """
    What is executed with ``BulkParameters.given``.

    Attributes:
        add: New payouts, as ``payout_row`` writes them; returns the keys of those that are new.
        begin: Their attempts, or those of claims.
        step: Steps, where the rows still stand as they were read; see ``step_values``.
        claim: Claims likewise; see ``claim_values``.
        end: The ends of the tries that steps are about; see ``ending_values``.
    """

    add: Insert
    begin: Insert
    step: Update
    claim: Update
    end: Update


@cache
def statements(bulk: BulkParameters, insert_new: Callable[[Table], Insert]) -> Statements:
    """Make them for a database, once."""
    new = [each.name for each in payouts.c if each.name not in _CHECKS]
    add = bulk.insert_rows(insert_new(payouts), _types(payouts, "", new))
    begin = bulk.insert_rows(insert(attempts), _types(attempts, "", attempts.c.keys()))
    return Statements(
        add=add.returning(*(payouts.c[name] for name in _KEY)),
        begin=begin,
        step=_step(_places(bulk, payouts, _STANDING, (*_WRITTEN, *_KEPT))),
        claim=_claim(_places(bulk, payouts, _STANDING, _CLAIMED)),
        end=_end(_places(bulk, attempts, _TRY, _OUTCOME)),
    )


def _types(table: Table, when: str, names: Iterable[str]) -> Types:
    return {f"{when}{name}": table.c[name].type for name in names}


def _places(bulk: BulkParameters, table: Table, was: Iterable[str], new: Iterable[str]) -> Places:
    # beside the column's name: an UPDATE keeps the names of columns to itself
    return bulk.parameters({**_types(table, "was_", was), **_types(table, "new_", new)})


def _stands(table: Table, places: Places, names: Iterable[str]) -> list[ColumnElement[bool]]:
    return [table.c[name] == places[f"was_{name}"] for name in names]


def _step(places: Places) -> Update:
    kept = {name: func.coalesce(places[f"new_{name}"], payouts.c[name]) for name in _KEPT}
    return (
        update(payouts)
        .where(*_stands(payouts, places, _STANDING))
        .values({name: places[f"new_{name}"] for name in _WRITTEN} | kept)
    )


def _claim(places: Places) -> Update:
    return (
        update(payouts)
        .where(*_stands(payouts, places, _STANDING))
        .values({name: places[f"new_{name}"] for name in _CLAIMED})
    )


def _end(places: Places) -> Update:
    outcome, unsent = attempts.c.outcome, PayoutState.NOT_SENT.value
    return (
        update(attempts)
        .where(*_stands(attempts, places, _TRY))
        .values(
            outcome=case((outcome == unsent, outcome), else_=places["new_outcome"]),
            ended_at=func.coalesce(attempts.c.ended_at, places["new_ended_at"]),
            evidence=func.coalesce(places["new_evidence"], attempts.c.evidence),
        )
    )


def step_values(change: Change, state: str) -> dict[str, object]:
    """Fill in a step for a payout that was read in this state."""
    new = dict.fromkeys(_KEPT) | step_columns(change)
    return _named("new", new) | _standing(
        change.account_id, change.reference, change.attempt, state
    )


def claim_values(claim: Claim) -> dict[str, object]:
    """Fill in a claim."""
    payout, number = claim.payout, claim.attempt.number
    new = claim_columns(payout, claim.attempt)
    unsent = PayoutState.NOT_SENT.value
    return _named("new", new) | _standing(payout.account_id, payout.reference, number - 1, unsent)


def ending_values(change: Change) -> dict[str, object]:
    """Fill in the end of a try."""
    evidence = change.evidence
    new = {
        "outcome": change.after.value,
        "ended_at": change.at,
        "evidence": None if evidence is None else evidence_document(evidence),
    }
    try_ = key_columns(change.account_id, change.reference) | {"number": change.attempt}
    return _named("new", new) | _named("was", try_)


def _standing(account_id: str, reference: str, attempt: int, state: str) -> dict[str, object]:
    key = key_columns(account_id, reference)
    return _named("was", key | {"attempt": attempt, "state": state})


def _named(when: str, columns: Mapping[str, object]) -> dict[str, object]:
    return {f"{when}_{name}": value for name, value in columns.items()}
