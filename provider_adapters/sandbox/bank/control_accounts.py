"""The control interface's half about accounts: opening them, and what they hold."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from provider_adapters.sandbox.bank import (
    accounts,
    charges,
    clock,
    incoming,
    keys,
    ledger,
    movements,
    refunds,
)
from provider_adapters.sandbox.bank.accounts import Account, PayoutKind
from provider_adapters.sandbox.bank.answers import Answer
from provider_adapters.sandbox.bank.bodies import Fields
from provider_adapters.sandbox.bank.books import COMPE, ISPB, Books
from provider_adapters.sandbox.bank.charges import Charge, NewCharge
from provider_adapters.sandbox.bank.control import Lever, Told, listing, payer
from provider_adapters.sandbox.bank.documents import ACCOUNT_TYPES
from provider_adapters.sandbox.bank.incoming import Payer, Payment
from provider_adapters.sandbox.bank.keys import NewKey
from provider_adapters.sandbox.bank.movements import OtherMovement
from provider_adapters.sandbox.bank.refunds import RefundOrder
from provider_adapters.sandbox.bank.refusals import Code, Refusal, invalid
from provider_adapters.sandbox.bank.statement import number

_CREATED = 201
_SECOND = 1_000_000
_HOUR_S = 3600
_STATES: Final = ("pending", "paid", "expired", "anonymous", "canceled")
_CHARGE_TYPES: Final = {"Dynamic": "dynamic", "Static": "static"}
_TYPES: Final = {name: name for name in ACCOUNT_TYPES}
_KINDS: Final = {str(kind): str(kind) for kind in PayoutKind}
_SANDBOX: Final = Payer(name="Sandbox", tax_number="00000000000191", message="top-up")
_NOBODY: Final = Payer(name="", tax_number="")
_SOMEBODY: Final = Payer(name="Maria Silva", tax_number="52998224725")


async def _open(told: Told) -> Answer:
    body, books = told.body, told.books
    token = body.text("token", "") or f"sbx_{books.random_hex(24)}"
    first = body.reais("balance") if "balance" in body else 0
    account = _new_account(books, body)
    accounts.add(books, account, token)
    if first:
        _top_up_by(books, account.id, first)
    return Answer(document={**_shown(account), "token": token}, status=_CREATED)


async def _every(told: Told) -> Answer:
    return listing([_shown(account) for account in accounts.every(told.books)])


async def _get(told: Told) -> Answer:
    return Answer(document=_shown(_account(told)))


async def _change(told: Told) -> Answer:
    account, body = _account(told), told.body
    if "payout_kind" in body:
        kind = PayoutKind(body.choice("payout_kind", _KINDS))
        account = replace(account, payout_kind=kind)
    if "payout_limit" in body or body.says_null("payout_limit"):
        account = replace(account, payout_limit=_limit(body))
    accounts.change(told.books, account)
    return Answer(document=_shown(account))


async def _top_up(told: Told) -> Answer:
    account = _account(told)
    _top_up_by(told.books, account.id, told.body.reais("value"))
    return _balance(told.books, account.id)


async def _block(told: Told) -> Answer:
    account_id = _account(told).id
    return _shift(told, ledger.customer(account_id), ledger.blocked(account_id))


async def _unblock(told: Told) -> Answer:
    account_id = _account(told).id
    return _shift(told, ledger.blocked(account_id), ledger.customer(account_id))


async def _fee(told: Told) -> Answer:
    _book(told, _account(told), "fee")
    return _balance(told.books, told.path["id"])


async def _move(told: Told) -> Answer:
    account, kinds = _account(told), {kind: kind for kind in movements.DESCRIPTIONS}
    made = _book(told, account, told.body.choice("kind", kinds))
    return Answer(document={"id": number(made)}, status=_CREATED)


async def _give_back(told: Told) -> Answer:
    """Order a refund as the customer would; the same key is the same refund."""
    account, body = _account(told), told.body
    order = RefundOrder(
        payment_e2e_id=body.text("e2e_id"),
        centavos=body.reais("value"),
        idempotency_key=body.text("key"),
        reference=body.text("reference", ""),
        description=body.text("description", ""),
    )
    known = refunds.repeated(told.books, account.id, order)
    made = known or refunds.accept(told.books, account.id, order)
    document = {"id": made.id, "return_id": made.return_id, "centavos": made.centavos}
    return Answer(document=document, status=_CREATED)


def _book(told: Told, account: Account, kind: str) -> int:
    """Book a movement that is not Pix; gives its row number."""
    body, books = told.body, told.books
    other = payer(body.inside("counterparty")) if "counterparty" in body else _NOBODY
    movement = OtherMovement(
        account_id=account.id,
        kind=kind,
        centavos=body.reais("value"),
        at=clock.read(body.text("at")) if "at" in body else books.clock.micros(),
        description=body.text("description", ""),
        name=other.name,
        tax_number=other.tax_number,
    )
    return movements.book(books, movement)


async def _receive(told: Told) -> Answer:
    body, books, account = told.body, told.books, _account(told)
    at = clock.read(body.text("at")) if "at" in body else books.clock.micros()
    somebody = payer(body.inside("payer")) if "payer" in body else _SOMEBODY
    message = body.text("description", "") or somebody.message
    payment = Payment(
        account_id=account.id,
        centavos=body.reais("value"),
        at=at,
        e2e_id=books.e2e_id(at),
        payer=replace(somebody, message=message),
    )
    with books.database.transaction():
        received = incoming.receive(books, payment)
    document = {
        "id": number(received.seq),
        "e2e_id": received.e2e_id,
        "centavos": received.centavos,
        "at": clock.show(at),
    }
    return Answer(document=document, status=_CREATED)


async def _add_key(told: Told) -> Answer:
    body, account = told.body, _account(told)
    new = NewKey(
        type=body.text("type"),
        key=body.text("key") if "key" in body else None,
        status=body.text("status", "active"),
        id=body.text("id") if "id" in body else None,
    )
    made = keys.add(told.books, account.id, new)
    document = {"id": made.id, "type": made.type, "key": made.key, "status": made.status}
    return Answer(document=document, status=_CREATED)


async def _add_charge(told: Told) -> Answer:
    body, account = told.body, _account(told)
    state = body.choice("state", {name: name for name in _STATES}, "pending")
    made = charges.add(told.books, account, _new_charge(told.books, account, state, body))
    _bring_about(told.books, made, state)
    document = {"reference": made.reference, "state": state, "emv": made.emv}
    return Answer(document=document, status=_CREATED)


def _account(told: Told) -> Account:
    return accounts.get(told.books, told.path["id"])


def _new_account(books: Books, body: Fields) -> Account:
    number = str(int(books.random_hex(4), 16)).zfill(10)
    return Account(
        id=body.text("id", "") or books.identifier("cc"),
        name=body.text("name"),
        tax_number=body.text("tax_number"),
        branch=body.text("branch", "0001"),
        number=body.text("account", f"{number[:9]}-{number[9]}"),
        type=body.choice("account_type", _TYPES, "checking"),
        city=body.text("city", "Sao Paulo"),
        zip_code=body.text("zip_code", "01310-100"),
        payout_kind=PayoutKind(body.choice("payout_kind", _KINDS, "idem")),
        payout_limit=_limit(body),
        created_at=books.clock.micros(),
    )


def _limit(body: Fields) -> int | None:
    return body.reais("payout_limit") if "payout_limit" in body else None


def _new_charge(books: Books, account: Account, state: str, body: Fields) -> NewCharge:
    expires_in = body.whole("expires_in") if "expires_in" in body else None
    if state == "expired":
        expires_in = -_HOUR_S
    named = payer(body.inside("payer")) if "payer" in body else _SOMEBODY
    return NewCharge(
        reference=body.text("reference"),
        type=body.choice("type", _CHARGE_TYPES, "Dynamic"),
        key=body.text("key", "") or _first_key(books, account),
        centavos=body.reais("value") if "value" in body else None,
        expires_in=None if expires_in is None else expires_in * _SECOND,
        reusable=body.flag("reusable"),
        description=body.text("description", ""),
        payer=None if state == "anonymous" else named,
    )


def _first_key(books: Books, account: Account) -> str:
    for key in keys.every(books, account.id):
        if key.status == "active":
            return key.key
    problem = "the account has no active key"
    raise invalid(problem)


def _bring_about(books: Books, charge: Charge, state: str) -> None:
    if state == "paid":
        charges.pay(books, charge, charge.centavos or 10_00, None)
    if state == "canceled":
        charges.cancel(books, charge.account_id, charge.reference)


def _top_up_by(books: Books, account_id: str, centavos: int) -> None:
    at = books.clock.micros()
    payment = Payment(
        account_id=account_id, centavos=centavos, at=at, e2e_id=books.e2e_id(at), payer=_SANDBOX
    )
    with books.database.transaction():
        incoming.receive(books, payment)


def _shift(told: Told, debit: str, credit: str) -> Answer:
    """Move money between what is free and what is blocked; the customer owns the same."""
    books, centavos = told.books, told.body.reais("value")
    _enough(books, debit, centavos)
    at = books.clock.micros()
    with books.database.transaction():
        ledger.move(
            books.database,
            ledger.Movement(debit=debit, credit=credit, centavos=centavos, memo="block", at=at),
        )
    return _balance(books, told.path["id"])


def _enough(books: Books, name: str, centavos: int) -> None:
    if ledger.standing(books.database, name) < centavos:
        raise Refusal(Code.INSUFFICIENT_FUNDS, "there is not that much")


def _balance(books: Books, account_id: str) -> Answer:
    said = accounts.balance(books, account_id)
    document = {
        "id": account_id,
        "balance_centavos": said.owned,
        "blocked_centavos": said.blocked,
    }
    return Answer(document=document)


def _shown(account: Account) -> dict[str, object]:
    limit = account.payout_limit
    return {
        "id": account.id,
        "name": account.name,
        "tax_number": account.tax_number,
        "bank_number": COMPE,
        "ispb": ISPB,
        "branch": account.branch,
        "account": account.number,
        "account_type": account.type,
        "city": account.city,
        "zip_code": account.zip_code,
        "payout_kind": account.payout_kind,
        "payout_limit_centavos": limit,
        "created_at": clock.show(account.created_at),
    }


_ACCOUNT = "/accounts/{id:[^/]+}"

ROWS = (
    Lever("POST", "/accounts", _open),
    Lever("GET", "/accounts", _every),
    Lever("GET", _ACCOUNT, _get),
    Lever("PATCH", _ACCOUNT, _change),
    Lever("POST", f"{_ACCOUNT}/top-up", _top_up),
    Lever("POST", f"{_ACCOUNT}/block", _block),
    Lever("POST", f"{_ACCOUNT}/unblock", _unblock),
    Lever("POST", f"{_ACCOUNT}/fee", _fee),
    Lever("POST", f"{_ACCOUNT}/movements", _move),
    Lever("POST", f"{_ACCOUNT}/refunds", _give_back),
    Lever("POST", f"{_ACCOUNT}/incoming", _receive),
    Lever("POST", f"{_ACCOUNT}/keys", _add_key),
    Lever("POST", f"{_ACCOUNT}/charges", _add_charge),
)
"""What is about one account."""
