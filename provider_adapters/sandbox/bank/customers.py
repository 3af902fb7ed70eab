"""The customers' interface: one row for every call of the bank's own HTTP interface."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from aiohttp import web
from aiohttp.typedefs import Handler

from provider_adapters.sandbox.bank import (
    accounts,
    answers,
    bodies,
    calls,
    charges,
    destinations,
    documents,
    incoming,
    keys,
    magic,
    orders,
    paging,
    payouts,
    refunds,
    settlement,
    statement,
    wire,
)
from provider_adapters.sandbox.bank.accounts import Account
from provider_adapters.sandbox.bank.answers import Answer
from provider_adapters.sandbox.bank.books import Books
from provider_adapters.sandbox.bank.faults import Faults
from provider_adapters.sandbox.bank.refusals import Code, Refusal

LARGEST_BODY = 64 * 1024
"""Bytes of a body the bank takes."""

_CREATED = 201


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A customer's request, the customer known."""

    books: Books
    account: Account
    path: Mapping[str, str]
    query: Mapping[str, str]
    headers: Mapping[str, str]
    raw: bytes

    @property
    def body(self) -> bodies.Fields:
        """The body, read strictly; raises ``INVALID_REQUEST``."""
        return bodies.read(self.raw)


@dataclass(frozen=True, slots=True)
class Row:
    """A call: ``operation`` is what faults name it."""

    method: str
    path: str
    operation: str
    run: Callable[[Asked], Answer]


def application(books: Books, faults: Faults, seen: calls.Calls) -> web.Application:
    """Build the application of the bank's port."""
    app = web.Application(
        middlewares=[answers.show_refusals, calls.noting(seen)], client_max_size=LARGEST_BODY
    )
    for row in ROWS:
        app.router.add_route(
            row.method, f"/v1/contas/{{conta}}{row.path}", _serve(row, books, faults)
        )
    return app


