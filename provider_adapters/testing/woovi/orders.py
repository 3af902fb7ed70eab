"""What customers of the simulated Woovi order, read as strictly as its document asks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from multidict import MultiMapping

from provider_adapters.testing.bank.kernel import accounts, clock, refusals
from provider_adapters.testing.bank.kernel.accounts import Account
from provider_adapters.testing.bank.kernel.books import Books
from provider_adapters.testing.bank.kernel.paging import Slice
from provider_adapters.testing.bank.messages import Fields
from provider_adapters.testing.bank.pix import keys, magic_values
from provider_adapters.testing.bank.pix.charges import NewCharge
from provider_adapters.testing.bank.pix.destinations import Destination
from provider_adapters.testing.bank.pix.keys import NewKey
from provider_adapters.testing.bank.pix.payouts import Order
from provider_adapters.testing.bank.pix.received_payments import Payer
from provider_adapters.testing.bank.pix.refunds import RefundOrder

_LARGEST_PAGE: Final = 100
_LARGEST_SKIP: Final = 10_000
_SHORTEST_CHARGE_S: Final = 300
_CHARGE_LIVES_S: Final = 2_592_000
_LONGEST_COMMENT: Final = 140
_SECOND: Final = 1_000_000
_ISPB_DIGITS: Final = 8
_ALIAS_TYPES: Final = {
    "CPF": "cpf", "CNPJ": "cnpj", "EMAIL": "email", "PHONE": "phone", "RANDOM": "evp",
}  # fmt: skip
_KEY_TYPES: Final = {"CNPJ": "cnpj", "EVP": "evp"}
_ACCOUNT_TYPES: Final = {each: each for each in ("CACC", "SLRY", "SVGS", "TRAN")}

FAILING: Final[Mapping[str, str]] = {
    "1111111": "ACCOUNT_NOT_FOUND - Conta não encontrada",
    "2222222": "NOT_ENOUGH_BALANCE - Saldo insuficiente",
    "4444444": "INVALID_PIX_KEY - Chave PIX inválida",
    "5555555": "REACH_TRANSFER_LIMIT - Limite de transferência atingido",
    "1010101": "AC06 - Conta bloqueada",
    "1010102": "AM04 - Saldo insuficiente",
    "1010103": "AC03 - Pagamento rejeitado pelo PSP do recebedor",
    "1010105": "DS04 - Transação rejeitada pelo PSP",
    "1010108": "FRAD - Origem fraudulenta",
    "1010113": "BE01 - Cliente final inconsistente",
    magic_values.ACCOUNT_UNKNOWN: "ACCOUNT_NOT_FOUND - Conta não encontrada",
    magic_values.KEY_UNKNOWN: "PIX_KEY_INFO_NOT_FOUND - Chave pix não encontrada",
    magic_values.KEY_OF_ANOTHER: "BE01 - Cliente final inconsistente",
    magic_values.KEY_OVER_LIMIT: "REACH_TRANSFER_LIMIT - Limite de transferência atingido",
}
"""
Accounts of the bank's test environment, and keys of every simulated bank, whose payouts fail.

