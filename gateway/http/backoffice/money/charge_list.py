"""The list of charges that were ordered through us, as they stand on record; asks no bank."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Final, Literal, TypedDict

from msgspec import Meta

from gateway.domain.bank.records.charges import ChargeRecord, ChargeSearch, ChargeState
from gateway.domain.identity.rights import Area
from gateway.domain.kernel.clocks import Now
from gateway.domain.kernel.money import Money
from gateway.http.backoffice.callers import BackOfficeCaller, in_scope
from gateway.http.backoffice.cells import NO_BODY, BackOfficeOperations, reading
from gateway.http.common import STORE_FAILS
from gateway.http.rendering import Amount, instant
from gateway.http.resources.documents import Instant
from gateway.http.route import Row, route
from gateway.operations.bank.charge_records import ChargePage
from policies.validation.backoffice import inputs

Cursor = Annotated[
    str,
    Meta(
        description="Where the next page begins; empty on the last one.",
        examples=["1790084411000000-3f2a1c9e-6b1d-4a58-9c0e-5d7f1b2a3c4d"],
    ),
]


class KeysetMeter(TypedDict):
    """How many items a page has at most, and where the next one begins."""

    limit: int
    next: Cursor


class ChargeRecordDocument(TypedDict):
    """
    A charge that was ordered through us; ``status`` is what was last known, at ``updated_at``.

    ``Unknown`` is one whose bank has not told that it was made. ``value`` is 0 for an open
    amount. ``paid_at`` and ``e2e_id`` are those of the last payment that was seen.
    """

    id: str
    account_id: str
    reference: str
    provider: str
    type: Literal["Static", "Dynamic"]
    reusable: bool
    value: Amount
    status: Literal["Unknown", "Active", "Expired", "Paid", "Canceled"]
    created_at: Instant
    expires_at: Instant
    updated_at: Instant
    paid_at: Instant
    e2e_id: str


class ChargeRecordList(TypedDict):
    """A page of charges, newest first."""

    data: list[ChargeRecordDocument]
    meta: KeysetMeter


_FILTERS: Final = (
    inputs.uuid_filter("account_id", "Of this account alone."),
    inputs.text_filter("reference", "The whole reference."),
    inputs.word_filter("status", ChargeState),
    inputs.instant_filter("since", "Ordered then or later."),
    inputs.instant_filter("until", "Ordered before."),
    *inputs.KEYSET,
)


def charge_list_rows(does: BackOfficeOperations) -> Sequence[Row[BackOfficeCaller]]:
    """Return the row."""
    return (
        route(
            "GET",
            "/charges",
            name="backoffice.charges",
            summary="List the charges that were made through us, as last known, newest first.",
            needs=reading(Area.QRCODE),
            limits=NO_BODY,
            takes=inputs.filters(partial(_search, does.bank.kept_charges.now), *_FILTERS),
            runs=in_scope(does.bank.charge_list.search),
            shows=charges,
            fails=STORE_FAILS,
            raises=(),
        ),
    )


def _search(now: Now, given: inputs.Filters) -> ChargeSearch:
    return ChargeSearch(
        now=now(),
        page=given.keyset(),
        since=given.instant("since"),
        until=given.instant("until"),
        account_id=given.uuid("account_id"),
        reference=given.text("reference"),
        state=given.read("status", ChargeState),
    )


def charges(found: ChargePage, _who: BackOfficeCaller) -> ChargeRecordList:
    """Show a page."""
    following = "" if found.next is None else inputs.cursor(found.next)
    return {
        "data": [_charge(each, found) for each in found.charges],
        "meta": {"limit": found.limit, "next": following},
    }


def _charge(found: ChargeRecord, page: ChargePage) -> ChargeRecordDocument:
    return {
        "id": found.id,
        "account_id": found.account_id,
        "reference": found.reference,
        "provider": found.provider,
        "type": found.type.value,
        "reusable": found.reusable,
        "value": Money(found.centavos or 0),
        "status": found.state_at(page.now).value,
        "created_at": instant(found.created_at),
        "expires_at": instant(found.expires_at),
        "updated_at": instant(found.updated_at),
        "paid_at": instant(found.paid_at),
        "e2e_id": found.e2e_id,
    }
