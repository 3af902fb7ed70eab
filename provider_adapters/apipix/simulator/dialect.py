"""Efí as a simulated bank: the shared books in the dress of API Pix."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from provider_adapters.apipix.callbacks import step_of
from provider_adapters.apipix.simulator import access, documents, efi_rows, refusals
from provider_adapters.simulated_bank.dialect import Callback, Dialect
from provider_adapters.simulated_bank.kernel.accounts import PayoutKind
from provider_adapters.simulated_bank.kernel.books import BankIdentity, Books
from provider_adapters.simulated_bank.kernel.clock import show
from provider_adapters.simulated_bank.kernel.listeners import Event, EventKind, Listener
from provider_adapters.simulated_bank.kernel.refusals import Refusal
from provider_adapters.simulated_bank.messages import Document
from provider_adapters.simulated_bank.pix import charges, payouts, received_payments, refunds
from provider_adapters.simulated_bank.pix.payouts import Payout
from provider_adapters.simulated_bank.pix.received_payments import Payment
from provider_adapters.simulated_bank.pix.refunds import Refund
from provider_adapters.simulated_bank.simulator import BankAddress, Simulator

_IDENTITY: Final = BankIdentity(
    name="Efi S.A.", ispb="09089356", compe="364", host="pix.efi.example"
)
_BELOW: Final = "/pix"


def _callback(books: Books, event: Event, to: Listener) -> Callback | None:
    """
    Write a callback; what came back of a payout is told by no document.

    A listener with a secret is one that was registered by nobody through the interface: it
    gets the step that proves the address.
    """
    told = _told(books, event)
    if told is None:
        return None
    body = json.dumps({"pix": [told]}).encode()
    step = f"/{step_of(bytes.fromhex(to.secret))}" if to.secret else _BELOW
    url = to.url + step
    return Callback(url=url, body=body, headers={})


def _told(books: Books, event: Event) -> Document | None:
    """Read what a callback says; what the books do not have is invented."""
    account, subject = event.account_id, event.subject
    try:
        match event.kind:
            case EventKind.PAYOUT:
                return documents.sent_event(_payout(books, account, subject))
            case EventKind.CHARGE | EventKind.PAYMENT:
                return _paid(books, received_payments.by_e2e_id(books, account, subject))
            case EventKind.REFUND:
                return _given_back(books, refunds.get(books, account, subject))
            case EventKind.RETURN:
                return None
    except Refusal:
        return _invented(books, event)


def _payout(books: Books, account_id: str, subject: str) -> Payout:
    """Find a payout by the bank's id of it, or by its key."""
    try:
        return payouts.get(books, account_id, subject)
    except Refusal:
        return payouts.by_key(books, account_id, subject)


def _paid(books: Books, paid: Payment) -> Document | None:
    """Tell of a payment of a charge; of others the standard tells nothing."""
    if not paid.reference:
        return None
    shown = dict(documents.pix(books, paid))
    shown.pop("devolucoes", None)
    charge = charges.get(books, paid.account_id, paid.reference)
    return {**shown, "chave": charge.key}


def _given_back(books: Books, refund: Refund) -> Document:
    paid = received_payments.by_e2e_id(books, refund.account_id, refund.payment_e2e_id)
    return {**documents.pix(books, paid), "devolucoes": [documents.refund(refund)]}


def _invented(books: Books, event: Event) -> Document:
    """Write a callback about what the books do not have: it may be late, or for another bank."""
    at = books.clock.micros()
    told: dict[str, object] = {
        "endToEndId": books.e2e_id(at),
        "valor": "10.50",
        "horario": show(at),
    }
    match event.kind:
        case EventKind.PAYOUT:
            extras = {"idEnvio": event.subject}
            return {**told, "tipo": "SOLICITACAO", "status": "REALIZADO", "gnExtras": extras}
        case EventKind.REFUND:
            times = {"solicitacao": show(at)}
            given = {"id": event.subject, "rtrId": f"D{books.e2e_id(at)[1:]}", "valor": "10.50"}
            return {**told, "devolucoes": [{**given, "horario": times, "status": "DEVOLVIDO"}]}
        case _:
            return {**told, "txid": event.subject}


def _settings(address: BankAddress) -> Mapping[str, object]:
    return {"profile": "efi", "base_url": address.url}


EFI: Final = Dialect(
    identity=_IDENTITY,
    rows=efi_rows.ROWS,
    authenticate=access.authenticate,
    refusal=refusals.shown_by_efi,
    payout=documents.sent,
    callback=_callback,
    admit=access.admit,
    payout_kind=PayoutKind.DUP,
    client_certificates=True,
)

SIMULATORS: Final = {
    "efi": Simulator(adapter="apipix", dialect=EFI, settings=_settings, tells_returns=False),
}
