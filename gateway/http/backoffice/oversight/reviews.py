"""Payouts in review: what no proof can settle is ended by two people who agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, TypedDict

import msgspec

from gateway.domain.identity.rights import Area
from gateway.domain.kernel.windows import Paging
from gateway.domain.payouts.payouts import Payout
from gateway.domain.payouts.reviews import Opinion, Verdict
from gateway.http.backoffice.callers import REFUSED, BackOfficeCaller, as_administrator
from gateway.http.backoffice.cells import NO_BODY, WITH_BODY, reading, writing
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


class OpinionDocument(TypedDict):
    """What one person found out."""

    by: str
    verdict: Literal["paid", "failed"]
    reason: str
    at: Instant


class ResolutionDocument(TypedDict):
    """What an opinion led to."""

    progress: Literal["waiting", "disagreed", "decided"]
    payout: ReviewDocument
    opinions: list[OpinionDocument]


async def list_reviews(services: AdminServices, paging: Paging) -> Listed[Payout]:
    """List those in scope."""
    return await services.visible.reviews(paging)


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


def opinion(found: Opinion) -> OpinionDocument:
    """Show what one person found out."""
    return {
        "by": found.by,
        "verdict": found.verdict.value,
        "reason": found.reason,
        "at": instant(found.at),
    }


def _resolution(found: Resolution, _who: BackOfficeCaller) -> ResolutionDocument:
    return {
        "progress": found.progress.value,
        "payout": _payout(found.payout),
        "opinions": [opinion(each) for each in found.opinions],
    }
