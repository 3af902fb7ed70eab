"""The simulated bank: rows over the books that every simulated bank has."""

from __future__ import annotations

import json
from typing import Final

from provider_adapters.testing.bank import (
    accounts,
    charges,
    clock,
    keys,
    magic_values,
    payouts,
)
from provider_adapters.testing.bank.accounts import Account, PayoutKind
from provider_adapters.testing.bank.books import BankIdentity, Books, Slice
from provider_adapters.testing.bank.callbacks import Callback, Event, Listener
from provider_adapters.testing.bank.dialect import BankRequest, Dialect, Row
from provider_adapters.testing.bank.keys import Destination
from provider_adapters.testing.bank.messages import Answer, Code, Fields, Refusal, invalid

from pixgate_outside.simulator import access, documents, money, pages, signing

_ALL: Final = 1_000_000
"""More movements than any test makes."""
_PLACE: Final = (
    *("key_type", "key"),
    *("bank", "branch", "account", "account_type"),
    *("name", "tax_number"),
)


def _status(_request: BankRequest) -> Answer:
    return Answer(document={"status": "up"})


def _balance(request: BankRequest) -> Answer:
    held = accounts.balance(request.books, _account(request).id)
    return Answer(document=documents.balance(held, request.books.clock.micros()))


def _statement(request: BankRequest) -> Answer:
    query = request.query
    if "from" not in query or "to" not in query:
        problem = "from and to are instants"
        raise invalid(problem)
    wanted = Slice(since=clock.read(query["from"]), until=clock.read(query["to"]), limit=_ALL)
    found = accounts.statement(request.books, _account(request).id, wanted)
    items, beside = pages.cut(request, found.items)
    return Answer(document={"items": [documents.movement(each) for each in items], **beside})


def _keys(request: BankRequest) -> Answer:
    found = keys.list_all(request.books, _account(request).id)
    return Answer(document={"items": [documents.key(each) for each in found]})


def _charge(request: BankRequest) -> Answer:
    account = _account(request)
    found = charges.get(request.books, account.id, request.path["reference"])
    return Answer(document=documents.charge(found, account, request.books.clock.micros()))


def _charge_payment(request: BankRequest) -> Answer:
    account, books = _account(request), request.books
    found = charges.get(books, account.id, request.path["reference"])
    paid = charges.payment(books, found)
    document = {
        "charge": documents.charge(found, account, books.clock.micros()),
        "payment": documents.payment(paid),
    }
    return Answer(document=document)


def _pay_out(request: BankRequest) -> Answer:
    account, order = _account(request), _order(request)
    known = payouts.repeated(request.books, account, order)
    if known:
        return Answer(document=documents.payout(known))
    fault = magic_values.on_the_wire(order.centavos)
    if fault and not fault.executes:
        return Answer(document={}, fault=fault)
    made = payouts.accept(request.books, account, order)
    return Answer(document=documents.payout(made), status=201, fault=fault)


def _payout(request: BankRequest) -> Answer:
    found = payouts.get(request.books, _account(request).id, request.path["id"])
    return Answer(document=documents.payout(found))


def _payout_by_key(request: BankRequest) -> Answer:
    found = payouts.by_key(request.books, _account(request).id, request.path["key"])
    return Answer(document=documents.payout(found))


def _account(request: BankRequest) -> Account:
    """Return whose request it is; raises ``WRONG_ACCOUNT`` for a path of somebody else."""
    if request.account.id != request.path["at"]:
        raise Refusal(Code.WRONG_ACCOUNT, "these credentials are another account's")
    return request.account


def _order(request: BankRequest) -> payouts.Order:
    """Read the order of a payout; raises ``INVALID_REQUEST``."""
    body, key = request.body, request.headers.get("Idempotency-Key", "")
    if not key:
        problem = "Idempotency-Key is needed"
        raise invalid(problem)
    return payouts.Order(
        centavos=money.read(body, "amount"),
        to=_destination(body.inside("destination")),
        description=body.text("description", ""),
        idempotency_key=key,
    )


def _destination(body: Fields) -> Destination:
    sent = json.dumps({name: body.text(name) for name in _PLACE if name in body})
    tax_number, name = body.text("tax_number"), body.text("name", "")
    if "key" in body:
        return Destination(key=body.text("key"), name=name, tax_number=tax_number, sent=sent)
    return Destination(
        bank=body.text("bank"),
        branch=body.text("branch"),
        account=body.text("account"),
        name=name,
        tax_number=tax_number,
        sent=sent,
    )


def _callback(books: Books, event: Event, to: Listener) -> Callback | None:
    said = documents.event(books, event)
    if said is None:
        return None
    body, at = json.dumps(said).encode(), clock.from_micros(books.clock.micros())
    headers = signing.headers(bytes.fromhex(to.secret), at, body)
    return Callback(url=to.url, body=body, headers=headers)


_AT = "/v1/accounts/{at:[^/]+}"

_HOST: Final = "pix.outside.example"

DIALECT: Final = Dialect(
    identity=BankIdentity(name="Banco Inventado", ispb="99999998", compe="998", host=_HOST),
    rows=(
        Row("GET", "/v1/status", "access", _status, is_open=True),
        *access.ROWS,
        Row("GET", f"{_AT}/balance", "balance", _balance),
        Row("GET", f"{_AT}/statement", "statement", _statement),
        Row("GET", f"{_AT}/keys", "keys", _keys),
        Row("GET", f"{_AT}/charges/{{reference:[^/]+}}", "charge", _charge),
        Row("GET", f"{_AT}/charges/{{reference:[^/]+}}/payment", "payment", _charge_payment),
        Row("POST", f"{_AT}/payouts", "payout", _pay_out),
        Row("GET", f"{_AT}/payouts/by-key/{{key:[^/]+}}", "payout_read", _payout_by_key),
        Row("GET", f"{_AT}/payouts/{{id:[^/]+}}", "payout_read", _payout),
    ),
    authenticate=access.authenticate,
    refusal=documents.refusal,
    payout=documents.payout,
    callback=_callback,
    admit=access.admit,
    payout_kind=PayoutKind.IDEM,
    secret_headers=access.SECRET_HEADERS,
)
"""The bank; no real one has these numbers."""
