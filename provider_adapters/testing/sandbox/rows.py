"""The sandbox bank's calls, one row for each, and the orders that they read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Final

from provider_adapters.testing.bank.dialect import BankRequest, Row, Run, below, execute, one
from provider_adapters.testing.bank.kernel import accounts, blocks, listeners, paging, statement
from provider_adapters.testing.bank.kernel.accounts import Account
from provider_adapters.testing.bank.kernel.books import Books
from provider_adapters.testing.bank.kernel.paging import Page, Slice
from provider_adapters.testing.bank.kernel.refusals import Code, Refusal, require
from provider_adapters.testing.bank.messages import Answer, Document, Fields
from provider_adapters.testing.bank.pix import (
    charges,
    destinations,
    keys,
    payouts,
    received_payments,
    refunds,
)
from provider_adapters.testing.bank.pix.received_payments import Payer
from provider_adapters.testing.sandbox import documents
from provider_adapters.testing.sandbox.documents import Item

_CREATED: Final = 201
_REPLAYED: Final = {"Idempotent-Replayed": "true"}
_IDEMPOTENCY_KEY = re.compile(r"[!-~]{1,64}")
_SECRET = re.compile(r"([0-9a-fA-F]{2})*")
_BANK = re.compile(r"[0-9]{3}|[0-9A-Z]{8}")
_NEVER = 10 * 366 * 86400
_SECOND = 1_000_000
_KEY_TYPE: Final = {theirs: ours for ours, theirs in documents.KEY_TYPES.items()}
_CHARGE_TYPE: Final = {theirs: ours for ours, theirs in documents.CHARGE_TYPES.items()}
_ACCOUNT_TYPES: Final = ("corrente", "poupanca", "salario", "pagamento")
_TO_KEY: Final = ("forma", "tipo_chave", "chave", "nome", "documento")
_TO_ACCOUNT: Final = ("forma", "banco", "agencia", "conta", "tipo_conta", "nome", "documento")


def authenticate(request: BankRequest) -> Account:
    """Return the account of the token, which is also the one in the path."""
    account = request.holder(request.bearer, "a valid token is needed")
    if account.id != request.path["conta"]:
        raise Refusal(Code.WRONG_ACCOUNT, "the token belongs to another account")
    return account


def _all(
    name: str, read: Callable[[Books, str], Sequence[Item]], show: Callable[[Item], Document]
) -> Run:
    """Return what answers a whole list under its name."""
    return lambda request: {name: [show(each) for each in read(*request.own)]}


def _page(
    name: str, read: Callable[[Books, str, Slice], Page[Item]], show: Callable[[Item], Document]
) -> Run:
    """Return what answers a page of a list under its name."""
    return lambda request: documents.page(
        name, read(*request.own, paging.read_slice(request.query)), show
    )


def _charge(find: Callable[[Books, str, str], charges.Charge]) -> Run:
    """Return what answers the charge of the path."""
    return lambda request: _shown(request, find(*request.own, request.path["referencia"]))


def _balance(request: BankRequest) -> Document:
    return documents.balance(accounts.balance(*request.own), request.books.clock.micros())


def _add_key(request: BankRequest) -> Document:
    return documents.key(keys.add(*request.own, read_key(request.body)))


def _look_up(request: BankRequest) -> Document:
    return documents.owner(destinations.look_up(request.books, request.body.text("chave")))


def _shown(request: BankRequest, charge: charges.Charge) -> Document:
    return documents.charge(charge, request.account, request.books.clock.micros())


def _add_charge(request: BankRequest) -> Document:
    return _shown(request, charges.add(request.books, request.account, read_charge(request.body)))


def _charge_payment(request: BankRequest) -> Document:
    charge = charges.get(*request.own, request.path["referencia"])
    paid = received_payments.latest(*request.own, charge.reference)
    return documents.charge_payment(charge, paid)


def _refund_payment(request: BankRequest) -> Answer:
    body, own = request.body, request.own
    order = refunds.RefundOrder(
        payment_e2e_id=request.path["e2e"],
        centavos=body.centavos("valor_centavos"),
        idempotency_key=_checked(request.headers.get("Idempotency-Key", "")),
        reference=body.text("referencia", ""),
        description=body.text("descricao", ""),
    )
    known = refunds.repeated(*own, order)
    if known:
        return Answer(document=documents.refund(known), headers=_REPLAYED)
    return execute(order.centavos, lambda: documents.refund(refunds.accept(*own, order)), _CREATED)


def _pay_out(request: BankRequest) -> Answer:
    books, account = request.books, request.account
    order = read_payout(request.body, request.headers.get("Idempotency-Key"))
    known = payouts.repeated(books, account, order)
    if known:
        return Answer(document=documents.payout(known), headers=_REPLAYED)
    return execute(
        order.centavos, lambda: documents.payout(payouts.accept(books, account, order)), _CREATED
    )


def _add_listener(request: BankRequest) -> Document:
    url, secret = request.body.text("url"), request.body.text("segredo", "")
    require(_SECRET.fullmatch(secret), "segredo is hexadecimal digits")
    return documents.listener(listeners.add(*request.own, url, secret))


def _missed(request: BankRequest) -> Document:
    found = listeners.missed(*request.own, paging.read_slice(request.query).limit)
    shown = [{"id": each.id, "aviso": documents.event(request.books, each)} for each in found]
    return {"eventos": shown}


def _acknowledge(request: BankRequest) -> Document:
    events = request.body.texts("eventos")
    listeners.acknowledge(*request.own, events)
    return {"lidos": len(events)}


def read_payout(body: Fields, idempotency_key: str | None) -> payouts.Order:
    """Read the order of a payout; raises ``INVALID_REQUEST``."""
    return payouts.Order(
        idempotency_key=None if idempotency_key is None else _checked(idempotency_key),
        centavos=body.centavos("valor_centavos"),
        to=_destination(body.inside("destino")),
        description=body.text("descricao", ""),
    )


def read_key(body: Fields) -> keys.NewKey:
    """Read the order of a key; raises ``INVALID_REQUEST``."""
    kind = body.choice("tipo", _KEY_TYPE)
    return keys.NewKey(type=kind, key=body.optional("chave", body.text))


def read_charge(body: Fields) -> charges.NewCharge:
    """Read the order of a charge; raises ``INVALID_REQUEST``."""
    lives = body.whole("expira_em_s", _NEVER)
    require(0 < lives <= _NEVER, "expira_em_s is above zero and at most ten years")
    return charges.NewCharge(
        reference=body.text("referencia"),
        type=body.choice("tipo", _CHARGE_TYPE),
        key=body.text("chave"),
        centavos=body.optional("valor_centavos", body.centavos),
        expires_in=None if lives == _NEVER else lives * _SECOND,
        reusable=body.flag("reutilizavel"),
        description=body.text("descricao", ""),
        payer=body.optional("pagador", lambda name: _payer(body.inside(name))),
    )


def _payer(given: Fields) -> Payer:
    name, tax_number = given.text("nome"), given.text("documento")
    return Payer(name=name, tax_number=tax_number, message=given.text("mensagem", ""))


def _checked(idempotency_key: str) -> str:
    is_one = _IDEMPOTENCY_KEY.fullmatch(idempotency_key)
    require(is_one, "Idempotency-Key is 1 to 64 printable ASCII characters")
    return idempotency_key


def _destination(body: Fields) -> destinations.Destination:
    to_key = body.choice("forma", ("chave", "conta")) == "chave"
    if to_key:
        body.choice("tipo_chave", _KEY_TYPE, "email")
    else:
        require(_BANK.fullmatch(body.text("banco")), "banco is a COMPE code or an ISPB")
        body.choice("tipo_conta", _ACCOUNT_TYPES, "corrente")
    # As it was sent, with the known fields only, in a fixed order.
    names = _TO_KEY if to_key else _TO_ACCOUNT
    sent = {name: body.text(name, "") for name in names if name in body}
    return destinations.Destination(
        key=body.text("chave") if to_key else None,
        bank=None if to_key else body.text("banco"),
        branch=None if to_key else body.text("agencia"),
        account=None if to_key else body.text("conta"),
        name=body.text("nome", ""),
        tax_number=body.text("documento"),
        sent=json.dumps(sent),
    )


_CHARGE = "/cobrancas/{referencia:[^/]+}"
_RECEIVED = "/recebimentos/{e2e:[^/]+}"
_REFUND_BY_KEY = one(refunds.by_key, "chave", documents.refund)
_REFUNDS = _page("devolucoes", refunds.read, documents.refund)
_PAYOUT = one(payouts.get, "id", documents.payout)
_PAYOUT_BY_KEY = one(payouts.by_key, "chave", documents.payout)
_STATEMENT = _page("lancamentos", statement.read, documents.entry)
_PAYMENTS = _page("recebimentos", received_payments.read, documents.received)
_PAYMENT = one(received_payments.by_e2e_id, "e2e", documents.received)
_REMOVE_LISTENER = one(listeners.remove, "id", documents.listener)
ROWS = below(
    "/v1/contas/{conta}",
    Row("GET", "/saldo", "balance", _balance),
    Row("GET", "/bloqueios", "balance", _all("bloqueios", blocks.listed, documents.block)),
    Row("GET", "/extrato", "statement", _STATEMENT),
    Row("GET", "/chaves", "keys", _all("chaves", keys.list_all, documents.key)),
    Row("POST", "/chaves", "keys", _add_key, status=_CREATED),
    Row("DELETE", "/chaves/{id:[^/]+}", "keys", one(keys.cancel, "id", documents.key)),
    Row("POST", "/consultas-chave", "keys", _look_up),
    Row("GET", "/avisos", "callbacks", _all("avisos", listeners.of, documents.listener)),
    Row("POST", "/avisos", "callbacks", _add_listener, status=_CREATED),
    Row("DELETE", "/avisos/{id:[^/]+}", "callbacks", _REMOVE_LISTENER),
    Row("GET", "/eventos-perdidos", "callbacks", _missed),
    Row("POST", "/eventos-perdidos/lidos", "callbacks", _acknowledge),
    Row("POST", "/cobrancas", "charge", _add_charge, status=_CREATED),
    Row("GET", _CHARGE, "charge", _charge(charges.get)),
    Row("DELETE", _CHARGE, "charge", _charge(charges.cancel)),
    Row("GET", f"{_CHARGE}/pagamento", "payment", _charge_payment),
    Row("GET", "/recebimentos", "payment", _PAYMENTS),
    Row("GET", _RECEIVED, "payment", _PAYMENT),
    Row("POST", f"{_RECEIVED}/devolucoes", "refund", _refund_payment),
    Row("GET", "/devolucoes", "refund_read", _REFUNDS),
    Row("GET", "/devolucoes/por-chave/{chave:[^/]+}", "refund_read", _REFUND_BY_KEY),
    Row("POST", "/transferencias", "payout", _pay_out),
    Row("GET", "/transferencias/por-chave/{chave:[^/]+}", "payout_read", _PAYOUT_BY_KEY),
    Row("GET", "/transferencias/{id:[^/]+}", "payout_read", _PAYOUT),
)
"""Every call, in the order of the README."""
