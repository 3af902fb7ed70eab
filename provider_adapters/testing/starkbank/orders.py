"""Orders of customers, read as strictly as the bank reads them."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Final, TypeVar
from zoneinfo import ZoneInfo

from gateway.domain.kernel.strict import Malformed, tax_number
from provider_adapters.testing.bank.kernel import refusals
from provider_adapters.testing.bank.kernel.books import Books
from provider_adapters.testing.bank.kernel.clock import to_micros
from provider_adapters.testing.bank.kernel.paging import Slice, read_slice
from provider_adapters.testing.bank.kernel.refusals import Code, Refusal
from provider_adapters.testing.bank.messages import LARGEST, Fields
from provider_adapters.testing.bank.pix import charges, keys
from provider_adapters.testing.bank.pix.charges import NewCharge
from provider_adapters.testing.bank.pix.destinations import Destination
from provider_adapters.testing.bank.pix.payouts import Order
from provider_adapters.testing.bank.pix.received_payments import Payer
from provider_adapters.testing.starkbank.documents import ENCRYPTED

Value = TypeVar("Value")

_MOST: Final = 100
"""Things in one request, and in one page."""
_ISPB: Final = re.compile(r"[0-9A-Z]{8}", re.ASCII)
_EXTERNAL_ID: Final = re.compile(r"[A-Za-z0-9._~-]{1,64}", re.ASCII)
_LIMIT: Final = re.compile(r"[0-9]{1,3}", re.ASCII)
_ZONE: Final = ZoneInfo("America/Sao_Paulo")
_ACCOUNT_TYPES: Final = {name: name for name in ("checking", "savings", "salary", "payment")}
_SENT: Final = (
    "name", "bankCode", "branchCode", "accountNumber", "accountType", "externalId", "description",
)  # fmt: skip
_DAY: Final = timedelta(days=1)
_DUE: Final = timedelta(days=2)
_EXPIRATION_S: Final = 5_097_600
_SECOND: Final = 1_000_000


def several(body: Fields, name: str, read: Callable[[Fields], Value]) -> list[Value]:
    """Read a list of orders: 1 to 100; raises ``INVALID_REQUEST``."""
    given = body.inside_all(name)
    if not 1 <= len(given) <= _MOST:
        problem = f"{name} are 1 to {_MOST}"
        raise refusals.invalid(problem)
    return [read(each) for each in given]


def transfer(body: Fields) -> Order:
    """
    Read the order of a transfer.

    Raises:
        Refusal: ``INVALID_REQUEST``; a bank of three digits, which would be a TED, too.
    """
    if not _ISPB.fullmatch(body.text("bankCode")):
        problem = "bankCode is an ISPB: this bank sends no TED"
        raise refusals.invalid(problem)
    body.choice("accountType", _ACCOUNT_TYPES, "checking")
    external_id = body.text("externalId", "")
    if external_id and not _EXTERNAL_ID.fullmatch(external_id):
        problem = "externalId is URL safe"
        raise refusals.invalid(problem)
    return Order(
        centavos=body.centavos("amount"),
        to=_destination(body),
        description=body.text("description", ""),
        idempotency_key=external_id or None,
    )


def tags(body: Fields) -> list[str]:
    """Read the tags of something; a comma would part one from itself in a search."""
    given = body.texts("tags") if "tags" in body else []
    if any("," in tag or not tag for tag in given):
        problem = "tags have no commas"
        raise refusals.invalid(problem)
    return given


def invoice(books: Books, account_id: str) -> Callable[[Fields], tuple[NewCharge, list[str]]]:
    """Return what reads the order of an invoice, and its tags."""

    def read(body: Fields) -> tuple[NewCharge, list[str]]:
        payer = Payer(name=body.text("name"), tax_number=_tax_number(body.text("taxId")))
        expiration = body.whole("expiration", _EXPIRATION_S)
        due = _instant(body.text("due")) if "due" in body else books.clock.now() + _DUE
        expires_in = to_micros(due) - books.clock.micros() + expiration * _SECOND
        if expires_in <= 0 or expiration < 0:
            problem = "due is in the future"
            raise refusals.invalid(problem)
        return _charge(books, account_id, body, expires_in, payer), tags(body)

    return read


def brcode(books: Books, account_id: str) -> Callable[[Fields], tuple[NewCharge, list[str]]]:
    """Return what reads the order of a dynamic BR Code, and its tags."""

    def read(body: Fields) -> tuple[NewCharge, list[str]]:
        expiration = body.whole("expiration", 3600)
        if expiration <= 0:
            problem = "expiration is above zero"
            raise refusals.invalid(problem)
        return _charge(books, account_id, body, expiration * _SECOND), tags(body)

    return read


def page(query: Mapping[str, str]) -> Slice:
    """
    Read ``after``, ``before``, ``limit`` and ``cursor``; days begin in Sao Paulo.

    Raises:
        Refusal: ``INVALID_REQUEST``.
    """
    limit = query.get("limit", str(_MOST))
    if not _LIMIT.fullmatch(limit) or not 1 <= int(limit) <= _MOST:
        problem = f"limit is 1 to {_MOST}"
        raise refusals.invalid(problem)
    given = {"limite": limit}
    if "after" in query:
        given["de"] = _midnight(query["after"]).isoformat()
    if "before" in query:
        given["ate"] = _midnight(query["before"], 1).isoformat()
    if query.get("cursor"):
        given["cursor"] = query["cursor"]
    return read_slice(given)


def listed(query: Mapping[str, str], name: str) -> Sequence[str]:
    """Read a list of texts that commas part; empty for none."""
    return [text for text in query.get(name, "").split(",") if text]


def _charge(
    books: Books, account_id: str, body: Fields, expires_in: int, payer: Payer | None = None
) -> NewCharge:
    """Read what all charges have; an amount of 0 is one that the payer chooses."""
    amount = body.whole("amount")
    if not 0 <= amount <= LARGEST:
        raise Refusal(Code.REJECTED, "amount is not valid")
    active = [key.key for key in keys.list_all(books, account_id) if key.status == "active"]
    if not active:
        problem = "the workspace has no key"
        raise refusals.invalid(problem)
    return NewCharge(
        reference=_reference(books, account_id, body),
        type="dynamic",
        key=active[0],
        centavos=amount or None,
        expires_in=expires_in,
        description=body.text("displayDescription", ""),
        payer=payer,
    )


def _reference(books: Books, account_id: str, body: Fields) -> str:
    """Name a charge by its last tag, for the control interface; the bank itself names none."""
    last = tags(body)[-1:]
    known = {charge.reference for charge in charges.list_all(books, account_id)}
    return last[0] if last and last[0] not in known else books.identifier("charge")


def _destination(body: Fields) -> Destination:
    """Read where a transfer goes; an account that the directory encrypted is a key."""
    sent = {name: body.text(name, "") for name in _SENT if name in body}
    number = _tax_number(body.text("taxId"))
    shown = json.dumps({**sent, "tags": [tag.lower() for tag in tags(body)]})
    name, account = body.text("name"), body.text("accountNumber")
    key = _key_of(account)
    if key:
        return Destination(tax_number=number, name=name, sent=shown, key=key)
    return Destination(
        tax_number=number,
        name=name,
        sent=shown,
        bank=body.text("bankCode"),
        branch=body.text("branchCode"),
        account=account,
    )


def _key_of(account: str) -> str:
    """Return the key behind an account number of the directory; empty for any other."""
    try:
        text = base64.b64decode(account, validate=True).decode()
    except (binascii.Error, ValueError):
        return ""
    return text.removeprefix(ENCRYPTED) if text.startswith(ENCRYPTED) else ""


def _tax_number(text: str) -> str:
    try:
        return tax_number(text)
    except Malformed as problem:
        raise Refusal(Code.OWNER_MISMATCH, "taxId is not valid") from problem


def _instant(text: str) -> datetime:
    try:
        read = datetime.fromisoformat(text)
    except ValueError as problem:
        message = "due is an instant"
        raise refusals.invalid(message) from problem
    return read if read.tzinfo else read.replace(tzinfo=_ZONE)


def _midnight(text: str, days: int = 0) -> datetime:
    try:
        day = date.fromisoformat(text) + days * _DAY
    except (ValueError, OverflowError) as problem:
        message = "after and before are days"
        raise refusals.invalid(message) from problem
    return datetime(day.year, day.month, day.day, tzinfo=_ZONE)
