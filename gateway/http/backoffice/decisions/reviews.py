"""Payouts in review: what no proof can settle is ended by two people who agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, TypedDict

import msgspec

from gateway.domain.backoffice.lists import UnresolvedPayout
from gateway.domain.identity.rights import Area
from gateway.domain.kernel.errors import TOO_MANY_REQUESTS
from gateway.domain.kernel.money import Money
from gateway.domain.kernel.windows import Paging
from gateway.domain.payouts.payouts import Payout, PayoutState
from gateway.domain.payouts.reviews import Verdict
from gateway.domain.payouts.status import Certainty, certainty_of
from gateway.domain.requests.schemas import Why
from gateway.http.backoffice.callers import REFUSED, BackOfficeCaller, as_administrator
from gateway.http.backoffice.cells import (
    NO_BODY,
    WITH_BODY,
    BackOfficeOperations,
    reading,
    writing,
)
from gateway.http.backoffice.money.dossiers import (
    AttemptDocument,
    DossierDocuments,
    OpinionDocument,
    attempt,
    opinion,
)
from gateway.http.common import STORE_FAILS
from gateway.http.rendering import Amount, instant
from gateway.http.resources.documents import Instant, Meter
from gateway.http.resources.represent import meter
from gateway.http.route import Row, route
from gateway.operations.backoffice.money.unresolved_probes import (
    ASKED_AT_MOST,
    ProbedAll,
    ProbedPayout,
    ProbeResult,
    UnresolvedProbes,
)
from gateway.operations.backoffice.reviews import Judgement, ReviewState
from gateway.operations.backoffice.scoped_records import AdminServices
from gateway.operations.bank.pages import Listed
from policies.validation.backoffice import inputs
from policies.validation.bodies import body
from policies.validation.inputs import NOTHING

Unresolved = tuple[UnresolvedPayout, ReviewState]


class WithdrawalBody(msgspec.Struct):
    """The payout on which you withdraw your opinion."""

    account_id: Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
    reference: Annotated[str, msgspec.Meta(min_length=1, max_length=1024)]


class JudgementBody(WithdrawalBody):
    """
    How a payout ended, and how the user knows.

    ``value`` is what the bank moved, where it paid: absent for the amount ordered, and needed where
    the bank shows another one.
    """

    verdict: Verdict
    reason: Why
    value: Money | None = None


class ReviewDocument(TypedDict):
    """A payout that waits for users."""

    account_id: str
    reference: str
    state: str
    value: Amount
    provider: str
    provider_key: str
    created_at: Instant


class ReviewList(TypedDict):
    """The payouts in review that you may see, oldest first."""

    data: list[ReviewDocument]
    meta: Meter


class UnresolvedDocument(ReviewDocument):
    """
    A payout whose outcome is not proven, and its tries, oldest first.

    From ``absent_at`` on "not found" proves that the latest try moved nothing; empty for never.
    ``progress`` is empty where no users are asked, else ``waiting`` or ``disagreed``: then a third
    user decides, or one of the two withdraws their opinion. ``opinions_given`` counts opinions;
    ``opinions`` has yours alone, since users find out independently.
    """

    account_name: Annotated[str, msgspec.Meta(examples=["Matriz"])]
    payee_name: Annotated[str, msgspec.Meta(examples=["Maria Silva"])]
    payee_tax_number: Annotated[str, msgspec.Meta(examples=["***.982.247-**"])]
    client_id: str
    absent_at: Instant
    certainty: Certainty
    review: bool
    attempts: list[AttemptDocument]
    progress: Annotated[str, msgspec.Meta(examples=["waiting"])]
    opinions_given: int
    opinions: list[OpinionDocument]


class UnresolvedList(TypedDict):
    """The payouts that you may see whose outcome is not proven, oldest first."""

    data: list[UnresolvedDocument]
    meta: Meter


class ProbedPayoutDocument(TypedDict):
    """A payout as it stands now, and what came of asking about it."""

    account_id: str
    reference: str
    result: ProbeResult
    state: PayoutState
    certainty: Certainty


class ProbedAllDocument(TypedDict):
    """
    How many were ``asked`` about, of how many that were not proven, and why others were not.

    ``proven`` are those that the bank's word has ended. ``just_asked``: somebody asks now or did in
    the last five seconds. ``ended``: it had an outcome before its turn. ``no_time``: its turn did
    not come; ask again, and it comes first.
    """

    total: int
    asked: int
    proven: int
    just_asked: int
    ended: int
    no_time: int
    data: list[ProbedPayoutDocument]


class ResolutionDocument(TypedDict):
    """
    How a review stands after what you said.

    ``disagreed``: a third user decides, or one of the two withdraws their opinion. ``opinions`` has
    yours alone until it is ``decided``; ``opinions_given`` counts all.
    """

    progress: Literal["waiting", "disagreed", "decided"]
    payout: ReviewDocument
    opinions_given: int
    opinions: list[OpinionDocument]


async def list_reviews(services: AdminServices, paging: Paging) -> Listed[Payout]:
    """List those in scope."""
    return await services.visible.reviews(paging)


async def list_unresolved(services: AdminServices, paging: Paging) -> Listed[Unresolved]:
    """List those in scope that are unknown, or in review, as their caller may read them."""
    found = await services.visible.unresolved(paging)
    state = services.reviews.state
    items = [(each, await state(each.payout, each.opinions)) for each in found.items]
    return Listed(items=items, paging=found.paging, total=found.total)


async def withdraw(services: AdminServices, said: WithdrawalBody) -> ReviewState:
    """Withdraw the user's opinion."""
    await services.visible.require_payout(said.account_id, said.reference)
    return await services.reviews.withdraw(said.account_id, said.reference)


