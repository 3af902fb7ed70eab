"""Payouts of every account, searched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, TypedDict

from msgspec import Meta

from gateway.domain.backoffice.payout_search import FoundPayout, PayoutsFound, StateCount
from gateway.domain.identity.rights import Area
from gateway.domain.payouts.payouts import PayoutState
from gateway.domain.payouts.status import Certainty, PayoutStatus, certainty_of, status_of
from gateway.http.backoffice.callers import BackOfficeCaller, in_scope
from gateway.http.backoffice.cells import WITH_BODY, BackOfficeOperations, reading
from gateway.http.backoffice.files import CSV, as_reader, table
from gateway.http.common import STORE_FAILS
from gateway.http.rendering import Amount, instant
from gateway.http.resources.documents import Instant
from gateway.http.route import Row, route
from policies.validation.backoffice.payout_searches import EVERY_PAYOUT, PAYOUTS, place_text


class FoundPayoutDocument(TypedDict):
    """
    A payout in a list; ``payee_tax_number`` of a person has its ends hidden.

    ``failure_code`` is empty while it has not failed; ``e2e_id`` until the bank has named it.
    ``moved`` is what the bank moves for it, and ``returned`` how much of that came back.
    """

    account_id: str
    account_name: Annotated[str, Meta(examples=["Matriz"])]
    reference: str
    method: Literal["pix", "bank_account"]
    value: Amount
    moved: Amount
    returned: Amount
    payee_name: Annotated[str, Meta(examples=["Maria Silva"])]
    payee_tax_number: Annotated[str, Meta(examples=["***.982.247-**"])]
    status: PayoutStatus
    state: PayoutState
    certainty: Certainty
    review: bool
    failure_code: Annotated[str, Meta(examples=[""])]
    provider: str
    client_id: str
    e2e_id: str
    created_at: Instant
    updated_at: Instant
    settled_at: Instant


class StateCountDocument(TypedDict):
    """How many payouts stand alike, and what they add up to; ``returned``: money came back."""

    state: PayoutState
    certainty: Certainty
    review: bool
    returned: bool
    count: Annotated[int, Meta(ge=1)]
    value: Amount


class PayoutCountsDocument(TypedDict):
    """
    How the payouts of the filter stand, whatever it says of state, certainty and review.

    Where ``complete`` is false there are more than 10,000: the newest are counted.
    """

    by_state: list[StateCountDocument]
    complete: bool


class PayoutsFoundDocument(TypedDict):
    """A page; ``next`` is the ``after`` of the next one, empty at the end."""

    data: list[FoundPayoutDocument]
    counts: PayoutCountsDocument
    next: Annotated[str, Meta(examples=[""])]


def payout_list_rows(does: BackOfficeOperations) -> Sequence[Row[BackOfficeCaller]]:
    """Return the rows; they read the store alone."""
    return (
        route(
            "POST",
            "/payouts/search",
            name="backoffice.payouts",
            summary="Search the payouts of every account that you may see.",
            needs=reading(Area.PAYOUT),
            limits=WITH_BODY,
            takes=PAYOUTS,
            runs=in_scope(does.payout_finder.search),
            shows=_page,
            fails=STORE_FAILS,
            raises=(),
        ),
        _export(does),
    )


def _export(does: BackOfficeOperations) -> Row[BackOfficeCaller]:
    """Return the row of the file."""
    return route(
        "POST",
        "/payouts/export",
        name="backoffice.payouts_export",
        summary=(
            "Read every payout of a search as a table: "
            "semicolons, decimal commas, time of Brasilia."
        ),
        needs=reading(Area.PAYOUT),
        limits=WITH_BODY,
        takes=EVERY_PAYOUT,
        runs=as_reader(does.exports.payouts),
        shows=table("payouts.csv"),
        fails=STORE_FAILS,
        raises=(),
        media=(CSV,),
    )


def found_payout(found: FoundPayout) -> FoundPayoutDocument:
    """Show a payout in a list."""
    payout = found.payout
    return {
        "account_id": payout.account_id,
        "account_name": found.account_name,
        "reference": payout.reference,
        "method": payout.method.value,
        "value": payout.value,
        "moved": payout.moved_value,
        "returned": found.returned,
        "payee_name": payout.payee[0],
        "payee_tax_number": payout.payee[1],
        "status": status_of(payout.state),
        "state": payout.state,
        "certainty": certainty_of(payout),
        "review": payout.review,
        "failure_code": payout.failure.code.value if payout.failure else "",
        "provider": payout.provider,
        "client_id": payout.client_id,
        "e2e_id": payout.e2e_id,
        "created_at": instant(payout.created_at),
        "updated_at": instant(payout.updated_at),
        "settled_at": instant(payout.settled_at),
    }


def _page(found: PayoutsFound, _who: BackOfficeCaller) -> PayoutsFoundDocument:
    return {
        "data": [found_payout(each) for each in found.payouts],
        "counts": {
            "by_state": [_count(each) for each in found.counts.by_state],
            "complete": found.counts.complete,
        },
        "next": "" if found.after is None else place_text(found.after),
    }


def _count(found: StateCount) -> StateCountDocument:
    return {
        "state": found.state,
        "certainty": found.certainty,
        "review": found.review,
        "returned": found.returned,
        "count": found.count,
        "value": found.value,
    }
