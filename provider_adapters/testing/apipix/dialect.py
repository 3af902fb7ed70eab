"""Banks of API Pix as simulated banks: the shared books in the dress of the standard."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

from provider_adapters.apipix.callbacks import step_of
from provider_adapters.apipix.profiles import PROFILES, Name
from provider_adapters.testing.apipix import documents, inter, refusals
from provider_adapters.testing.apipix.access import Doors
from provider_adapters.testing.apipix.rows import EFI_DOORS, EFI_ROWS, rows_below
from provider_adapters.testing.bank.dialect import Callback, Dialect, Row, subject_of
from provider_adapters.testing.bank.kernel.accounts import PayoutKind
from provider_adapters.testing.bank.kernel.books import BankIdentity, Books
from provider_adapters.testing.bank.kernel.clock import show
from provider_adapters.testing.bank.kernel.listeners import Event, EventKind, Listener
from provider_adapters.testing.bank.kernel.refusals import Refusal
from provider_adapters.testing.bank.messages import Document
from provider_adapters.testing.bank.pix import charges, payouts, received_payments
from provider_adapters.testing.bank.pix.payouts import Payout
from provider_adapters.testing.bank.pix.received_payments import Payment
from provider_adapters.testing.bank.pix.refunds import Refund
from provider_adapters.testing.bank.simulator import BankAddress, Simulator

_BELOW: Final = "/pix"
_Tell = Callable[[Books, Event], Document | None]


def _callback(tell: _Tell, below: str, books: Books, event: Event, to: Listener) -> Callback | None:
    """
    Write a callback; what came back of a payout is told by no document.

    A listener with a secret is one that was registered by nobody through the interface: it
    gets the step that proves the address, and what the bank adds ``below`` such a step.
    """
    told = tell(books, event)
    if told is None:
        return None
    body = json.dumps({"pix": [told]}).encode()
    step = f"/{step_of(bytes.fromhex(to.secret))}{below}" if to.secret else _BELOW
    url = to.url + step
    return Callback(url=url, body=body, headers={})


def _standard(books: Books, event: Event) -> Document | None:
    """Read what a callback of the standard says: of a payout, nothing."""
    return None if event.kind is EventKind.PAYOUT else _told(books, event)


def _told(books: Books, event: Event) -> Document | None:
    """Read what a callback says; what the books do not have is invented."""
    match event.kind, subject_of(books, event):
        case EventKind.PAYOUT, Payout() as payout:
            return documents.sent_event(payout)
        case ((EventKind.CHARGE | EventKind.PAYMENT), Payment() as paid):
            return _paid(books, paid)
        case EventKind.REFUND, Refund() as refund:
            return _given_back(books, refund)
        case EventKind.RETURN, _:
            return None
        case EventKind.PAYOUT, _:  # named by its key, perhaps
            with suppress(Refusal):
                key = event.subject
                return documents.sent_event(payouts.by_key(books, event.account_id, key))
    return _invented(books, event)


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


def _settings(profile: Name, address: BankAddress) -> Mapping[str, object]:
    """Name the bank at its address, and where its tokens are given if that is elsewhere."""
    named = {"profile": profile.value, "base_url": address.url}
    if not PROFILES[profile].token_urls:
        return named
    return {**named, "token_url": address.token_url or address.url}


def _dialect(
    profile: Name, identity: BankIdentity, doors: Doors, rows: Sequence[Row] = ()
) -> Dialect:
    """Dress the books as a bank that offers the standard, and what else ``rows`` are."""
    known = PROFILES[profile]
    token = Row(
        "POST",
        known.token.path,
        "access",
        doors.give_token,
        is_open=True,
        at_token_host=bool(known.token_urls),
    )
    return Dialect(
        identity=identity,
        rows=(token, *rows_below(known.pix, known.charges), *rows),
        authenticate=doors.authenticate,
        refusal=refusals.shown_by_standard,
        payout=inter.payout,
        callback=partial(_callback, _standard, known.secret_address.adds),
        admit=doors.admit,
        # The worst that a bank can do: an order that is sent twice would be paid twice.
        payout_kind=PayoutKind.NONE,
        client_certificates=True,
    )


EFI: Final = Dialect(
    identity=BankIdentity(name="Efi S.A.", ispb="09089356", compe="364", host="pix.efi.example"),
    rows=EFI_ROWS,
    authenticate=EFI_DOORS.authenticate,
    refusal=refusals.shown_by_efi,
    payout=documents.sent,
    callback=partial(_callback, _told, PROFILES[Name.EFI].secret_address.adds),
    admit=EFI_DOORS.admit,
    payout_kind=PayoutKind.DUP,
    client_certificates=True,
)
INTER: Final = _dialect(
    Name.INTER,
    BankIdentity(name="Banco Inter S.A.", ispb="00416968", compe="077", host="pix.inter.example"),
    Doors(
        proof="body",
        more={"account": lambda _, held: held.number.replace("-", "")},
        headers={"x-conta-corrente": "account"},
    ),
    inter.ROWS,
)
SICOOB: Final = _dialect(
    Name.SICOOB,
    BankIdentity(name="Bancoob S.A.", ispb="02038232", compe="756", host="pix.sicoob.example"),
    Doors(proof="body", secret=False, headers={"client_id": "client_id"}),
)
BB: Final = _dialect(
    Name.BB,
    BankIdentity(name="Banco do Brasil S.A.", ispb="00000000", compe="001", host="pix.bb.example"),
    Doors(
        more={"app_key": lambda books, _: books.random_hex(16)}, query={"gw-dev-app-key": "app_key"}
    ),
)
SICREDI: Final = _dialect(
    Name.SICREDI,
    BankIdentity(
        name="Banco Sicredi S.A.", ispb="01181521", compe="748", host="pix.sicredi.example"
    ),
    Doors(),
)
_DIALECTS: Final = {
    Name.EFI: EFI,
    Name.INTER: INTER,
    Name.SICOOB: SICOOB,
    Name.BB: BB,
    Name.SICREDI: SICREDI,
}
SIMULATORS: Final = {
    name.value: Simulator(
        adapter="apipix",
        dialect=dialect,
        settings=partial(_settings, name),
        tells_returns=False,
    )
    for name, dialect in _DIALECTS.items()
}