async def judge(services: AdminServices, said: JudgementBody) -> ReviewState:
    """Keep a user's opinion; two that agree end the payout."""
    await services.visible.require_payout(said.account_id, said.reference)
    return await services.reviews.resolve(
        Judgement(
            account_id=said.account_id,
            reference=said.reference,
            verdict=said.verdict,
            reason=said.reason,
            moved=said.value,
        )
    )


def review_rows(services: AdminServices) -> Sequence[Row[BackOfficeCaller]]:
    """Return the rows."""
    return (
        route(
            "GET",
            "/reviews",
            name="backoffice.reviews",
            summary="List the payouts whose outcome two users have to find out.",
            needs=reading(Area.REVIEW),
            limits=NO_BODY,
            takes=inputs.PAGE,
            runs=as_administrator(services, list_reviews),
            shows=_payouts,
            fails=STORE_FAILS,
            raises=(),
        ),
        route(
            "POST",
            "/reviews",
            name="backoffice.review_judge",
            summary="Say how a payout ended; when two users agree, that becomes the outcome.",
            needs=writing(Area.REVIEW),
            limits=WITH_BODY,
            takes=body(JudgementBody),
            runs=as_administrator(services, judge),
            shows=_resolution,
            fails=STORE_FAILS,
            raises=REFUSED,
        ),
        route(
            "POST",
            "/reviews/withdraw",
            name="backoffice.review_withdraw",
            summary="Withdraw your opinion on how a payout ended, until two users agree.",
            needs=writing(Area.REVIEW),
            limits=WITH_BODY,
            takes=body(WithdrawalBody),
            runs=as_administrator(services, withdraw),
            shows=_resolution,
            fails=STORE_FAILS,
            raises=REFUSED,
        ),
    )


def unresolved_rows(does: BackOfficeOperations) -> Sequence[Row[BackOfficeCaller]]:
    """Return the rows about what is not proven, whoever finds it out."""
    shown = UnresolvedDocuments(DossierDocuments(does.absent_after))
    return (
        route(
            "GET",
            "/unresolved",
            name="backoffice.unresolved",
            summary="List the payouts whose outcome is not proven, with what is known of each.",
            needs=reading(Area.REVIEW),
            limits=NO_BODY,
            takes=inputs.PAGE,
            runs=as_administrator(does.admin, list_unresolved),
            shows=shown.page,
            fails=STORE_FAILS,
            raises=(),
        ),
        _probe_row(does),
    )


def _probe_row(does: BackOfficeOperations) -> Row[BackOfficeCaller]:
    """Return the row that asks about all of them, a few at a time at each bank."""
    probes = UnresolvedProbes(probes=does.payout_probes)
    return route(
        "POST",
        "/unresolved/probe",
        name="backoffice.unresolved_probe",
        summary=f"Ask banks about up to {ASKED_AT_MOST} payouts whose outcome is not proven.",
        needs=writing(Area.PROBE),
        limits=NO_BODY,
        takes=NOTHING,
        runs=as_administrator(does.admin, probes.probe_all),
        shows=_probed,
        fails=STORE_FAILS,
        raises=(TOO_MANY_REQUESTS,),
    )


def _probed(found: ProbedAll, _who: BackOfficeCaller) -> ProbedAllDocument:
    return {
        "total": found.total,
        "asked": found.count(ProbeResult.ASKED),
        "proven": sum(each.is_proven for each in found.each),
        "just_asked": found.count(ProbeResult.JUST_ASKED),
        "ended": found.count(ProbeResult.ENDED),
        "no_time": found.count(ProbeResult.NO_TIME),
        "data": [_probed_payout(each) for each in found.each],
    }


def _probed_payout(found: ProbedPayout) -> ProbedPayoutDocument:
    return {
        "account_id": found.payout.account_id,
        "reference": found.payout.reference,
        "result": found.result,
        "state": found.payout.state,
        "certainty": certainty_of(found.payout),
    }


def _payout(found: Payout) -> ReviewDocument:
    return {
        "account_id": found.account_id,
        "reference": found.reference,
        "state": found.state.value,
        "value": found.value,
        "provider": found.provider,
        "provider_key": found.provider_key,
        "created_at": instant(found.created_at),
    }


def _payouts(found: Listed[Payout], _who: BackOfficeCaller) -> ReviewList:
    data = [_payout(each) for each in found.items]
    return {"data": data, "meta": meter(found.paging, found.total)}


@dataclass(frozen=True, slots=True)
class UnresolvedDocuments:
    """Shows what is not proven."""

    shown: DossierDocuments

    def page(self, found: Listed[Unresolved], _who: BackOfficeCaller) -> UnresolvedList:
        """Show a page."""
        data = [self._unresolved(*each) for each in found.items]
        return {"data": data, "meta": meter(found.paging, found.total)}

    def _unresolved(self, found: UnresolvedPayout, state: ReviewState) -> UnresolvedDocument:
        payout = found.payout
        return {
            **_payout(payout),
            "account_name": found.account_name,
            "payee_name": payout.payee[0],
            "payee_tax_number": payout.payee[1],
            "client_id": payout.client_id,
            "absent_at": self.shown.absent_at(payout),
            "certainty": certainty_of(payout),
            "review": payout.review,
            "attempts": [attempt(one, payout) for one in found.attempts],
            "progress": state.progress.value if payout.review else "",
            "opinions_given": state.given,
            "opinions": [opinion(one) for one in state.opinions],
        }


def _resolution(found: ReviewState, _who: BackOfficeCaller) -> ResolutionDocument:
    return {
        "progress": found.progress.value,
        "payout": _payout(found.payout),
        "opinions_given": found.given,
        "opinions": [opinion(each) for each in found.opinions],
    }
