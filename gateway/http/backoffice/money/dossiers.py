"""Everything that is known of one payout: how sure we are, each try, and what people said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Final, Literal, NotRequired, TypedDict, cast

from msgspec import Meta

from gateway.domain.bank.providers import Evidence
from gateway.domain.identity.errors import NOT_POSSIBLE
from gateway.domain.identity.rights import Area
from gateway.domain.kernel import errors
from gateway.domain.kernel.money import Money
from gateway.domain.payouts.events import Facts, ShownMove
from gateway.domain.payouts.followups import absent_at
from gateway.domain.payouts.payouts import FINAL_STATES, Attempt, Payout, PayoutState
from gateway.domain.payouts.reviews import Opinion
from gateway.domain.payouts.status import Certainty, certainty_of
from gateway.http.backoffice.callers import AccountCaller, as_actor
from gateway.http.backoffice.cells import NO_BODY, BackOfficeOperations, reading, writing
from gateway.http.backoffice.money.payouts import PayoutRecord, difference, hidden, payout
from gateway.http.common import STORE_FAILS
from gateway.http.rendering import Amount, instant
from gateway.http.resources import represent as resources
from gateway.http.resources.documents import Instant, PayoutDocument
from gateway.http.route import Row, route
from gateway.operations.payouts.probes import Probed
from gateway.operations.payouts.records import Dossier, PayoutWithReturns
from gateway.operations.payouts.timeline import Happening
from policies.validation.inputs import REFERENCE

_Kind = Literal["stored", "sent", "answered", "probed", "noticed", "judged", "decided", "expired"]
_INSTANTS: Final = frozenset({"asked_at", "settled_at", "held_until"})


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


class EventFactsDocument(TypedDict):
    """
    What was said, as far as it is kept: never a name, a tax number, a key, or a text of the bank's.

    ``found`` is what a look at the bank found, ``callback`` the id of the callback that came.
    ``moved`` is what the bank moved: where that differs from the order, and in opinions. While
    the payout is in review, nothing is shown of another user's opinion, but that it was withdrawn.
    """

    phase: NotRequired[str]
    bytes_left: NotRequired[bool]
    reason: NotRequired[str]
    http_status: NotRequired[int]
    provider_code: NotRequired[str]
    found: NotRequired[
        Literal["not_found", "settled", "accepted", "rejected", "unknown", "no_answer"]
    ]
    asked_at: NotRequired[Instant]
    provider_id: NotRequired[str]
    e2e_id: NotRequired[str]
    failure: NotRequired[str]
    settled_at: NotRequired[Instant]
    held_until: NotRequired[Instant]
    callback: NotRequired[str]
    by: NotRequired[str]
    verdict: NotRequired[Literal["paid", "failed", "withdrawn"]]
    review: NotRequired[bool]
    moved: NotRequired[Amount]


class HappeningDocument(TypedDict):
    """
    One thing that happened, and what was proven before and after it.

    ``answered`` is the end of the call that orders the payout, with an answer or without one.
    ``sent`` is told from it, at the instant at which its try began. ``state`` is empty where
    nothing moved, and ``certainty_before`` before anything was stored.
    """

    kind: _Kind
    at: Instant
    attempt: int
    state: Annotated[str, Meta(examples=["unknown"])]
    certainty_before: Annotated[str, Meta(examples=["sent_unknown"])]
    certainty_after: Annotated[str, Meta(examples=["settled"])]
    facts: EventFactsDocument


class OpinionDocument(TypedDict):
    """
    What one user found out; ``moved`` is absent where nothing moved, or the amount ordered.

    One that is ``withdrawn`` does not count.
    """

    by: str
    verdict: Literal["paid", "failed"]
    moved: NotRequired[Amount]
    reason: str
    at: Instant
    withdrawn: bool


class SimilarDocument(TypedDict):
    """Another payout of the same amount and recipient, of about the same time."""

    reference: str
    state: str
    value: Amount
    created_at: Instant


class PayingAccount(TypedDict):
    """The account that a payout is paid from."""

    name: str
    tax_number: str


class ShownMoveDocument(TypedDict):
    """What the bank moved in contradiction to the order; ``difference`` is that less the order."""

    value: Amount
    difference: Amount
    at: Instant
    e2e_id: str


class DossierDocument(TypedDict):
    """
    A payout, and everything that is known of it.

    ``bank_shows`` is there while it is in review and the bank shows another movement than ordered.

    ``certainty`` says what is proven; ``review`` that two users have to decide. From ``absent_at``
    on "not found" proves that the latest try moved nothing; it is empty where nothing proves it,
    and where the payout is not unknown. Lists are oldest first. While it is in review, ``opinions``
    has yours alone.
    """

    payout: PayoutRecord
    account: PayingAccount
    state: str
    certainty: Certainty
    review: bool
    bank_shows: NotRequired[ShownMoveDocument]
    provider: str
    provider_key: str
    provider_id: str
    client_id: str
    updated_at: Instant
    absent_at: Instant
    attempts: list[AttemptDocument]
    similar: list[SimilarDocument]
    opinions: list[OpinionDocument]
    timeline: list[HappeningDocument]


def dossier_rows(does: BackOfficeOperations) -> Sequence[Row[AccountCaller]]:
    """Return the row; it reads the store alone, and never waits for a bank."""
    shown = DossierDocuments(does.absent_after)
    return (
        route(
            "GET",
            "/accounts/{account_id}/withdraw/{reference}/dossier",
            name="backoffice.withdraw_dossier",
            summary="Read everything that is known of a payout: tries, evidence, opinions.",
            needs=reading(Area.PAYOUT),
            limits=NO_BODY,
            takes=REFERENCE,
            runs=as_actor(does.payout_records.read),
            shows=shown.dossier,
            fails=STORE_FAILS,
            raises=(errors.PAYOUT_NOT_FOUND,),
        ),
    )


class ProbedDocument(TypedDict):
    """A payout after its bank was asked, and the state it was in before."""

    before: PayoutState
    state: PayoutState
    certainty: Certainty
    payout: PayoutDocument


def probe_rows(does: BackOfficeOperations) -> Sequence[Row[AccountCaller]]:
    """Return the row that asks a bank about a payout now; no money is sent."""
    return (
        route(
            "POST",
            "/accounts/{account_id}/withdraw/{reference}/probe",
            name="backoffice.withdraw_probe",
            summary="Ask the bank about a payout now; at most every five seconds.",
            needs=writing(Area.PROBE),
            limits=NO_BODY,
            takes=REFERENCE,
            runs=as_actor(does.payout_probes.of_account),
            shows=_probed,
            fails=STORE_FAILS,
            raises=(errors.PAYOUT_NOT_FOUND, NOT_POSSIBLE, errors.TOO_MANY_REQUESTS),
        ),
    )


def _probed(found: Probed, who: AccountCaller) -> ProbedDocument:
    return {
        "before": found.before.state,
        "state": found.after.state,
        "certainty": certainty_of(found.after),
        "payout": hidden(resources.payout(found.after, who)),
    }


@dataclass(frozen=True, slots=True)
class DossierDocuments:
    """Shows dossiers; ``absent_after`` is by provider, as adapters declare it."""

    absent_after: Mapping[str, timedelta | None]

    def dossier(self, found: Dossier, who: AccountCaller) -> DossierDocument:
        """Show everything that is known of a payout."""
        about = found.case.payout
        document: DossierDocument = {
            "payout": payout(PayoutWithReturns(about, found.returns), who),
            "account": {"name": who.account.name, "tax_number": who.account.tax_number},
            "state": about.state.value,
            "certainty": found.case.certainty,
            "review": about.review,
            "provider": about.provider,
            "provider_key": about.provider_key,
            "provider_id": about.provider_id,
            "client_id": about.client_id,
            "updated_at": instant(about.updated_at),
            "absent_at": self.absent_at(about),
            "attempts": [attempt(each, about) for each in found.case.attempts],
            "similar": [_similar(each) for each in found.similar],
            "opinions": [opinion(each) for each in found.opinions],
            "timeline": [happening(each) for each in found.timeline],
        }
        if about.review and found.shown is not None:
            document["bank_shows"] = _shown(found.shown, about)
        return document

    def absent_at(self, about: Payout) -> str:
        """Write from when "not found" is a proof; empty for never."""
        return instant(absent_at(about, self.absent_after.get(about.provider)))


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


def happening(found: Happening) -> HappeningDocument:
    """Show one thing that happened."""
    return {
        "kind": cast("_Kind", found.kind),
        "at": instant(found.at),
        "attempt": found.attempt,
        "state": found.state.value if found.state else "",
        "certainty_before": found.before.value if found.before else "",
        "certainty_after": found.after.value if found.after else "",
        "facts": _facts(found.facts),
    }


def _facts(found: Facts) -> EventFactsDocument:
    """Show what is kept; instants as everywhere."""
    shown: dict[str, object] = dict(found)
    moved = shown.pop("moved_centavos", None)
    if isinstance(moved, int):
        shown["moved"] = Money(moved)
    for name in _INSTANTS & found.keys():
        shown[name] = instant(datetime.fromisoformat(str(found[name])))
    return cast("EventFactsDocument", shown)


def opinion(found: Opinion) -> OpinionDocument:
    """Show what one person found out."""
    document: OpinionDocument = {
        "by": found.by,
        "verdict": found.verdict.value,
        "reason": found.reason,
        "at": instant(found.at),
        "withdrawn": found.is_withdrawn,
    }
    if found.moved is not None:
        document["moved"] = found.moved
    return document


def _shown(found: ShownMove, about: Payout) -> ShownMoveDocument:
    return {
        "value": found.value,
        "difference": difference(found.value, about),
        "at": instant(found.at),
        "e2e_id": found.e2e_id,
    }


def _similar(found: Payout) -> SimilarDocument:
    return {
        "reference": found.reference,
        "state": found.state.value,
        "value": found.value,
        "created_at": instant(found.created_at),
    }
