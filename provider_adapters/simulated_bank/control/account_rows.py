"""The rows of the control interface about one account: opening, funding, keys, charges."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from provider_adapters.simulated_bank.control.api import (
    ControlRequest,
    ControlRow,
    listing,
    read_payer,
)
from provider_adapters.simulated_bank.dialect import Admission
from provider_adapters.simulated_bank.kernel import accounts, blocks, clock, statement
from provider_adapters.simulated_bank.kernel.accounts import Account, PayoutKind
from provider_adapters.simulated_bank.kernel.blocks import Block
from provider_adapters.simulated_bank.kernel.books import Books
from provider_adapters.simulated_bank.kernel.refusals import invalid
from provider_adapters.simulated_bank.kernel.statement import OtherMovement, number
from provider_adapters.simulated_bank.messages import Answer, Fields
from provider_adapters.simulated_bank.pix import charges, keys, received_payments, refunds
from provider_adapters.simulated_bank.pix.charges import Charge, NewCharge
from provider_adapters.simulated_bank.pix.keys import NewKey
from provider_adapters.simulated_bank.pix.received_payments import Payer, Payment
from provider_adapters.simulated_bank.pix.refunds import RefundOrder

_CREATED = 201
_SECOND = 1_000_000
_HOUR_S = 3600
_STATES: Final = ("pending", "paid", "expired", "anonymous", "canceled")
_CHARGE_TYPES: Final = {"Dynamic": "dynamic", "Static": "static"}
_TYPES: Final = {name: name for name in accounts.TYPES}
_KINDS: Final = {str(kind): str(kind) for kind in PayoutKind}
_SANDBOX: Final = Payer(name="Sandbox", tax_number="00000000000191", message="top-up")
_NOBODY: Final = Payer(name="", tax_number="")
_SOMEBODY: Final = Payer(name="Maria Silva", tax_number="52998224725")


async def _open(request: ControlRequest) -> Answer:
    body, books = request.body, request.books
    first = body.reais("balance") if "balance" in body else 0
    account = _new_account(request, body)
    admitted = request.controls.dialect.admit(books, account, body)
    accounts.add(books, account, admitted.token)
    if first:
        _top_up_by(books, account.id, first)
    return Answer(document={**_shown(books, account), **_credentials(admitted)}, status=_CREATED)


async def _rotate(request: ControlRequest) -> Answer:
    """Replace an account's credentials; the former ones are refused from now on."""
    account = _account(request)
    admitted = request.controls.dialect.admit(request.books, account, request.body)
    accounts.change_token(request.books, account.id, admitted.token)
    return Answer(document={"id": account.id, **_credentials(admitted)}, status=_CREATED)


async def _every(request: ControlRequest) -> Answer:
    return listing([_shown(request.books, account) for account in accounts.list_all(request.books)])


async def _get(request: ControlRequest) -> Answer:
    return Answer(document=_shown(request.books, _account(request)))


async def _change(request: ControlRequest) -> Answer:
    account, body = _account(request), request.body
    if "payout_kind" in body:
        kind = PayoutKind(body.choice("payout_kind", _KINDS))
        account = replace(account, payout_kind=kind)
    if "payout_limit" in body or body.says_null("payout_limit"):
        account = replace(account, payout_limit=_limit(body))
    accounts.change(request.books, account)
    return Answer(document=_shown(request.books, account))


async def _top_up(request: ControlRequest) -> Answer:
    account = _account(request)
    _top_up_by(request.books, account.id, request.body.reais("value"))
    return _balance(request.books, account.id)


async def _block(request: ControlRequest) -> Answer:
    account_id, body, books = _account(request).id, request.body, request.books
    wanted = Block(
        kind=body.choice("kind", {kind: kind for kind in blocks.KINDS}, "bank"),
        centavos=body.reais("value"),
        reference=body.text("reference", ""),
        since=books.clock.micros(),
    )
    blocks.block(books, account_id, wanted)
    return _balance(books, account_id)


async def _unblock(request: ControlRequest) -> Answer:
    account_id = _account(request).id
    blocks.unblock(request.books, account_id, request.body.reais("value"))
    return _balance(request.books, account_id)


async def _fee(request: ControlRequest) -> Answer:
    _book(request, _account(request), "fee")
    return _balance(request.books, request.path["id"])


async def _move(request: ControlRequest) -> Answer:
    account, kinds = _account(request), {kind: kind for kind in statement.DESCRIPTIONS}
    made = _book(request, account, request.body.choice("kind", kinds))
    return Answer(document={"id": number(made)}, status=_CREATED)


async def _refund(request: ControlRequest) -> Answer:
    """Order a refund as the customer would; a known key is the same refund."""
    account, body = _account(request), request.body
    order = RefundOrder(
        payment_e2e_id=body.text("e2e_id"),
        centavos=body.reais("value"),
        idempotency_key=body.text("key"),
        reference=body.text("reference", ""),
        description=body.text("description", ""),
    )
    known = refunds.repeated(request.books, account.id, order)
    made = known or refunds.accept(request.books, account.id, order)
    document = {"id": made.id, "return_id": made.return_id, "centavos": made.centavos}
    return Answer(document=document, status=_CREATED)


