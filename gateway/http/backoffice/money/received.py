"""Money that came in by Pix (contract 4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NotRequired, TypedDict

from gateway.domain.bank.refunds import IncomingPayment
from gateway.domain.identity.rights import Area
from gateway.domain.kernel import errors
from gateway.http.backoffice.callers import READS, AccountCaller, bank_fails, on_account
from gateway.http.backoffice.cells import WITH_BODY, BackOfficeOperations, reading
from gateway.http.rendering import Amount, instant
from gateway.http.resources import represent as resources
from gateway.http.resources.documents import (
    Instant,
    Meter,
    PayerDocument,
)
from gateway.http.route import Row, route
from gateway.operations.bank.pages import Listed
from policies.validation.backoffice.searches import INCOMING


class IncomingDocument(TypedDict):
    """A payment that came in; its reference is empty where it paid no charge."""

    id: str
    reference: str
    e2e_id: str
    status: Literal["paid", "partly_refunded", "refunded"]
    value: Amount
    refunded: Amount
    paid_at: Instant
    payer: NotRequired[PayerDocument]


class IncomingList(TypedDict):
    """A page of payments, newest first."""

    data: list[IncomingDocument]
    meta: Meter


def received_rows(does: BackOfficeOperations) -> Sequence[Row[AccountCaller]]:
    """Return the row that searches payments."""
    return (
        route(
            "POST",
            "/accounts/{account_id}/pix/transactions/search",
            name="backoffice.pix_transactions",
            summary="Search payments received by Pix.",
            needs=reading(Area.TRANSACTION),
            limits=WITH_BODY,
            takes=INCOMING,
            runs=on_account(does.bank.incoming.search),
            shows=incoming,
            fails=bank_fails(errors.TRANSACTION_UNAVAILABLE),
            raises=READS,
        ),
    )


def incoming(found: Listed[IncomingPayment], _who: AccountCaller) -> IncomingList:
    """Show a page of payments."""
    meta = resources.meter(found.paging, found.total)
    return {"data": [_incoming(each) for each in found.items], "meta": meta}


def _incoming(found: IncomingPayment) -> IncomingDocument:
    shown: IncomingDocument = {
        "id": found.provider_id,
        "reference": found.reference,
        "e2e_id": found.e2e_id,
        "status": found.status.value,
        "value": found.value,
        "refunded": found.refunded,
        "paid_at": instant(found.paid_at),
    }
    if found.payer is not None:
        shown["payer"] = resources.payer(found.payer)
    return shown