def _serve(row: Row, books: Books, faults: Faults) -> Handler:
    async def serve(request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        return await wire.play(
            request, faults.take(row.operation), lambda: row.run(_ask(books, request, raw))
        )

    return serve


def _ask(books: Books, request: web.Request, raw: bytes) -> Asked:
    """Know the customer by the token, after what was due has settled."""
    settlement.settle_due(books)
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    account = accounts.by_token(books, token) if scheme.lower() == "bearer" else None
    if account is None:
        raise Refusal(Code.UNAUTHORIZED, "a valid token is needed")
    if account.id != request.match_info["conta"]:
        raise Refusal(Code.WRONG_ACCOUNT, "the token belongs to another account")
    return Asked(
        books=books,
        account=account,
        path=request.match_info,
        query=request.query,
        headers=request.headers,
        raw=raw,
    )


def _account(asked: Asked) -> Answer:
    return Answer(document=documents.account(asked.account))


def _balance(asked: Asked) -> Answer:
    held = accounts.balance(asked.books, asked.account.id)
    return Answer(document=documents.balance(held, asked.books.clock.micros()))


def _statement(asked: Asked) -> Answer:
    page = statement.read(asked.books, asked.account.id, paging.read_slice(asked.query))
    return Answer(document=documents.page("lancamentos", page, documents.entry))


def _keys(asked: Asked) -> Answer:
    found = keys.every(asked.books, asked.account.id)
    return Answer(document={"chaves": [documents.key(key) for key in found]})


def _key(asked: Asked) -> Answer:
    found = keys.get(asked.books, asked.account.id, asked.path["id"])
    return Answer(document=documents.key(found))


def _add_key(asked: Asked) -> Answer:
    made = keys.add(asked.books, asked.account.id, orders.key(asked.body))
    return Answer(document=documents.key(made), status=_CREATED)


def _cancel_key(asked: Asked) -> Answer:
    canceled = keys.cancel(asked.books, asked.account.id, asked.path["id"])
    return Answer(document=documents.key(canceled))


def _look_up(asked: Asked) -> Answer:
    found = destinations.look_up(asked.books, asked.body.text("chave"))
    return Answer(document=documents.owner(found))


def _shown(asked: Asked, charge: charges.Charge, status: int = 200) -> Answer:
    at = asked.books.clock.micros()
    return Answer(document=documents.charge(charge, asked.account, at), status=status)


def _charge(asked: Asked) -> Answer:
    return _shown(asked, charges.get(asked.books, asked.account.id, asked.path["referencia"]))


def _add_charge(asked: Asked) -> Answer:
    made = charges.add(asked.books, asked.account, orders.charge(asked.body))
    return _shown(asked, made, _CREATED)


def _cancel_charge(asked: Asked) -> Answer:
    return _shown(asked, charges.cancel(asked.books, asked.account.id, asked.path["referencia"]))


def _charge_payment(asked: Asked) -> Answer:
    charge = charges.get(asked.books, asked.account.id, asked.path["referencia"])
    paid = incoming.latest(asked.books, asked.account.id, charge.reference)
    return Answer(document=documents.charge_payment(charge, paid))


def _received(asked: Asked) -> Answer:
    page = incoming.read(asked.books, asked.account.id, paging.read_slice(asked.query))
    return Answer(document=documents.page("recebimentos", page, documents.received))


def _received_one(asked: Asked) -> Answer:
    found = incoming.by_e2e_id(asked.books, asked.account.id, asked.path["e2e"])
    return Answer(document=documents.received(found))


def _give_back(asked: Asked) -> Answer:
    key = asked.headers.get("Idempotency-Key")
    order = orders.refund(asked.body, asked.path["e2e"], key)
    known = refunds.repeated(asked.books, asked.account.id, order)
    if known:
        replayed = {"Idempotent-Replayed": "true"}
        return Answer(document=documents.refund(known), headers=replayed)
    fault = magic.on_the_wire(order.centavos)
    if fault and not fault.executes:
        return Answer(document={}, fault=fault)
    made = refunds.accept(asked.books, asked.account.id, order)
    return Answer(document=documents.refund(made), status=_CREATED, fault=fault)


def _refund(asked: Asked) -> Answer:
    found = refunds.get(asked.books, asked.account.id, asked.path["id"])
    return Answer(document=documents.refund(found))


def _refund_by_key(asked: Asked) -> Answer:
    found = refunds.by_key(asked.books, asked.account.id, asked.path["chave"])
    return Answer(document=documents.refund(found))


def _refunds(asked: Asked) -> Answer:
    page = refunds.read(asked.books, asked.account.id, paging.read_slice(asked.query))
    return Answer(document=documents.page("devolucoes", page, documents.refund))


def _pay_out(asked: Asked) -> Answer:
    order = orders.payout(asked.body, asked.headers.get("Idempotency-Key"))
    known = payouts.repeated(asked.books, asked.account, order)
    if known:
        replayed = {"Idempotent-Replayed": "true"}
        return Answer(document=documents.payout(known), headers=replayed)
    fault = magic.on_the_wire(order.centavos)
    if fault and not fault.executes:
        return Answer(document={}, fault=fault)
    made = payouts.accept(asked.books, asked.account, order)
    return Answer(document=documents.payout(made), status=_CREATED, fault=fault)


def _payout(asked: Asked) -> Answer:
    found = payouts.get(asked.books, asked.account.id, asked.path["id"])
    return Answer(document=documents.payout(found))


def _payout_by_key(asked: Asked) -> Answer:
    found = payouts.by_key(asked.books, asked.account.id, asked.path["chave"])
    return Answer(document=documents.payout(found))


def _payouts(asked: Asked) -> Answer:
    page = payouts.read(asked.books, asked.account.id, paging.read_slice(asked.query))
    return Answer(document=documents.page("transferencias", page, documents.payout))


_KEY = "/chaves/{id:[^/]+}"
_CHARGE = "/cobrancas/{referencia:[^/]+}"
_RECEIVED = "/recebimentos/{e2e:[^/]+}"

ROWS = (
    Row("GET", "", "account", _account),
    Row("GET", "/saldo", "balance", _balance),
    Row("GET", "/extrato", "statement", _statement),
    Row("GET", "/chaves", "keys", _keys),
    Row("POST", "/chaves", "keys", _add_key),
    Row("GET", _KEY, "keys", _key),
    Row("DELETE", _KEY, "keys", _cancel_key),
    Row("POST", "/consultas-chave", "keys", _look_up),
    Row("POST", "/cobrancas", "charge", _add_charge),
    Row("GET", _CHARGE, "charge", _charge),
    Row("DELETE", _CHARGE, "charge", _cancel_charge),
    Row("GET", f"{_CHARGE}/pagamento", "payment", _charge_payment),
    Row("GET", "/recebimentos", "payment", _received),
    Row("GET", _RECEIVED, "payment", _received_one),
    Row("POST", f"{_RECEIVED}/devolucoes", "refund", _give_back),
    Row("GET", "/devolucoes", "refund_read", _refunds),
    Row("GET", "/devolucoes/por-chave/{chave:[^/]+}", "refund_read", _refund_by_key),
    Row("GET", "/devolucoes/{id:[^/]+}", "refund_read", _refund),
    Row("POST", "/transferencias", "payout", _pay_out),
    Row("GET", "/transferencias", "payout_read", _payouts),
    Row("GET", "/transferencias/por-chave/{chave:[^/]+}", "payout_read", _payout_by_key),
    Row("GET", "/transferencias/{id:[^/]+}", "payout_read", _payout),
)
"""Every call, in the order of the README."""
