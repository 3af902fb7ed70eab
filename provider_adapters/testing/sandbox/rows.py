"""The sandbox bank's calls, one row for each."""

from __future__ import annotations

from typing import Final

from provider_adapters.testing.bank.dialect import BankRequest, Row
from provider_adapters.testing.bank.kernel import accounts, blocks, listeners, paging, statement
from provider_adapters.testing.bank.kernel.accounts import Account
from provider_adapters.testing.bank.kernel.refusals import Code, Refusal
from provider_adapters.testing.bank.messages import Answer
from provider_adapters.testing.bank.pix import (
    charges,
    destinations,
    keys,
    magic_values,
    payouts,
    received_payments,
    refunds,
)
from provider_adapters.testing.sandbox import documents, orders

_CREATED: Final = 201


def authenticate(request: BankRequest) -> Account:
    """Return the account of the token, which is also the one in the path."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    account = accounts.by_token(request.books, token) if scheme.lower() == "bearer" else None
    if account is None:
        raise Refusal(Code.UNAUTHORIZED, "a valid token is needed")
    if account.id != request.path["conta"]:
        raise Refusal(Code.WRONG_ACCOUNT, "the token belongs to another account")
    return account


def _account(request: BankRequest) -> Answer:
    return Answer(document=documents.account(request.account))


def _balance(request: BankRequest) -> Answer:
    held = accounts.balance(request.books, request.account.id)
    return Answer(document=documents.balance(held, request.books.clock.micros()))


def _blocks(request: BankRequest) -> Answer:
    found = blocks.listed(request.books, request.account.id)
    return Answer(document={"bloqueios": [documents.block(each) for each in found]})


def _statement(request: BankRequest) -> Answer:
    page = statement.read(request.books, request.account.id, paging.read_slice(request.query))
    return Answer(document=documents.page("lancamentos", page, documents.entry))


def _keys(request: BankRequest) -> Answer:
    found = keys.list_all(request.books, request.account.id)
    return Answer(document={"chaves": [documents.key(key) for key in found]})


def _key(request: BankRequest) -> Answer:
    found = keys.get(request.books, request.account.id, request.path["id"])
    return Answer(document=documents.key(found))


def _add_key(request: BankRequest) -> Answer:
    made = keys.add(request.books, request.account.id, orders.key(request.body))
    return Answer(document=documents.key(made), status=_CREATED)


def _cancel_key(request: BankRequest) -> Answer:
    canceled = keys.cancel(request.books, request.account.id, request.path["id"])
    return Answer(document=documents.key(canceled))


def _look_up(request: BankRequest) -> Answer:
    found = destinations.look_up(request.books, request.body.text("chave"))
    return Answer(document=documents.owner(found))


def _shown(request: BankRequest, charge: charges.Charge, status: int = 200) -> Answer:
    at = request.books.clock.micros()
    return Answer(document=documents.charge(charge, request.account, at), status=status)


def _charge(request: BankRequest) -> Answer:
    return _shown(
        request, charges.get(request.books, request.account.id, request.path["referencia"])
    )


def _add_charge(request: BankRequest) -> Answer:
    made = charges.add(request.books, request.account, orders.charge(request.body))
    return _shown(request, made, _CREATED)


def _cancel_charge(request: BankRequest) -> Answer:
    return _shown(
        request, charges.cancel(request.books, request.account.id, request.path["referencia"])
    )


def _charge_payment(request: BankRequest) -> Answer:
    charge = charges.get(request.books, request.account.id, request.path["referencia"])
    paid = received_payments.latest(request.books, request.account.id, charge.reference)
    return Answer(document=documents.charge_payment(charge, paid))


def _received(request: BankRequest) -> Answer:
    page = received_payments.read(
        request.books, request.account.id, paging.read_slice(request.query)
    )
    return Answer(document=documents.page("recebimentos", page, documents.received))


def _received_one(request: BankRequest) -> Answer:
    found = received_payments.by_e2e_id(request.books, request.account.id, request.path["e2e"])
    return Answer(document=documents.received(found))


def _refund_payment(request: BankRequest) -> Answer:
    key = request.headers.get("Idempotency-Key")
    order = orders.refund(request.body, request.path["e2e"], key)
    known = refunds.repeated(request.books, request.account.id, order)
    if known:
        replayed = {"Idempotent-Replayed": "true"}
        return Answer(document=documents.refund(known), headers=replayed)
    fault = magic_values.on_the_wire(order.centavos)
    if fault and not fault.executes:
        return Answer(document={}, fault=fault)
    made = refunds.accept(request.books, request.account.id, order)
    return Answer(document=documents.refund(made), status=_CREATED, fault=fault)


def _refund(request: BankRequest) -> Answer:
    found = refunds.get(request.books, request.account.id, request.path["id"])
    return Answer(document=documents.refund(found))


def _refund_by_key(request: BankRequest) -> Answer:
    found = refunds.by_key(request.books, request.account.id, request.path["chave"])
    return Answer(document=documents.refund(found))


def _refunds(request: BankRequest) -> Answer:
    page = refunds.read(request.books, request.account.id, paging.read_slice(request.query))
    return Answer(document=documents.page("devolucoes", page, documents.refund))


def _pay_out(request: BankRequest) -> Answer:
    order = orders.payout(request.body, request.headers.get("Idempotency-Key"))
    known = payouts.repeated(request.books, request.account, order)
    if known:
        replayed = {"Idempotent-Replayed": "true"}
        return Answer(document=documents.payout(known), headers=replayed)
    fault = magic_values.on_the_wire(order.centavos)
    if fault and not fault.executes:
        return Answer(document={}, fault=fault)
    made = payouts.accept(request.books, request.account, order)
    return Answer(document=documents.payout(made), status=_CREATED, fault=fault)


def _payout(request: BankRequest) -> Answer:
    found = payouts.get(request.books, request.account.id, request.path["id"])
    return Answer(document=documents.payout(found))


def _payout_by_key(request: BankRequest) -> Answer:
    found = payouts.by_key(request.books, request.account.id, request.path["chave"])
    return Answer(document=documents.payout(found))


def _payouts(request: BankRequest) -> Answer:
    page = payouts.read(request.books, request.account.id, paging.read_slice(request.query))
    return Answer(document=documents.page("transferencias", page, documents.payout))


def _listeners(request: BankRequest) -> Answer:
    found = listeners.of(request.books, request.account.id)
    return Answer(document={"avisos": [documents.listener(each) for each in found]})


def _add_listener(request: BankRequest) -> Answer:
    asked = request.body
    made = listeners.add(request.books, request.account.id, asked.text("url"), orders.secret(asked))
    return Answer(document=documents.listener(made), status=_CREATED)


def _remove_listener(request: BankRequest) -> Answer:
    gone = listeners.remove(request.books, request.account.id, request.path["id"])
    return Answer(document=documents.listener(gone))


def _missed(request: BankRequest) -> Answer:
    most = paging.read_slice(request.query).limit
    found = listeners.missed(request.books, request.account.id, most)
    shown = [{"id": each.id, "aviso": documents.event(request.books, each)} for each in found]
    return Answer(document={"eventos": shown})


def _acknowledge(request: BankRequest) -> Answer:
    events = request.body.texts("eventos")
    listeners.acknowledge(request.books, request.account.id, events)
    return Answer(document={"lidos": len(events)})


_ROOT = "/v1/contas/{conta}"
_KEY = "/chaves/{id:[^/]+}"
_CHARGE = "/cobrancas/{referencia:[^/]+}"
_RECEIVED = "/recebimentos/{e2e:[^/]+}"

ROWS = (
    Row("GET", _ROOT, "account", _account),
    Row("GET", f"{_ROOT}/saldo", "balance", _balance),
    Row("GET", f"{_ROOT}/bloqueios", "balance", _blocks),
    Row("GET", f"{_ROOT}/extrato", "statement", _statement),
    Row("GET", f"{_ROOT}/chaves", "keys", _keys),
    Row("POST", f"{_ROOT}/chaves", "keys", _add_key),
    Row("GET", f"{_ROOT}{_KEY}", "keys", _key),
    Row("DELETE", f"{_ROOT}{_KEY}", "keys", _cancel_key),
    Row("POST", f"{_ROOT}/consultas-chave", "keys", _look_up),
    Row("GET", f"{_ROOT}/avisos", "callbacks", _listeners),
    Row("POST", f"{_ROOT}/avisos", "callbacks", _add_listener),
    Row("DELETE", f"{_ROOT}/avisos/{{id:[^/]+}}", "callbacks", _remove_listener),
    Row("GET", f"{_ROOT}/eventos-perdidos", "callbacks", _missed),
    Row("POST", f"{_ROOT}/eventos-perdidos/lidos", "callbacks", _acknowledge),
    Row("POST", f"{_ROOT}/cobrancas", "charge", _add_charge),
    Row("GET", f"{_ROOT}{_CHARGE}", "charge", _charge),
    Row("DELETE", f"{_ROOT}{_CHARGE}", "charge", _cancel_charge),
    Row("GET", f"{_ROOT}{_CHARGE}/pagamento", "payment", _charge_payment),
    Row("GET", f"{_ROOT}/recebimentos", "payment", _received),
    Row("GET", f"{_ROOT}{_RECEIVED}", "payment", _received_one),
    Row("POST", f"{_ROOT}{_RECEIVED}/devolucoes", "refund", _refund_payment),
    Row("GET", f"{_ROOT}/devolucoes", "refund_read", _refunds),
    Row("GET", f"{_ROOT}/devolucoes/por-chave/{{chave:[^/]+}}", "refund_read", _refund_by_key),
    Row("GET", f"{_ROOT}/devolucoes/{{id:[^/]+}}", "refund_read", _refund),
    Row("POST", f"{_ROOT}/transferencias", "payout", _pay_out),
    Row("GET", f"{_ROOT}/transferencias", "payout_read", _payouts),
    Row("GET", f"{_ROOT}/transferencias/por-chave/{{chave:[^/]+}}", "payout_read", _payout_by_key),
    Row("GET", f"{_ROOT}/transferencias/{{id:[^/]+}}", "payout_read", _payout),
)
"""Every call, in the order of the README."""
