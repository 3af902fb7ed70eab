"""The simulated Woovi's callbacks: what they say, and the two signatures that they bear."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from typing import Final

from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256
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
from provider_adapters.testing.bank.kernel.clock import show
from provider_adapters.testing.bank.kernel.listeners import Event, EventKind, Listener
from provider_adapters.testing.bank.kernel.state import Kept
from provider_adapters.testing.bank.messages import Document
from provider_adapters.testing.bank.pix.payouts import Payout
from provider_adapters.testing.bank.pix.received_payments import Payment
from provider_adapters.testing.bank.pix.refunds import Refund
from provider_adapters.testing.woovi import documents

WEBHOOK: Final = "webhook"
"""The kind under which a registered address is kept: one for each event."""
FAILURE: Final = "failure"
"""The kind under which the reason of a failed payout is kept, by the payout's id."""
_KEY: Final = "signing key"
_CURRENT: Final = "1"
_FORMER: Final = "2"
# What is made quickly; the real bank signs with 1,024 bits, which nobody should begin with.
_BITS: Final = 2048


_COMPLETED: Final[Document] = {
    "event": "OPENPIX:CHARGE_COMPLETED",
    "company": {"name": "Loja"},
    "account": {"environment": "TESTING"},
}


def written(books: Books, event: Event, to: Listener) -> Callback | None:
    """Write a callback; a registered address gets the events that it asked for alone."""
    said = _said(books, event)
    if said is None:
        return None
    if not _listens(books, event.account_id, to.url, str(said["event"])):
        return None
    body = json.dumps(said, ensure_ascii=False).encode()
    return Callback(url=to.url, body=body, headers=_signed(books, body, to.secret))


def public_keys(books: Books) -> list[tuple[str, str]]:
    """Return id and PEM of each key, the one in force first."""
    return [_shown(key) for key in _keys(books)]


def rotate(books: Books) -> None:
    """Sign with another key from now on; the former one is still shown."""
    former = _keys(books)[0]
    _keep(books, _FORMER, former)
    _keep(books, _CURRENT, rsa.generate_private_key(public_exponent=65537, key_size=_BITS))


def failure_of(books: Books, payout_id: str) -> str:
    """Return why a payout failed, as the bank says it; empty for the usual reason."""
    kept = state.find(books, FAILURE, payout_id)
    return "" if kept is None else kept.value


def _said(books: Books, event: Event) -> Document | None:
    """Write what happened; None for what this bank's customers are not told."""
    match event.kind, subject_of(books, event):
        case EventKind.PAYOUT, Payout() as found:
            failed = found.state == "failed"
            name = "OPENPIX:MOVEMENT_FAILED" if failed else "OPENPIX:MOVEMENT_CONFIRMED"
            return {"event": name, **documents.payment(found, failure_of(books, found.id))}
        case EventKind.PAYOUT, _:  # one that is named by its key, of which nothing more is known
            key = {"correlationID": event.subject, "status": "CONFIRMED"}
            return {"event": "OPENPIX:MOVEMENT_CONFIRMED", "payment": key}
        case EventKind.CHARGE, Payment() as paid:
            shown = documents.transaction(paid)
            return {**_COMPLETED, "charge": shown.get("charge"), "pix": shown}
        case EventKind.CHARGE, _:  # likewise
            charge = {"correlationID": event.subject, "status": "COMPLETED"}
            return {**_COMPLETED, "charge": charge, "pix": {"charge": charge}}
        case EventKind.REFUND, Refund() as refund:
            return _refund(refund)
    return None


def _refund(found: Refund) -> Document:
    state = "REJECTED" if found.state == "failed" else "CONFIRMED"
    return {
        "event": f"PIX_TRANSACTION_REFUND_SENT_{state}",
        "refundTransaction": {
            "value": found.centavos,
            "time": show(found.created_at),
            "endToEndId": found.return_id,
            "status": state,
            "type": "REFUND",
        },
        "originalTransaction": {"endToEndId": found.payment_e2e_id, "type": "PAYMENT"},
        "account": {"id": found.account_id, "status": "OPEN"},
    }


def _listens(books: Books, account_id: str, url: str, event: str) -> bool:
    """Say whether an address gets an event; one that nobody has registered gets all."""
    found = [json.loads(each.value) for each in state.of_account(books, WEBHOOK, account_id)]
    wanted = {each["event"] for each in found if each["url"] == url}
    return not wanted or event in wanted


def _signed(books: Books, body: bytes, secret: str) -> dict[str, str]:
    """Sign a body with the bank's key, and with the secret of the address if it has one."""
    signature = _keys(books)[0].sign(body, padding.PKCS1v15(), SHA256())
    headers = {"x-webhook-signature": base64.b64encode(signature).decode()}
    if secret:
        made = hmac.digest(bytes.fromhex(secret), body, "sha1")
        headers["X-OpenPix-Signature"] = base64.b64encode(made).decode()
    return headers


def _keys(books: Books) -> list[rsa.RSAPrivateKey]:
    """Return the keys, the one in force first; the first call makes it."""
    if state.find(books, _KEY, _CURRENT) is None:
        _keep(books, _CURRENT, rsa.generate_private_key(public_exponent=65537, key_size=_BITS))
    kept = [state.find(books, _KEY, name) for name in (_CURRENT, _FORMER)]
    loaded = [load_pem_private_key(each.value.encode(), None) for each in kept if each is not None]
    return [key for key in loaded if isinstance(key, rsa.RSAPrivateKey)]


def _keep(books: Books, name: str, key: rsa.RSAPrivateKey) -> None:
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    state.put(books, Kept(kind=_KEY, name=name, value=pem))


def _shown(key: rsa.RSAPrivateKey) -> tuple[str, str]:
    public = key.public_key()
    der = public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    return hashlib.sha256(der).hexdigest(), pem
