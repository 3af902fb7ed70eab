"""
Statements that write many payouts, one text for each whatever their number.

What a step leaves as it is comes as NULL here; single steps name the columns they change instead.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import BindParameter, ColumnElement, Table, bindparam, case, func, update

from gateway.domain.payouts import PayoutState
from gateway.domain.stores import Change
from gateway.store.attempts import evidence_document
from gateway.store.payout_rows import claim_columns, key_columns, step_columns
from gateway.store.payout_steps import Claim
from gateway.store.tables import attempts, payouts

_KEPT = ("provider_id", "e2e_id", "settled_at", "failure_code", "failure_forbidden")
_WRITTEN = ("state", "review", "updated_at", "next_check_at")
_CLAIMED = ("state", "attempt", "provider", "date", "lease_until", "updated_at", "next_check_at")


def _new(name: str, table: Table = payouts) -> BindParameter[object]:
    # beside the column's name: an UPDATE keeps the names of columns to itself
    return bindparam(f"new_{name}", type_=table.c[name].type)


def _stands(table: Table, *names: str) -> list[ColumnElement[bool]]:
    return [table.c[name] == bindparam(f"was_{name}", type_=table.c[name].type) for name in names]


_STANDING = _stands(payouts, "account_id", "reference_sha256", "attempt", "state")

STEP = (
    update(payouts)
    .where(*_STANDING)
    .values({name: _new(name) for name in _WRITTEN})
    .values({name: func.coalesce(_new(name), payouts.c[name]) for name in _KEPT})
)
"""A step, where the row still stands as it was read; see ``step_values``."""

CLAIM = update(payouts).where(*_STANDING).values({name: _new(name) for name in _CLAIMED})
"""A claim likewise; see ``claim_values``."""

ENDING = (
    update(attempts)
    .where(*_stands(attempts, "account_id", "reference_sha256", "number"))
    .values(
        outcome=case(
            (attempts.c.outcome == PayoutState.NOT_SENT.value, attempts.c.outcome),
            else_=_new("outcome", attempts),
        ),
        ended_at=func.coalesce(attempts.c.ended_at, _new("ended_at", attempts)),
        evidence=func.coalesce(_new("evidence", attempts), attempts.c.evidence),
    )
)
"""The end of the try a step is about; see ``ending_values``."""


def step_values(change: Change, state: str) -> dict[str, object]:
    """Fill in ``STEP`` for a payout that was read in this state."""
    new = dict.fromkeys(_KEPT) | step_columns(change)
    return _named("new", new) | _standing(
        change.account_id, change.reference, change.attempt, state
    )


def claim_values(claim: Claim) -> dict[str, object]:
    """Fill in ``CLAIM``."""
    payout, number = claim.payout, claim.attempt.number
    new = claim_columns(payout, claim.attempt)
    unsent = PayoutState.NOT_SENT.value
    return _named("new", new) | _standing(payout.account_id, payout.reference, number - 1, unsent)


def ending_values(change: Change) -> dict[str, object]:
    """Fill in ``ENDING``."""
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