def _book(request: ControlRequest, account: Account, kind: str) -> int:
    """Book a movement that is not Pix; return its row number."""
    body, books = request.body, request.books
    other = read_payer(body.inside("counterparty")) if "counterparty" in body else _NOBODY
    movement = OtherMovement(
        account_id=account.id,
        kind=kind,
        centavos=body.reais("value"),
        at=clock.read(body.text("at")) if "at" in body else books.clock.micros(),
        description=body.text("description", ""),
        name=other.name,
        tax_number=other.tax_number,
    )
    return statement.book(books, movement)


async def _receive(request: ControlRequest) -> Answer:
    body, books, account = request.body, request.books, _account(request)
    at = clock.read(body.text("at")) if "at" in body else books.clock.micros()
    somebody = read_payer(body.inside("payer")) if "payer" in body else _SOMEBODY
    message = body.text("description", "") or somebody.message
    payment = Payment(
        account_id=account.id,
        centavos=body.reais("value"),
        at=at,
        e2e_id=books.e2e_id(at),
        payer=replace(somebody, message=message),
    )
    with books.database.transaction():
        received = received_payments.receive(books, payment)
    document = {
        "id": number(received.seq),
        "e2e_id": received.e2e_id,
        "centavos": received.centavos,
        "at": clock.show(at),
    }
    return Answer(document=document, status=_CREATED)


async def _add_key(request: ControlRequest) -> Answer:
    body, account = request.body, _account(request)
    new = NewKey(
        type=body.text("type"),
        key=body.text("key") if "key" in body else None,
        status=body.text("status", "active"),
        id=body.text("id") if "id" in body else None,
    )
    made = keys.add(request.books, account.id, new)
    document = {"id": made.id, "type": made.type, "key": made.key, "status": made.status}
    return Answer(document=document, status=_CREATED)


async def _add_charge(request: ControlRequest) -> Answer:
    body, account = request.body, _account(request)
    state = body.choice("state", {name: name for name in _STATES}, "pending")
    made = charges.add(request.books, account, _new_charge(request.books, account, state, body))
    _apply_state(request.books, made, state)
    document = {"reference": made.reference, "state": state, "emv": made.emv}
    return Answer(document=document, status=_CREATED)


async def _charges(request: ControlRequest) -> Answer:
    """List an account's charges by the names that the bank knows them by."""
    found = charges.list_all(request.books, _account(request).id)
    shown = [
        {
            "reference": each.reference,
            "txid": each.txid,
            "status": each.status,
            "centavos": each.centavos,
            "emv": each.emv,
        }
        for each in found
    ]
    return listing(shown)


def _account(request: ControlRequest) -> Account:
    return accounts.get(request.books, request.path["id"])


def _new_account(request: ControlRequest, body: Fields) -> Account:
    books, kind = request.books, request.controls.dialect.payout_kind
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
        payout_kind=PayoutKind(body.choice("payout_kind", _KINDS, kind)),
        payout_limit=_limit(body),
        created_at=books.clock.micros(),
    )


def _limit(body: Fields) -> int | None:
    return body.reais("payout_limit") if "payout_limit" in body else None


def _new_charge(books: Books, account: Account, state: str, body: Fields) -> NewCharge:
    expires_in = body.whole("expires_in") if "expires_in" in body else None
    if state == "expired":
        expires_in = -_HOUR_S
    named = read_payer(body.inside("payer")) if "payer" in body else _SOMEBODY
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
    for key in keys.list_all(books, account.id):
        if key.status == "active":
            return key.key
    problem = "the account has no active key"
    raise invalid(problem)


def _apply_state(books: Books, charge: Charge, state: str) -> None:
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
        received_payments.receive(books, payment)


def _balance(books: Books, account_id: str) -> Answer:
    said = accounts.balance(books, account_id)
    document = {
        "id": account_id,
        "balance_centavos": said.owned,
        "blocked_centavos": said.blocked,
    }
    return Answer(document=document)


def _credentials(admitted: Admission) -> dict[str, object]:
    """Show what the account is known by; ``token`` is what named it before there were others."""
    return {"token": admitted.token, "credentials": admitted.credentials}


def _shown(books: Books, account: Account) -> dict[str, object]:
    limit = account.payout_limit
    return {
        "id": account.id,
        "name": account.name,
        "tax_number": account.tax_number,
        "bank_number": books.identity.compe,
        "ispb": books.identity.ispb,
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
    ControlRow("POST", "/accounts", _open),
    ControlRow("GET", "/accounts", _every),
    ControlRow("GET", _ACCOUNT, _get),
    ControlRow("PATCH", _ACCOUNT, _change),
    ControlRow("POST", f"{_ACCOUNT}/credentials", _rotate),
    ControlRow("POST", f"{_ACCOUNT}/top-up", _top_up),
    ControlRow("POST", f"{_ACCOUNT}/block", _block),
    ControlRow("POST", f"{_ACCOUNT}/unblock", _unblock),
    ControlRow("POST", f"{_ACCOUNT}/fee", _fee),
    ControlRow("POST", f"{_ACCOUNT}/movements", _move),
    ControlRow("POST", f"{_ACCOUNT}/refunds", _refund),
    ControlRow("POST", f"{_ACCOUNT}/incoming", _receive),
    ControlRow("POST", f"{_ACCOUNT}/keys", _add_key),
    ControlRow("GET", f"{_ACCOUNT}/charges", _charges),
    ControlRow("POST", f"{_ACCOUNT}/charges", _add_charge),
)
"""The rows about one account."""
