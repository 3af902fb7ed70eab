"""The customers' HTTP interface, one row for each call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from aiohttp import web
from aiohttp.typedefs import Handler

from provider_adapters.sandbox.bank.http import (
    documents,
    fault_effects,
    messages,
    orders,
    recorded_calls,
)
from provider_adapters.sandbox.bank.http.messages import Answer
from provider_adapters.sandbox.bank.kernel import accounts, blocks, listeners, paging, statement
from provider_adapters.sandbox.bank.kernel.accounts import Account
from provider_adapters.sandbox.bank.kernel.books import Books
from provider_adapters.sandbox.bank.kernel.faults import Faults
from provider_adapters.sandbox.bank.kernel.refusals import Code, Refusal
from provider_adapters.sandbox.bank.pix import (
    charges,
    destinations,
    keys,
    magic_values,
    payouts,
    received_payments,
    refunds,
    settlement,
)

LARGEST_BODY = 64 * 1024
"""Bytes of a body; every valid one is far smaller."""

_CREATED = 201


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerRequest:
    """A request of an authenticated customer."""

    books: Books
    account: Account
    path: Mapping[str, str]
    query: Mapping[str, str]
    headers: Mapping[str, str]
    raw: bytes

    @property
    def body(self) -> messages.Fields:
        """The body, read strictly; raises ``INVALID_REQUEST``."""
        return messages.read(self.raw)


@dataclass(frozen=True, slots=True)
class CustomerRow:
    """A call; ``operation`` is its name in faults."""

    method: str
    path: str
    operation: str
    run: Callable[[CustomerRequest], Answer]


def application(
    books: Books, faults: Faults, recorded: recorded_calls.RecordedCalls
) -> web.Application:
    """Build the application of the bank's port."""
    app = web.Application(
        middlewares=[messages.show_refusals, recorded_calls.recording(recorded)],
        client_max_size=LARGEST_BODY,
    )
    for row in ROWS:
        app.router.add_route(
            row.method, f"/v1/contas/{{conta}}{row.path}", _serve(row, books, faults)
        )
    return app


def _serve(row: CustomerRow, books: Books, faults: Faults) -> Handler:
    async def serve(received: web.Request) -> web.StreamResponse:
        raw = await received.read()
        return await fault_effects.serve(
            received,
            faults.take(row.operation),
            lambda: row.run(_authenticate(books, received, raw)),
        )

    return serve


def _authenticate(books: Books, received: web.Request, raw: bytes) -> CustomerRequest:
    """Identify the customer by the token, after settling what is due."""
    settlement.settle_due(books)
    scheme, _, token = received.headers.get("Authorization", "").partition(" ")
    account = accounts.by_token(books, token) if scheme.lower() == "bearer" else None
    if account is None:
        raise Refusal(Code.UNAUTHORIZED, "a valid token is needed")
    if account.id != received.match_info["conta"]:
        raise Refusal(Code.WRONG_ACCOUNT, "the token belongs to another account")
    return CustomerRequest(
        books=books,
        account=account,
        path=received.match_info,
        query=received.query,
        headers=received.headers,
        raw=raw,
    )


def _account(request: CustomerRequest) -> Answer:
    return Answer(document=documents.account(request.account))


def _balance(request: CustomerRequest) -> Answer:
    held = accounts.balance(request.books, request.account.id)
    return Answer(document=documents.balance(held, request.books.clock.micros()))


def _blocks(request: CustomerRequest) -> Answer:
    found = blocks.listed(request.books, request.account.id)
    return Answer(document={"bloqueios": [documents.block(each) for each in found]})


def _statement(request: CustomerRequest) -> Answer:
    page = statement.read(request.books, request.account.id, paging.read_slice(request.query))
    return Answer(document=documents.page("lancamentos", page, documents.entry))


def _keys(request: CustomerRequest) -> Answer:
    found = keys.list_all(request.books, request.account.id)
    return Answer(document={"chaves": [documents.key(key) for key in found]})


def _key(request: CustomerRequest) -> Answer:
    found = keys.get(request.books, request.account.id, request.path["id"])
    return Answer(document=documents.key(found))


def _add_key(request: CustomerRequest) -> Answer:
    made = keys.add(request.books, request.account.id, orders.key(request.body))
    return Answer(document=documents.key(made), status=_CREATED)


def _cancel_key(request: CustomerRequest) -> Answer:
    canceled = keys.cancel(request.books, request.account.id, request.path["id"])
    return Answer(document=documents.key(canceled))


def _look_up(request: CustomerRequest) -> Answer:
    found = destinations.look_up(request.books, request.body.text("chave"))
    return Answer(document=documents.owner(found))


def _shown(request: CustomerRequest, charge: charges.Charge, status: int = 200) -> Answer:
    at = request.books.clock.micros()
    return Answer(document=documents.charge(charge, request.account, at), status=status)


def _charge(request: CustomerRequest) -> Answer:
    return _shown(
        request, charges.get(request.books, request.account.id, request.path["referencia"])
    )


def _add_charge(request: CustomerRequest) -> Answer:
    made = charges.add(request.books, request.account, orders.charge(request.body))
    return _shown(request, made, _CREATED)


def _cancel_charge(request: CustomerRequest) -> Answer:
    return _shown(
        request, charges.cancel(request.books, request.account.id, request.path["referencia"])
    )


