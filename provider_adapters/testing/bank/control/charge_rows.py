"""The rows of the control interface about an account's keys and charges."""

from __future__ import annotations

from typing import Final

from provider_adapters.testing.bank.control.account_rows import SOMEBODY
from provider_adapters.testing.bank.control.api import (
    ControlRequest,
    ControlRow,
    listing,
    read_payer,
)
from provider_adapters.testing.bank.kernel import accounts
from provider_adapters.testing.bank.kernel.accounts import Account
from provider_adapters.testing.bank.kernel.books import Books
from provider_adapters.testing.bank.kernel.refusals import invalid
from provider_adapters.testing.bank.messages import Answer, Fields
from provider_adapters.testing.bank.pix import charges, keys
from provider_adapters.testing.bank.pix.charges import Charge, NewCharge
from provider_adapters.testing.bank.pix.keys import NewKey

_CREATED = 201
_SECOND = 1_000_000
_HOUR_S = 3600
_STATES: Final = ("pending", "paid", "expired", "anonymous", "canceled")
_CHARGE_TYPES: Final = {"Dynamic": "dynamic", "Static": "static"}


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


def _new_charge(books: Books, account: Account, state: str, body: Fields) -> NewCharge:
    expires_in = body.whole("expires_in") if "expires_in" in body else None
    if state == "expired":
        expires_in = -_HOUR_S
    named = read_payer(body.inside("payer")) if "payer" in body else SOMEBODY
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


_ACCOUNT = "/accounts/{id:[^/]+}"

ROWS = (
    ControlRow("POST", f"{_ACCOUNT}/keys", _add_key),
    ControlRow("GET", f"{_ACCOUNT}/charges", _charges),
    ControlRow("POST", f"{_ACCOUNT}/charges", _add_charge),
)
"""The rows about its keys and charges."""
