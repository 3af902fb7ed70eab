"""The rows of the control interface about one account: opening, credentials, what it may do."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from provider_adapters.testing.bank.control.api import (
    ControlRequest,
    ControlRow,
    listing,
)
from provider_adapters.testing.bank.dialect import Admission
from provider_adapters.testing.bank.kernel import accounts, clock
from provider_adapters.testing.bank.kernel.accounts import Account, PayoutKind
from provider_adapters.testing.bank.kernel.books import Books
from provider_adapters.testing.bank.messages import Answer, Fields
from provider_adapters.testing.bank.pix import received_payments
from provider_adapters.testing.bank.pix.received_payments import Payer, Payment

_CREATED = 201
_TYPES: Final = {name: name for name in accounts.TYPES}
_KINDS: Final = {str(kind): str(kind) for kind in PayoutKind}
_SANDBOX: Final = Payer(name="Sandbox", tax_number="00000000000191", message="top-up")
SOMEBODY: Final = Payer(name="Maria Silva", tax_number="52998224725")
"""Who pays where nobody is named."""


async def _open(request: ControlRequest) -> Answer:
    body, books = request.body, request.books
    first = body.reais("balance") if "balance" in body else 0
    account = _new_account(request, body)
    admitted = request.controls.dialect.admit(books, account, body)
    accounts.add(books, account, admitted.token)
    if first:
        top_up_by(books, account.id, first)
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


def top_up_by(books: Books, account_id: str, centavos: int) -> None:
    """Pay money into an account."""
    at = books.clock.micros()
    payment = Payment(
        account_id=account_id, centavos=centavos, at=at, e2e_id=books.e2e_id(at), payer=_SANDBOX
    )
    with books.database.transaction():
        received_payments.receive(books, payment)


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
)
"""The rows about one account."""