They are accepted first: docs/flows/sandbox-error-simulation.md.
"""


def payout(books: Books, account: Account, body: Fields) -> tuple[Order, str]:
    """
    Read the order of a payout, and why it will fail; empty if it will not.

    Raises:
        Refusal: ``INVALID_REQUEST``; also without ``autoApprove``, which nobody here can make
            up for.
    """
    require(body.text("sourceAccountId", account.id) == account.id, "Account not found")
    require(body.flag("autoApprove"), "the simulated bank pays what is approved at once")
    kind = body.choice("type", {"PIX_KEY": "key", "MANUAL": "account"})
    to = _to_key(books, body) if kind == "key" else _to_account(body)
    fails = FAILING.get(to.key or to.account or "", "")
    order = Order(
        centavos=body.centavos("value"),
        to=Destination(tax_number="", sent=to.sent, name=to.name) if fails else to,
        description=body.text("comment", ""),
        idempotency_key=body.text("correlationID"),
    )
    return order, fails


def refund(body: Fields) -> RefundOrder:
    """Read the order of a refund; raises ``INVALID_REQUEST``."""
    comment = body.text("comment", "")
    require(len(comment) <= _LONGEST_COMMENT, "comment must have at most 140 characters")
    return RefundOrder(
        payment_e2e_id=body.text("transactionEndToEndId"),
        centavos=body.centavos("value"),
        idempotency_key=body.text("correlationID"),
        description=comment,
    )


def key(body: Fields) -> NewKey:
    """Read the order of a key; raises ``INVALID_REQUEST``."""
    kind = body.choice("type", _KEY_TYPES)
    require("key" in body, "key is required")
    return NewKey(type=kind, key=None if kind == "evp" else body.text("key"))


def charge(books: Books, account: Account, body: Fields) -> NewCharge:
    """Read the order of a charge, paid to the account's first key; raises ``INVALID_REQUEST``."""
    dynamic = body.text("type", "DYNAMIC") == "DYNAMIC"
    require(dynamic, "the simulated bank makes dynamic charges")
    seconds = body.whole("expiresIn", _CHARGE_LIVES_S)
    require(seconds >= _SHORTEST_CHARGE_S, "expiresIn is at least 5 minutes")
    own = [each for each in keys.list_all(books, account.id) if each.status == "active"]
    require(own, "the account has no Pix key")
    return NewCharge(
        reference=body.text("correlationID"),
        type="dynamic",
        key=own[0].key,
        centavos=body.centavos("value"),
        expires_in=seconds * _SECOND,
        description=body.text("comment", ""),
        payer=_customer(body.inside("customer")) if "customer" in body else None,
    )


def page(query: MultiMapping[str]) -> Slice:
    """
    Read window and position; the end belongs to the window.

    Raises:
        Refusal: ``INVALID_REQUEST`` for what is none, and beyond the largest skip.
    """
    skip, limit = _number(query, "skip", 0), _number(query, "limit", _LARGEST_PAGE)
    require(skip <= _LARGEST_SKIP, "skip is too large")
    wanted = Slice(limit=min(max(limit, 1), _LARGEST_PAGE), skip=skip)
    return Slice(
        since=clock.read(query["start"]) if "start" in query else wanted.since,
        until=clock.read(query["end"]) + 1 if "end" in query else wanted.until,
        limit=wanted.limit,
        skip=skip,
    )


def require(holds: object, otherwise: str) -> None:
    """Refuse unless something holds; raises ``INVALID_REQUEST``."""
    if not holds:
        raise refusals.invalid(otherwise)


def _number(query: MultiMapping[str], name: str, default: int) -> int:
    text = query.get(name, str(default))
    require(text.isascii() and text.isdigit(), f"{name} is a number")
    return int(text)


def _customer(body: Fields) -> Payer:
    return Payer(name=body.text("name"), tax_number=body.text("taxID", ""))


def _to_key(books: Books, body: Fields) -> Destination:
    """Read a destination by key; the order tells no tax number, the directory knows it."""
    alias, kind = body.text("destinationAlias"), body.text("destinationAliasType")
    body.choice("destinationAliasType", _ALIAS_TYPES)
    held = keys.active(books, alias)
    owner = accounts.get(books, held.account_id) if held else None
    sent = {"type": "PIX_KEY", "destinationAlias": alias, "destinationAliasType": kind}
    return Destination(
        key=alias,
        name="" if owner is None else owner.name,
        tax_number="" if owner is None else owner.tax_number,
        sent=json.dumps(sent),
    )


def _to_account(body: Fields) -> Destination:
    holder, place, psp = body.inside("holder"), body.inside("account"), body.text("psp")
    require(len(psp) == _ISPB_DIGITS, "psp is an ISPB")
    number, name = holder.inside("taxID"), holder.text("name")
    place.choice("accountType", _ACCOUNT_TYPES)
    tax_number = number.text("taxID")
    number.choice("type", {"BR:CPF": "", "BR:CNPJ": ""})
    branch, account = place.text("branch"), place.text("account")
    sent = {
        "type": "MANUAL",
        "holder": {"name": name, "taxID": {"taxID": tax_number, "type": number.text("type")}},
        "account": {
            "branch": branch, "account": account, "accountType": place.text("accountType")
        },
        "psp": {"id": psp, "name": "Outro Banco S.A."},
    }  # fmt: skip
    return Destination(
        bank=psp,
        branch=branch,
        account=account,
        name=name,
        tax_number=tax_number,
        sent=json.dumps(sent),
    )
