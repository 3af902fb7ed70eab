"""The bank's callbacks, the events behind them, and the keys of its curve that sign them."""

from __future__ import annotations

import base64
import json
from typing import Final

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from provider_adapters.testing.bank.dialect import Callback, subject_of
from provider_adapters.testing.bank.kernel import state
from provider_adapters.testing.bank.kernel.books import Books
from provider_adapters.testing.bank.kernel.listeners import Event, Listener
from provider_adapters.testing.bank.kernel.state import Kept
from provider_adapters.testing.bank.messages import Document
from provider_adapters.testing.bank.pix import charges
from provider_adapters.testing.bank.pix.payouts import Payout
from provider_adapters.testing.bank.pix.received_payments import Payment
from provider_adapters.testing.starkbank import documents

_KIND: Final = "signing key"
_CURRENT: Final = "current"
_ORDER: Final = int("FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141", 16)
"""Of the curve secp256k1: private keys lie below it."""


def callback(books: Books, event_: Event, to: Listener) -> Callback | None:
    """Write and sign what an address is told; None for what this bank says nothing of."""
    said = event(books, event_)
    if said is None:
        return None
    body = json.dumps({"event": said}).encode()
    signature = private(signing_key(books)).sign(body, ec.ECDSA(hashes.SHA256()))
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


def new_key(books: Books) -> str:
    """Draw a private key of the bank's curve, in PEM, from the books' own chance."""
    secret = int(books.random_hex(32), 16) % (_ORDER - 1) + 1
    made = ec.derive_private_key(secret, ec.SECP256K1())
    form = (Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    return made.private_bytes(*form).decode()


def public_of(private_pem: str) -> str:
    """Return the public key of a private one, in PEM."""
    public = private(private_pem).public_key()
    return public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def public_key(books: Books) -> str:
    """Return the key that callbacks are checked with."""
    return public_of(signing_key(books))


def rotate(books: Books) -> None:
    """Sign with another key from now on."""
    state.put(books, Kept(kind=_KIND, name=_CURRENT, value=new_key(books)))


def signing_key(books: Books) -> str:
    """Return the bank's private key, in PEM; the first time it is drawn."""
    kept = state.find(books, _KIND, _CURRENT)
    if kept is None:
        rotate(books)
        return signing_key(books)
    return kept.value


def private(pem: str) -> ec.EllipticCurvePrivateKey:
    """Read a private key; raises ``TypeError`` for one of another kind."""
    key = load_pem_private_key(pem.encode(), password=None)
    if not (isinstance(key, ec.EllipticCurvePrivateKey) and key.curve.name == "secp256k1"):
        message = "the key is not one of the curve secp256k1"
        raise TypeError(message)
    return key
