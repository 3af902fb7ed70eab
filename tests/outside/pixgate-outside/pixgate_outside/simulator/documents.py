"""
The simulated bank's documents and refusals, in its words.

They are written apart from the adapter's tables: what both took from one place would prove
nothing of either.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from provider_adapters.testing.bank import payouts, received_payments
from provider_adapters.testing.bank.accounts import Account, Balance, Entry
from provider_adapters.testing.bank.books import Books
from provider_adapters.testing.bank.callbacks import Event, EventKind
from provider_adapters.testing.bank.charges import Charge
from provider_adapters.testing.bank.clock import show
from provider_adapters.testing.bank.keys import Key
from provider_adapters.testing.bank.messages import Answer, Code, Document, Refusal
from provider_adapters.testing.bank.payouts import Payout
from provider_adapters.testing.bank.received_payments import Payer, Payment

from pixgate_outside.simulator import money

_KEY_TYPES: Final = {"evp": "random"}
_ENTRY_KINDS: Final = {
    "pix_in": "pix",
    "pix_out": "pix",
    "pix_returned": "pix_return",
    "pix_refund": "pix_return",
    "fee": "fee",
    "ted_in": "ted",
    "ted_out": "ted",
    "boleto_in": "boleto",
    "boleto_out": "boleto",
}
_STATES: Final = {
    "processing": "processing",
    "settled": "settled",
    "failed": "failed",
    "returned": "settled",
}
_EVENTS: Final = {
    EventKind.PAYOUT: "payout",
    EventKind.RETURN: "payout_returned",
    EventKind.CHARGE: "charge",
}
_REFUSALS: Final[Mapping[Code, tuple[int, str]]] = {
    Code.UNAUTHORIZED: (401, "unauthorized"),
    Code.WRONG_ACCOUNT: (403, "wrong_account"),
    Code.NOT_FOUND: (404, "not_found"),
    Code.DUPLICATE: (409, "duplicate"),
    Code.ACCOUNT_INVALID: (422, "account_invalid"),
    Code.INSUFFICIENT_FUNDS: (422, "insufficient_funds"),
    Code.KEY_NOT_FOUND: (422, "key_not_found"),
    Code.LIMIT_EXCEEDED: (422, "limit_exceeded"),
    Code.NOT_ALLOWED: (422, "not_allowed"),
    Code.OWNER_MISMATCH: (422, "owner_mismatch"),
    Code.REJECTED: (422, "rejected"),
    Code.TOO_MANY_REQUESTS: (429, "too_many_requests"),
}


def refusal(problem: Refusal) -> Answer:
    """Show a refusal; what has no word of its own says no more than its status."""
    status, code = _REFUSALS.get(problem.code, (problem.status, "failed"))
    return Answer(document={"error": {"code": code}}, status=status)


def balance(held: Balance, at: int) -> Document:
    """Show a balance as of an instant."""
    return {
        "total": money.show(held.owned),
        "blocked": money.show(held.blocked),
        "updated_at": show(at),
    }


def movement(entry: Entry) -> Document:
    """Show a line of the statement."""
    return {
        "id": entry.id,
        "kind": _ENTRY_KINDS[entry.kind],
        "direction": "in" if entry.centavos > 0 else "out",
        "amount": money.show(abs(entry.centavos)),
        "end_to_end_id": entry.e2e_id,
        "external_id": entry.idempotency_key,
        "description": entry.description,
        "counterparty": {"name": entry.name, "tax_number": entry.tax_number},
        "created_at": show(entry.at),
    }


def key(record: Key) -> Document:
    """Show a key."""
    return {
        "id": record.id,
        "key": record.key,
        "type": _KEY_TYPES.get(record.type, record.type),
        "status": record.status,
        "created_at": show(record.created_at),
    }


def charge(record: Charge, receiver: Account, at: int) -> Document:
    """Show a charge as it stands at an instant."""
    return {
        "reference": record.reference,
        "type": record.type,
        "key": record.key,
        "status": "expired" if record.expired(at) else record.status,
        "payload": record.emv,
        "amount": None if record.centavos is None else money.show(record.centavos),
        "reusable": record.reusable,
        "payer": _payer(record.payer),
        "receiver": {"name": receiver.name, "tax_number": receiver.tax_number},
        "city": receiver.city,
        "zip_code": receiver.zip_code,
        "created_at": show(record.created_at),
        "expires_at": None if record.expires_at is None else show(record.expires_at),
    }


def payment(paid: Payment | None) -> Document | None:
    """Show the payment of a charge."""
    if paid is None:
        return None
    return {
        "amount": money.show(paid.centavos),
        "paid_at": show(paid.at),
        "end_to_end_id": paid.e2e_id,
        "payer": _payer(paid.payer),
    }


def payout(record: Payout) -> Document:
    """Show a payout; once settled, its amount is what was really paid."""
    value = record.centavos if record.settled_centavos is None else record.settled_centavos
    held = record.state == "processing" and record.held_until is not None
    return {
        "id": record.id,
        "external_id": record.idempotency_key,
        "amount": money.show(value),
        "status": "held" if held else _STATES[record.state],
        "end_to_end_id": record.e2e_id,
        "destination": json.loads(record.to.sent),
        "held_until": show(record.held_until) if held and record.held_until else None,
        "settled_at": None if record.settled_at is None else show(record.settled_at),
        "failure": {"code": record.failure.lower()} if record.failure else None,
        "returns": [
            {"id": name, "amount": money.show(centavos), "at": show(at)}
            for name, centavos, at in json.loads(record.returns)
        ],
    }


def event(books: Books, record: Event) -> Document | None:
    """Show what happened, as the body of a callback; None for what this bank does not tell."""
    kind = _EVENTS.get(record.kind)
    if kind is None:
        return None
    subject = _subject(books, record)
    return {"event": record.id, "kind": kind, "subject": subject, "account": record.account_id}


def _subject(books: Books, record: Event) -> str:
    """Name a charge by its reference, a payout by its customer's key."""
    account_id, subject = record.account_id, record.subject
    try:
        if record.kind is EventKind.CHARGE:
            return received_payments.by_e2e_id(books, account_id, subject).reference or ""
        return payouts.get(books, account_id, subject).idempotency_key or ""
    except Refusal:  # it is named so already
        return subject


def _payer(payer: Payer | None) -> Document | None:
    if payer is None:
        return None
    return {"name": payer.name, "tax_number": payer.tax_number, "message": payer.message}
