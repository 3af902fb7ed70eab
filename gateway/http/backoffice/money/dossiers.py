"""Everything that is known of one payout: how sure we are, each try, and what people said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, NotRequired, TypedDict

from msgspec import Meta

from gateway.domain.bank.providers import Evidence
from gateway.domain.identity.rights import Area
from gateway.domain.kernel import errors
from gateway.domain.payouts.payouts import FINAL_STATES, Attempt, Payout
from gateway.domain.payouts.reviews import Opinion
from gateway.domain.payouts.status import Certainty
from gateway.http.backoffice.callers import AccountCaller, as_caller
from gateway.http.backoffice.cells import NO_BODY, BackOfficeOperations, reading
from gateway.http.backoffice.money.payouts import PayoutRecord, payout
from gateway.http.common import STORE_FAILS
from gateway.http.rendering import Amount, amount, instant
from gateway.http.resources.documents import Instant
from gateway.http.route import Row, route
from gateway.operations.payouts.records import Dossier, PayoutWithReturns
from policies.validation.inputs import REFERENCE


class EvidenceDocument(TypedDict):
    """
    What is known of one call that moves money.

    ``bytes_left`` false is proof that nothing was sent; ``reason`` is a word of ours, and
    ``provider_code`` the bank's own. ``http_status`` is 0 where the bank has not answered.
    """

    phase: Literal["refused_here", "connecting", "connected", "sent", "answered"]
    bytes_left: bool
    reason: str
    http_status: int
    provider_code: str


class AttemptDocument(TypedDict):
    """
    One try to pay; nothing of it is sent after ``send_deadline``.

    While it runs, ``outcome`` is empty and there is no evidence.
    """

    number: int
    provider: str
    started_at: Instant
    ended_at: Instant
    send_deadline: Instant
    outcome: Annotated[str, Meta(examples=["unknown"])]
    evidence: NotRequired[EvidenceDocument]
    trace_id: str
    last_probe_at: Instant
    next_probe_at: Instant


class OpinionDocument(TypedDict):
    """What one person found out."""

    by: str
    verdict: Literal["paid", "failed"]
    reason: str
    at: Instant


class SimilarDocument(TypedDict):
    """Another payout of the same amount and recipient, of about the same time."""

    reference: str
    state: str
    value: Amount
    created_at: Instant


class DossierDocument(TypedDict):
    """
    A payout, and everything that is known of it.

    ``certainty`` says what is proven; ``review`` that two people have to decide. Lists are oldest
    first.
    """

    payout: PayoutRecord
    state: str
    certainty: Certainty
    review: bool
    provider: str
    provider_key: str
    provider_id: str
    client_id: str
    updated_at: Instant
    attempts: list[AttemptDocument]
    similar: list[SimilarDocument]
    opinions: list[OpinionDocument]


def dossier_rows(does: BackOfficeOperations) -> Sequence[Row[AccountCaller]]:
    """Return the row; it reads the store alone, and never waits for a bank."""
    return (
        route(
            "GET",
            "/accounts/{account_id}/withdraw/{reference}/dossier",
            name="backoffice.withdraw_dossier",
            summary="Read everything that is known of a payout: tries, evidence, opinions.",
            needs=reading(Area.PAYOUT),
            limits=NO_BODY,
            takes=REFERENCE,
            runs=as_caller(does.payout_records.read),
            shows=_dossier,
            fails=STORE_FAILS,
            raises=(errors.PAYOUT_NOT_FOUND,),
        ),
    )


def _dossier(found: Dossier, who: AccountCaller) -> DossierDocument:
    about = found.case.payout
    return {
        "payout": payout(PayoutWithReturns(about, found.returns), who),
        "state": about.state.value,
        "certainty": found.case.certainty,
        "review": about.review,
        "provider": about.provider,
        "provider_key": about.provider_key,
        "provider_id": about.provider_id,
        "client_id": about.client_id,
        "updated_at": instant(about.updated_at),
        "attempts": [attempt(each, about) for each in found.case.attempts],
        "similar": [_similar(each) for each in found.similar],
        "opinions": [opinion(each) for each in found.opinions],
    }


def attempt(found: Attempt, about: Payout) -> AttemptDocument:
    """Show a try; of a payout that is final, or of an earlier try, there is no next look."""
    is_open = found.number == about.attempt and about.state not in FINAL_STATES
    document: AttemptDocument = {
        "number": found.number,
        "provider": found.provider,
        "started_at": instant(found.started_at),
        "ended_at": instant(found.ended_at),
        "send_deadline": instant(found.send_deadline),
        "outcome": found.outcome.value if found.outcome else "",
        "trace_id": found.trace_id,
        "last_probe_at": instant(found.last_probe_at),
        "next_probe_at": instant(found.next_probe_at if is_open else None),
    }
    if found.evidence is not None:
        document["evidence"] = _evidence(found.evidence)
    return document


def _evidence(found: Evidence) -> EvidenceDocument:
    return {
        "phase": found.phase.value,
        "bytes_left": found.bytes_left,
        "reason": found.reason,
        "http_status": found.http_status or 0,
        "provider_code": found.provider_code,
    }


def opinion(found: Opinion) -> OpinionDocument:
    """Show what one person found out."""
    return {
        "by": found.by,
        "verdict": found.verdict.value,
        "reason": found.reason,
        "at": instant(found.at),
    }


def _similar(found: Payout) -> SimilarDocument:
    return {
        "reference": found.reference,
        "state": found.state.value,
        "value": amount(found.value),
        "created_at": instant(found.created_at),
    }
