"""Payouts, attempts, events and opinions as rows of the database."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import datetime
from operator import attrgetter, itemgetter
from typing import Final

from gateway.banks.port.payout_orders import FailureCode, PayoutMethod
from gateway.banks.port.providers import Evidence, Phase
from gateway.core.money import Money
from gateway.core.terms import folded
from gateway.payouts.archived import NO_DESTINATION
from gateway.payouts.events import KEPT_FACTS, Facts, PayoutEvent
from gateway.payouts.model import (
    SUCCESSORS,
    Absence,
    Attempt,
    Change,
    EventKind,
    Failure,
    ListedPayout,
    NamedOwner,
    Opinion,
    Payout,
    PayoutState,
    Verdict,
    masked_destination,
    normal_destination,
    restored_destination,
)
from gateway.payouts.schedule import FIRST_CHECK
from gateway.store.kernel.database import FactSealing
from gateway.store.tables import columns
from gateway.store.tables.columns import Record
from gateway.store.tables.core import payouts

# Places in a row; see ``restored_payout``.
_COLUMNS = payouts.c.keys()
_READ = (
    *("method", "centavos", "destination", "destination_sent", "state"),
    *("failure_code", "failure_forbidden", "key_owner", "moved_centavos", "absence"),
)
_KEPT = [each for each in _COLUMNS if each in Payout.__dataclass_fields__ and each not in _READ]
_READ_AT = itemgetter(*map(_COLUMNS.index, _READ))
_KEPT_AT = itemgetter(*map(_COLUMNS.index, _KEPT))
_stored_of = attrgetter(*_KEPT)
_METHODS = {each.value: each for each in PayoutMethod}
_STATES = {each.value: each for each in PayoutState}
_SHOWN = payouts.c
LISTED: Final = (
    *(_SHOWN.reference, _SHOWN.method, _SHOWN.state, _SHOWN.centavos, _SHOWN.date),
    *(_SHOWN.description, _SHOWN.destination_sent, _SHOWN.e2e_id),
    *(_SHOWN.created_at, _SHOWN.updated_at, _SHOWN.settled_at),
    *(_SHOWN.failure_code, _SHOWN.failure_forbidden),
)
"""The columns of ``listed_payout``, in its order."""


def key_columns(account_id: str, reference: str) -> dict[str, object]:
    """Return the primary key of a payout."""
    return {
        "account_id": account_id,
        "reference_sha256": columns.reference_digest(reference),
    }


def payout_row(payout: Payout) -> dict[str, object]:
    """
    Return all columns of a new payout.

    Its first check is due when its lease ends, or its hold.
    """
    return {
        **key_columns(payout.account_id, payout.reference),
        **dict(zip(_KEPT, _stored_of(payout), strict=True)),
        "method": payout.method.value,
        "centavos": payout.value.centavos,
        "destination": columns.written(normal_destination(payout.destination)),
        "destination_sent": columns.written(payout.destination_sent),
        "state": payout.state.value,
        "payee_digest": payout.payee_digest or None,
        "key_owner": None if payout.owner is None else columns.written(asdict(payout.owner)),
        "payee_folded": folded((payout.owner or payout.destination).name),
        "next_check_at": payout.held_until or payout.lease_until,
        **_failing(payout.failure),
    }


def restored_payout(row: Record) -> Payout:
    """
    Return the payout of a row that begins with the columns of ``payouts``, in their order.

    They are taken by place: a row takes half a microsecond to find a name, and a page of a list
    would ask it for six hundred.
    """
    word, centavos, destination, sent, state, *more = _READ_AT(row)
    code, forbidden, owner, moved, absence = more
    method = _METHODS[word]
    archived = destination == NO_DESTINATION
    texts = columns.read(sent)
    return Payout(
        **dict(zip(_KEPT, _KEPT_AT(row), strict=True)),
        method=method,
        value=Money(centavos),
        destination=(
            masked_destination(method, texts)
            if archived
            else restored_destination(method, columns.read(destination))
        ),
        destination_sent=texts,
        state=_STATES[state],
        failure=None if code is None else Failure(FailureCode(code), forbidden),
        owner=None if owner is None else NamedOwner(**columns.read(owner)),
        moved=None if moved is None else Money(moved),
        absence=None if absence is None else Absence(absence),
        archived=archived,
    )


def listed_payout(row: Record) -> ListedPayout:
    """Return the payout of a row that begins with ``LISTED``; by place, as ``restored_payout``."""
    reference, method, state, centavos, date, *asked = row[: len(LISTED)]
    description, sent, e2e_id, created_at, updated_at, settled_at, code, forbidden = asked
    return ListedPayout(
        reference,
        _METHODS[method],
        _STATES[state],
        Money(centavos),
        date,
        description,
        columns.read(sent),
        e2e_id,
        created_at,
        updated_at,
        settled_at,
        None if code is None else Failure(FailureCode(code), forbidden),
    )


def step_columns(change: Change) -> dict[str, object]:
    """
    Return the columns of a payout that a step changes; empty fields are left out.

    A step ends a review, because the state that people were asked about is over.
    """
    step: dict[str, object] = {
        "state": change.after.value,
        "review": False,
        "updated_at": change.at,
        "next_check_at": first_check(change.after, change.at),
    }
    if change.held_until is not None:
        step["held_until"] = change.held_until
    if change.provider_id:
        step["provider_id"] = change.provider_id
    if change.e2e_id:
        step["e2e_id"] = change.e2e_id
    if change.settled_at is not None:
        step["settled_at"] = change.settled_at
    if change.absence is not None:
        step["absence"] = change.absence.value
    if change.moved is not None:
        step["moved_centavos"] = change.moved.centavos
    if change.failure is not None:
        step |= _failing(change.failure)
    return step


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


def claim_columns(payout: Payout, attempt: Attempt) -> dict[str, object]:
    """Return the columns that a claim changes: date and sender, the attempt's fields, the hold."""
    return {
        "state": PayoutState.SENDING.value,
        "attempt": attempt.number,
        "provider": attempt.provider,
        "provider_account": payout.provider_account,
        "date": payout.date,
        "client_id": payout.client_id,
        "lease_until": attempt.lease_until,
        "updated_at": attempt.started_at,
        "next_check_at": attempt.lease_until,
        "held_until": None,
    }


