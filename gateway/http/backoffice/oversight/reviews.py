"""Payouts in review: what no proof can settle is ended by two people who agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, TypedDict

import msgspec

from gateway.domain.backoffice.lists import UnresolvedPayout
from gateway.domain.identity.rights import Area
from gateway.domain.kernel.windows import Paging
from gateway.domain.payouts.payouts import Payout
from gateway.domain.payouts.reviews import Verdict
from gateway.domain.payouts.status import Certainty, certainty_of
from gateway.http.backoffice.callers import REFUSED, BackOfficeCaller, as_administrator
from gateway.http.backoffice.cells import NO_BODY, WITH_BODY, reading, writing
from gateway.http.backoffice.money.dossiers import (
    AttemptDocument,
    OpinionDocument,
    attempt,
    opinion,
)
from gateway.http.common import STORE_FAILS
from gateway.http.rendering import Amount, amount, instant
from gateway.http.resources.documents import Instant, Meter
from gateway.http.resources.represent import meter
from gateway.http.route import Row, route
from gateway.operations.backoffice.reviews import Judgement, Resolution
from gateway.operations.backoffice.scoped_records import AdminServices
from gateway.operations.bank.pages import Listed
from policies.validation.backoffice import inputs
from policies.validation.fields import Why


class JudgementBody(msgspec.Struct):
    """How a payout ended, and how the user knows."""

    account_id: Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
    reference: Annotated[str, msgspec.Meta(min_length=1, max_length=1024)]
    verdict: Verdict
    reason: Why


class ReviewDocument(TypedDict):
    """A payout that waits for people."""

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
    """A payout whose outcome is not proven, its tries and what people said, oldest first."""

    certainty: Certainty
    review: bool
    attempts: list[AttemptDocument]
    opinions: list[OpinionDocument]


class UnresolvedList(TypedDict):
    """The payouts that you may see whose outcome is not proven, oldest first."""

    data: list[UnresolvedDocument]
    meta: Meter


class ResolutionDocument(TypedDict):
    """What an opinion led to."""

    progress: Literal["waiting", "disagreed", "decided"]
    payout: ReviewDocument
    opinions: list[OpinionDocument]


async def list_reviews(services: AdminServices, paging: Paging) -> Listed[Payout]:
    """List those in scope."""
    return await services.visible.reviews(paging)


async def list_unresolved(services: AdminServices, paging: Paging) -> Listed[UnresolvedPayout]:
    """List those in scope that are unknown, or in review."""
    return await services.visible.unresolved(paging)


async def judge(services: AdminServices, said: JudgementBody) -> Resolution:
    """Keep a user's opinion; two that agree end the payout."""
    await services.visible.require_payout(said.account_id, said.reference)
    return await services.reviews.resolve(
        Judgement(
            account_id=said.account_id,
            reference=said.reference,
            verdict=said.verdict,
            reason=said.reason,
        )
    )


def review_rows(services: AdminServices) -> Sequence[Row[BackOfficeCaller]]:
    """Return the rows."""
    return (
        route(
            "GET",
            "/reviews",
            name="backoffice.reviews",
            summary="List the payouts whose outcome two people have to find out.",
            needs=reading(Area.REVIEW),
            limits=NO_BODY,
            takes=inputs.filters(inputs.Filters.paging, *inputs.PAGING),
            runs=as_administrator(services, list_reviews),
            shows=_payouts,
            fails=STORE_FAILS,
            raises=(),
        ),
        route(
            "POST",
            "/reviews",
            name="backoffice.review_judge",
            summary="Say how a payout ended; when two users agree, the payout ends so.",
            needs=writing(Area.REVIEW),
            limits=WITH_BODY,
            takes=inputs.body(JudgementBody),
            runs=as_administrator(services, judge),
            shows=_resolution,
            fails=STORE_FAILS,
            raises=REFUSED,
        ),
    )


def unresolved_rows(services: AdminServices) -> Sequence[Row[BackOfficeCaller]]:
    """Return the row that tells what is not proven, whoever finds it out."""
    return (
        route(
            "GET",
            "/unresolved",
            name="backoffice.unresolved",
            summary="List the payouts whose outcome is not proven, with what is known of each.",
            needs=reading(Area.REVIEW),
            limits=NO_BODY,
            takes=inputs.filters(inputs.Filters.paging, *inputs.PAGING),
            runs=as_administrator(services, list_unresolved),
            shows=_unresolved,
            fails=STORE_FAILS,
            raises=(),
        ),
    )


def _payout(found: Payout) -> ReviewDocument:
    return {
        "account_id": found.account_id,
        "reference": found.reference,
        "state": found.state.value,
        "value": amount(found.value),
        "provider": found.provider,
        "provider_key": found.provider_key,
        "created_at": instant(found.created_at),
    }


def _payouts(found: Listed[Payout], _who: BackOfficeCaller) -> ReviewList:
    data = [_payout(each) for each in found.items]
    return {"data": data, "meta": meter(found.paging, found.total)}


def _unresolved(found: Listed[UnresolvedPayout], _who: BackOfficeCaller) -> UnresolvedList:
    data: list[UnresolvedDocument] = [
        {
            **_payout(each.payout),
            "certainty": certainty_of(each.payout),
            "review": each.payout.review,
            "attempts": [attempt(one, each.payout) for one in each.attempts],
            "opinions": [opinion(one) for one in each.opinions],
        }
        for each in found.items
    ]
    return {"data": data, "meta": meter(found.paging, found.total)}


def _resolution(found: Resolution, _who: BackOfficeCaller) -> ResolutionDocument:
    return {
        "progress": found.progress.value,
        "payout": _payout(found.payout),
        "opinions": [opinion(each) for each in found.opinions],
    }
