"""The rows of the control interface about an account's money: in, out, blocked, given back."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from provider_adapters.testing.bank.control import movements
from provider_adapters.testing.bank.control.account_rows import SOMEBODY, top_up_by
from provider_adapters.testing.bank.control.api import (
    ControlRequest,
    ControlRow,
    read_payer,
)
from provider_adapters.testing.bank.control.movements import OtherMovement
from provider_adapters.testing.bank.kernel import accounts, blocks, clock
from provider_adapters.testing.bank.kernel.accounts import Account
from provider_adapters.testing.bank.kernel.blocks import Block
from provider_adapters.testing.bank.kernel.books import Books
from provider_adapters.testing.bank.kernel.statement import number
from provider_adapters.testing.bank.messages import Answer
from provider_adapters.testing.bank.pix import received_payments, refunds
from provider_adapters.testing.bank.pix.received_payments import Payer, Payment
from provider_adapters.testing.bank.pix.refunds import RefundOrder

_CREATED = 201
_NOBODY: Final = Payer(name="", tax_number="")


async def _top_up(request: ControlRequest) -> Answer:
    account = _account(request)
    top_up_by(request.books, account.id, request.body.reais("value"))
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
    account, kinds = _account(request), {kind: kind for kind in movements.DESCRIPTIONS}
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
    return movements.book(books, movement)


async def _receive(request: ControlRequest) -> Answer:
    body, books, account = request.body, request.books, _account(request)
    at = clock.read(body.text("at")) if "at" in body else books.clock.micros()
    somebody = read_payer(body.inside("payer")) if "payer" in body else SOMEBODY
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


def _account(request: ControlRequest) -> Account:
    return accounts.get(request.books, request.path["id"])


def _balance(books: Books, account_id: str) -> Answer:
    said = accounts.balance(books, account_id)
    document = {
        "id": account_id,
        "balance_centavos": said.owned,
        "blocked_centavos": said.blocked,
    }
    return Answer(document=document)


_ACCOUNT = "/accounts/{id:[^/]+}"

ROWS = (
    ControlRow("POST", f"{_ACCOUNT}/top-up", _top_up),
    ControlRow("POST", f"{_ACCOUNT}/block", _block),
    ControlRow("POST", f"{_ACCOUNT}/unblock", _unblock),
    ControlRow("POST", f"{_ACCOUNT}/fee", _fee),
    ControlRow("POST", f"{_ACCOUNT}/movements", _move),
    ControlRow("POST", f"{_ACCOUNT}/refunds", _refund),
    ControlRow("POST", f"{_ACCOUNT}/incoming", _receive),
)
"""The rows about its money."""