def first_check(state: PayoutState, at: datetime) -> datetime | None:
    """
    Return the first check of a payout that has just reached a state; None for never.

    One that was not sent is planned then for the end of the day it is dated, which may be over
    already. A final one is never checked.
    """
    if state in {PayoutState.UNKNOWN, PayoutState.ACCEPTED, PayoutState.NOT_SENT}:
        return at + FIRST_CHECK
    return None


def ending_columns(change: Change) -> dict[str, object]:
    """Return the columns of a step's attempt; evidence is None where the step has none."""
    evidence = change.evidence
    return {
        "outcome": change.after.value,
        "ended_at": change.at,
        "evidence": None if evidence is None else evidence_document(evidence),
    }


def attempt_row(attempt: Attempt) -> dict[str, object]:
    """Return all columns of an attempt but the payout's key."""
    outcome, evidence = attempt.outcome, attempt.evidence
    return columns.row_of(attempt) | {
        "outcome": None if outcome is None else outcome.value,
        "evidence": None if evidence is None else evidence_document(evidence),
    }


def restored_attempt(row: Record) -> Attempt:
    """Return the attempt of a row."""
    return columns.record_of(Attempt, row, {"outcome": _restored_state, "evidence": _restored})


def _restored_state(word: str | None) -> PayoutState | None:
    return None if word is None else _STATES[word]


def _restored(document: str | None) -> Evidence | None:
    return None if document is None else restored_evidence(document)


def evidence_document(evidence: Evidence) -> str:
    """Return evidence as ASCII JSON: a bank's code may have characters that no column takes."""
    return columns.written_in_ascii(columns.row_of(evidence) | {"phase": evidence.phase.value})


def restored_evidence(document: str) -> Evidence:
    """Return the evidence of a document."""
    fields = json.loads(document)
    return Evidence(**fields | {"phase": Phase(fields["phase"])})


def _failing(failure: Failure | None) -> dict[str, object]:
    if failure is None:
        return {"failure_code": None, "failure_forbidden": False}
    return {"failure_code": failure.code.value, "failure_forbidden": failure.forbidden}


def event_row(event: PayoutEvent, sealing: FactSealing | None) -> dict[str, object]:
    """Return all columns of a new event but its number."""
    key = key_columns(event.account_id, event.reference)
    return {
        **key,
        "attempt": event.attempt,
        "kind": event.kind.value,
        "at": event.at,
        "after": None if event.after is None else event.after.value,
        "sealed_facts": _sealed_facts(event, key["reference_sha256"], sealing),
    }


def _sealed_facts(event: PayoutEvent, digest: object, sealing: FactSealing | None) -> bytes | None:
    facts = event.facts
    if not facts.keys() <= KEPT_FACTS:
        facts = {name: value for name, value in facts.items() if name in KEPT_FACTS}
    if not facts or sealing is None:
        return None
    content = columns.written_in_ascii(facts).encode()
    return sealing.seal(
        content, _row_name(event.account_id, digest, event.attempt, event.kind.value)
    )


def restored_event(row: Record, reference: str, sealing: FactSealing | None) -> PayoutEvent:
    """Return the event of a row, which has only the digest of its reference."""
    return PayoutEvent(
        account_id=row.account_id,
        reference=reference,
        attempt=row.attempt,
        kind=EventKind(row.kind),
        at=row.at,
        after=None if row.after is None else PayoutState(row.after),
        facts=_facts_of(row, sealing),
    )


def _facts_of(row: Record, sealing: FactSealing | None) -> Facts:
    if row.sealed_facts is None or sealing is None:
        return {}
    named = _row_name(row.account_id, row.reference_sha256, row.attempt, row.kind)
    content = sealing.open(row.sealed_facts, named)
    facts: Facts = {} if content is None else json.loads(content)
    return {name: value for name, value in facts.items() if name in KEPT_FACTS}


def _row_name(account_id: str, digest: object, attempt: int, kind: str) -> str:
    """Return the row name that binds encrypted facts to their row."""
    named = digest.hex() if isinstance(digest, bytes) else ""
    return f"payout_event:{account_id}:{named}:{attempt}:{kind}"


def restored_opinion(row: Record, reference: str) -> Opinion:
    """Return the opinion of a row, which has only the digest of its reference."""
    return Opinion(
        account_id=row.account_id,
        reference=reference,
        verdict=Verdict(row.verdict),
        moved=None if row.centavos is None else Money(row.centavos),
        reason=row.reason,
        by=row.by,
        at=row.at,
        attempt=row.attempt,
        state=None if row.state is None else PayoutState(row.state),
    )


def opinion_columns(opinion: Opinion) -> dict[str, object]:
    """Return the columns of an opinion but its key."""
    return {
        "verdict": opinion.verdict.value,
        "centavos": None if opinion.moved is None else opinion.moved.centavos,
        "reason": opinion.reason,
        "at": opinion.at,
        "attempt": opinion.attempt,
        "state": opinion.state and opinion.state.value,
    }