def _charge_payment(request: CustomerRequest) -> Answer:
    charge = charges.get(request.books, request.account.id, request.path["referencia"])
    paid = received_payments.latest(request.books, request.account.id, charge.reference)
    return Answer(document=documents.charge_payment(charge, paid))


def _received(request: CustomerRequest) -> Answer:
    page = received_payments.read(
        request.books, request.account.id, paging.read_slice(request.query)
    )
    return Answer(document=documents.page("recebimentos", page, documents.received))


def _received_one(request: CustomerRequest) -> Answer:
    found = received_payments.by_e2e_id(request.books, request.account.id, request.path["e2e"])
    return Answer(document=documents.received(found))


def _refund_payment(request: CustomerRequest) -> Answer:
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


def _refund(request: CustomerRequest) -> Answer:
    found = refunds.get(request.books, request.account.id, request.path["id"])
    return Answer(document=documents.refund(found))


def _refund_by_key(request: CustomerRequest) -> Answer:
    found = refunds.by_key(request.books, request.account.id, request.path["chave"])
    return Answer(document=documents.refund(found))


def _refunds(request: CustomerRequest) -> Answer:
    page = refunds.read(request.books, request.account.id, paging.read_slice(request.query))
    return Answer(document=documents.page("devolucoes", page, documents.refund))


def _pay_out(request: CustomerRequest) -> Answer:
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


def _payout(request: CustomerRequest) -> Answer:
    found = payouts.get(request.books, request.account.id, request.path["id"])
    return Answer(document=documents.payout(found))


def _payout_by_key(request: CustomerRequest) -> Answer:
    found = payouts.by_key(request.books, request.account.id, request.path["chave"])
    return Answer(document=documents.payout(found))


def _payouts(request: CustomerRequest) -> Answer:
    page = payouts.read(request.books, request.account.id, paging.read_slice(request.query))
    return Answer(document=documents.page("transferencias", page, documents.payout))


def _listeners(request: CustomerRequest) -> Answer:
    found = listeners.of(request.books, request.account.id)
    return Answer(document={"avisos": [documents.listener(each) for each in found]})


def _add_listener(request: CustomerRequest) -> Answer:
    asked = request.body
    made = listeners.add(
        request.books, request.account.id, asked.text("url"), asked.text("segredo", "")
    )
    return Answer(document=documents.listener(made), status=_CREATED)


def _remove_listener(request: CustomerRequest) -> Answer:
    gone = listeners.remove(request.books, request.account.id, request.path["id"])
    return Answer(document=documents.listener(gone))


def _missed(request: CustomerRequest) -> Answer:
    most = paging.read_slice(request.query).limit
    found = listeners.missed(request.books, request.account.id, most)
    shown = [{"id": each.id, "aviso": each.document} for each in found]
    return Answer(document={"eventos": shown})


def _acknowledge(request: CustomerRequest) -> Answer:
    events = request.body.texts("eventos")
    listeners.acknowledge(request.books, request.account.id, events)
    return Answer(document={"lidos": len(events)})


_KEY = "/chaves/{id:[^/]+}"
_CHARGE = "/cobrancas/{referencia:[^/]+}"
_RECEIVED = "/recebimentos/{e2e:[^/]+}"

ROWS = (
    CustomerRow("GET", "", "account", _account),
    CustomerRow("GET", "/saldo", "balance", _balance),
    CustomerRow("GET", "/bloqueios", "balance", _blocks),
    CustomerRow("GET", "/extrato", "statement", _statement),
    CustomerRow("GET", "/chaves", "keys", _keys),
    CustomerRow("POST", "/chaves", "keys", _add_key),
    CustomerRow("GET", _KEY, "keys", _key),
    CustomerRow("DELETE", _KEY, "keys", _cancel_key),
    CustomerRow("POST", "/consultas-chave", "keys", _look_up),
    CustomerRow("GET", "/avisos", "callbacks", _listeners),
    CustomerRow("POST", "/avisos", "callbacks", _add_listener),
    CustomerRow("DELETE", "/avisos/{id:[^/]+}", "callbacks", _remove_listener),
    CustomerRow("GET", "/eventos-perdidos", "callbacks", _missed),
    CustomerRow("POST", "/eventos-perdidos/lidos", "callbacks", _acknowledge),
    CustomerRow("POST", "/cobrancas", "charge", _add_charge),
    CustomerRow("GET", _CHARGE, "charge", _charge),
    CustomerRow("DELETE", _CHARGE, "charge", _cancel_charge),
    CustomerRow("GET", f"{_CHARGE}/pagamento", "payment", _charge_payment),
    CustomerRow("GET", "/recebimentos", "payment", _received),
    CustomerRow("GET", _RECEIVED, "payment", _received_one),
    CustomerRow("POST", f"{_RECEIVED}/devolucoes", "refund", _refund_payment),
    CustomerRow("GET", "/devolucoes", "refund_read", _refunds),
    CustomerRow("GET", "/devolucoes/por-chave/{chave:[^/]+}", "refund_read", _refund_by_key),
    CustomerRow("GET", "/devolucoes/{id:[^/]+}", "refund_read", _refund),
    CustomerRow("POST", "/transferencias", "payout", _pay_out),
    CustomerRow("GET", "/transferencias", "payout_read", _payouts),
    CustomerRow("GET", "/transferencias/por-chave/{chave:[^/]+}", "payout_read", _payout_by_key),
    CustomerRow("GET", "/transferencias/{id:[^/]+}", "payout_read", _payout),
)
"""Every call, in the order of the README."""
