"""The bank's callbacks, signed with its own key, and the events behind them."""

from __future__ import annotations

import base64
import json

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

from provider_adapters.testing.bank.dialect import Callback, subject_of
from provider_adapters.testing.bank.kernel.books import Books
from provider_adapters.testing.bank.kernel.listeners import Event, Listener
from provider_adapters.testing.bank.messages import Document
from provider_adapters.testing.bank.pix import charges
from provider_adapters.testing.bank.pix.payouts import Payout
from provider_adapters.testing.bank.pix.received_payments import Payment
from provider_adapters.testing.starkbank import documents, signing_keys


def callback(books: Books, event_: Event, to: Listener) -> Callback | None:
    """Write and sign what an address is told; None for what this bank says nothing of."""
    said = event(books, event_)
    if said is None:
        return None
    body = json.dumps({"event": said}).encode()
    signature = signing_keys.private(signing_keys.signing_key(books)).sign(
        body, ec.ECDSA(hashes.SHA256())
    )
    headers = {"Digital-Signature": base64.b64encode(signature).decode()}
    return Callback(url=to.url, body=body, headers=headers)


def event(books: Books, event_: Event) -> Document | None:
    """Show an event; None for what this bank says nothing of."""
    said = _log(books, event_)
    if said is None:
        return None
    subscription, kind, document = said
    at = documents.instant(books.clock.micros())
    log = {"id": f"log-{event_.id}", "type": kind, "errors": [], "created": at}
    return {
        "id": event_.id,
        "created": at,
        "isDelivered": False,
        "subscription": subscription,
        "workspaceId": event_.account_id,
        "log": {**log, subscription: document},
    }


def _log(books: Books, event_: Event) -> tuple[str, str, Document] | None:
    """Return subscription, type of log and document of an event, read from the books."""
    match subject_of(books, event_):
        case Payout() as payout:
            shown = documents.transfer(payout)
            return "transfer", str(shown["status"]), shown
        case Payment() as paid:
            reference = paid.reference
            charge = charges.get(books, paid.account_id, reference) if reference else None
            if charge is not None and charge.payer is not None:
                return "invoice", "paid", documents.invoice(books, charge)
            return "deposit", "credited", documents.deposit(books, paid, charge)
    return None
