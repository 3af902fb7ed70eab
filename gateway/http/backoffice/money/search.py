"""One field that finds everything, and what waits for somebody."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, TypedDict

import msgspec

from gateway.domain.backoffice.payout_search import OpenWork
from gateway.domain.identity.rights import Area
from gateway.domain.requests import schemas
from gateway.http.backoffice.callers import BackOfficeCaller, in_scope
from gateway.http.backoffice.cells import NO_BODY, WITH_BODY, BackOfficeOperations, reading
from gateway.http.backoffice.money.payout_lists import FoundPayoutDocument, found_payout
from gateway.http.common import STORE_FAILS
from gateway.http.route import Row, route
from gateway.operations.backoffice.payout_finder import Found, PayoutFinder
from policies.validation.bodies import body
from policies.validation.inputs import NOTHING

_CREDENTIALS = reading(Area.CREDENTIAL)
_ACCOUNTS = reading(Area.ACCOUNT)


class SearchBody(msgspec.Struct, forbid_unknown_fields=True):
    """A reference, an id, or a tax number; never in an address, which is logged."""

    text: Annotated[
        str,
        msgspec.Meta(
            min_length=1,
            max_length=1024,
            examples=["order-1042"],
            extra_json_schema={"pattern": schemas.PLAIN_TEXT},
        ),
    ]


class FoundNameDocument(TypedDict):
    """An account or a credential that was found."""

    id: str
    name: str


class FoundDocument(TypedDict):
    """What a text has led to, payouts newest first and at most 25."""

    payouts: list[FoundPayoutDocument]
    accounts: list[FoundNameDocument]
    credentials: list[FoundNameDocument]


class OpenWorkDocument(TypedDict):
    """How much waits for somebody; ``unresolved`` holds those in ``review``."""

    unresolved: int
    review: int
    approvals: int
    stops: int


def search_rows(does: BackOfficeOperations) -> Sequence[Row[BackOfficeCaller]]:
    """Return the rows; they read the store alone."""
    return (
        route(
            "POST",
            "/search",
            name="backoffice.search",
            summary="Find a payout, an account or a credential by whatever names it.",
            needs=reading(Area.PAYOUT),
            limits=WITH_BODY,
            takes=body(SearchBody),
            runs=_Finding(does.payout_finder).find,
            shows=_found,
            fails=STORE_FAILS,
            raises=(),
        ),
        route(
            "GET",
            "/counts",
            name="backoffice.counts",
            summary="Count what waits for somebody: unresolved, in review, approvals, stops.",
            needs=reading(Area.REVIEW),
            limits=NO_BODY,
            takes=NOTHING,
            runs=in_scope(does.payout_finder.open_work),
            shows=_counts,
            fails=STORE_FAILS,
            raises=(),
        ),
    )


class _Finding:
    """Finds for a person, who is shown no kind of record that they may not read."""

    def __init__(self, finder: PayoutFinder) -> None:
        self._finder = finder

    async def find(self, who: BackOfficeCaller, asked: SearchBody) -> Found:
        """Return what the text names."""
        found = await self._finder.find(who.scope, asked.text.strip())
        may = who.person.may
        return Found(
            payouts=found.payouts,
            account=found.account if may(_ACCOUNTS) else None,
            credential=found.credential if may(_CREDENTIALS) else None,
        )


def _found(found: Found, _who: BackOfficeCaller) -> FoundDocument:
    account, credential = found.account, found.credential
    return {
        "payouts": [found_payout(each) for each in found.payouts],
        "accounts": [{"id": account.id, "name": account.name}] if account else [],
        "credentials": [{"id": credential.client_id, "name": credential.name}]
        if credential
        else [],
    }


def _counts(found: OpenWork, _who: BackOfficeCaller) -> OpenWorkDocument:
    return {
        "unresolved": found.unresolved,
        "review": found.review,
        "approvals": found.approvals,
        "stops": found.stops,
    }
