"""The simulated bank's documents, with the field names of asaasdev/asaas-api-sdk-java 0641522."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Final, TypeVar

from provider_adapters.testing.bank.kernel.clock import day_of, local_time, midnight, read_day
from provider_adapters.testing.bank.kernel.listeners import Listener
from provider_adapters.testing.bank.kernel.paging import Page, Slice, read_number
from provider_adapters.testing.bank.kernel.refusals import require
from provider_adapters.testing.bank.kernel.statement import Entry, number
from provider_adapters.testing.bank.messages import Document, fields
from provider_adapters.testing.bank.pix.charges import Charge
from provider_adapters.testing.bank.pix.keys import Key
from provider_adapters.testing.bank.pix.payouts import Payout
from provider_adapters.testing.bank.pix.received_payments import Payer, Payment

Item = TypeVar("Item")
_LARGEST_PAGE: Final = 100
_USUAL_PAGE: Final = 10
_LAST_DAY: Final = date(9000, 1, 1)
_KEY_STATUSES: Final = {
    "active": "ACTIVE",
    "pending": "AWAITING_ACTIVATION",
    "canceled": "DELETED",
}
_KINDS: Final = {
    "pix_out": "PIX_TRANSACTION_DEBIT",
    "pix_returned": "PIX_TRANSACTION_DEBIT_REFUND",
    "pix_refund": "PIX_TRANSACTION_CREDIT_REFUND",
    "fee": "PIX_TRANSACTION_DEBIT_FEE",
    "ted_out": "TRANSFER",
    "ted_in": "CREDIT",
    "boleto_out": "BILL_PAYMENT",
    "boleto_in": "PAYMENT_RECEIVED",
}
_TRANSFER_STATUSES: Final = {
    "processing": "PENDING",
    "settled": "DONE",
    "returned": "DONE",
    "failed": "FAILED",
}


def reais(centavos: int) -> float:
    """Write an amount; two decimals of at most 15 digits are exact in JSON."""
    return centavos / 100


def read_slice(query: Mapping[str, str], since: str = "", until: str = "") -> Slice:
    """Read offset and limit, and the days named by two parameters, the last one included."""
    skip, limit = read_number(query, "offset", 0), read_number(query, "limit", _USUAL_PAGE)
    require(1 <= limit <= _LARGEST_PAGE, f"limit is 1 to {_LARGEST_PAGE}")
    whole = Slice()
    first = midnight(read_day(query[since])) if since in query else whole.since
    last = midnight(min(read_day(query[until]), _LAST_DAY), 1) if until in query else whole.until
    return Slice(since=first, until=last, limit=limit, skip=skip)


def moment(micros: int | None) -> str | None:
    """Write an instant to the second, in the bank's zone and without saying so."""
    return None if micros is None else local_time(micros, " ")


def _listing(rows: Sequence[Document], wanted: Slice, *, more: bool) -> Document:
    return {"hasMore": more, "totalCount": wanted.skip + len(rows) + more, "data": rows}


def listing(page: Page[Item], show: Callable[[Item], Document], wanted: Slice) -> Document:
    """Show a page of the books' own lists."""
    return _listing([show(each) for each in page.items], wanted, more=page.cursor is not None)


def cut(rows: Sequence[Document], wanted: Slice) -> Document:
    """Show a page of a short list."""
    end = wanted.skip + wanted.limit
    return _listing(rows[wanted.skip : end], wanted, more=len(rows) > end)


def entry(line: Entry, charge_id: str | None) -> Document:
    """Show a movement; of one for a charge, the charge tells what it was paid by."""
    received = "PAYMENT_RECEIVED" if charge_id else "PIX_TRANSACTION_CREDIT"
    kind = _KINDS.get(line.kind, received)
    return {
        "id": number(line.seq),
        "value": reais(line.centavos),
        "type": kind,
        "date": day_of(line.at),
        "description": line.description,
        "paymentId": f"pay_{line.seq}" if line.kind == "boleto_in" else charge_id,
    }


def key(found: Key) -> Document:
    """Show a key."""
    return {
        **fields(found, "id", "key"),
        "type": found.type.upper(),
        "status": _KEY_STATUSES[found.status],
        "dateCreated": moment(found.created_at),
    }


def customer(customer_id: str, payer: Payer) -> Document:
    """Show who is asked to pay."""
    return {"id": customer_id, "name": payer.name, "cpfCnpj": payer.tax_number}


def charge(found: Charge, customer_id: str | None, paid: Payment | None) -> Document:
    """Show a charge; one that was removed keeps its status and says so beside it."""
    return {
        "id": found.id,
        "dateCreated": day_of(found.created_at),
        "customer": customer_id,
        "value": reais(found.centavos or 0),
        "status": "RECEIVED" if paid else "PENDING",
        "paymentDate": day_of(paid.at) if paid else None,
        "externalReference": found.reference,
        "pixTransaction": transaction_id(paid.e2e_id) if paid else None,
        "deleted": found.status == "canceled",
    }


def qr_code(found: Charge) -> Document:
    """Show what a charge is paid by."""
    return {"payload": found.emv, "expirationDate": moment(found.expires_at)}


def transaction_id(e2e_id: str) -> str:
    """Return the bank's own id of a Pix."""
    return f"pix-{e2e_id}"


def transaction(found: Payment) -> Document:
    """Show a Pix that came in."""
    payer = found.payer
    return {
        "id": transaction_id(found.e2e_id),
        **fields(found, endToEndIdentifier="e2e_id", externalReference="reference"),
        "value": reais(found.centavos),
        "refundedValue": reais(found.refunded),
        "effectiveDate": moment(found.at),
        "dateCreated": moment(found.at),
        "status": "DONE",
        "type": "CREDIT",
        "description": payer.message if payer else None,
        "externalAccount": payer and fields(payer, "name", cpfCnpj="tax_number"),
    }


def transfer(found: Payout) -> Document:
    """Show a payout."""
    status = "BLOCKED" if found.analysed_until else _TRANSFER_STATUSES[found.state]
    return {
        **fields(found, "id", endToEndIdentifier="e2e_id", externalReference="idempotency_key"),
        "value": reais(found.paid),
        "status": status,
        "effectiveDate": moment(found.settled_at),
        "bankAccount": json.loads(found.to.sent),
    }


def webhook(found: Listener) -> Document:
    """Show an address for callbacks."""
    return {"id": found.id, "url": found.url}
