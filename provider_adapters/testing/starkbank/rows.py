"""The bank's calls, one row for each, and the orders that they read, as strictly as the bank."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, TypeVar

from gateway.domain.kernel.strict import Malformed, tax_number
from provider_adapters.testing.bank.dialect import BankRequest, Row, below, execute, one
from provider_adapters.testing.bank.kernel import accounts, clock, listeners, paging, statement
from provider_adapters.testing.bank.kernel.books import Books
from provider_adapters.testing.bank.kernel.paging import Slice
from provider_adapters.testing.bank.kernel.refusals import Code, Refusal, found, invalid, require
from provider_adapters.testing.bank.messages import LARGEST, Answer, Document, Fields
from provider_adapters.testing.bank.pix import (
    charges,
    destinations,
    keys,
    payouts,
    received_payments,
)
from provider_adapters.testing.bank.pix.charges import Charge, NewCharge
from provider_adapters.testing.bank.pix.destinations import Destination
from provider_adapters.testing.bank.pix.payouts import Order
from provider_adapters.testing.bank.pix.received_payments import Payer, Payment
from provider_adapters.testing.starkbank import callbacks, documents

Value = TypeVar("Value")

_MOST: Final = 100
"""Things in one request, and in one page."""
_MOST_MISSED: Final = 1000
_MOST_WEBHOOKS: Final = 1000
"""Of a workspace; the bank tells no bound, and this one is beyond use."""
_ISPB: Final = re.compile(r"[0-9A-Z]{8}", re.ASCII)
_EXTERNAL_ID: Final = re.compile(r"[A-Za-z0-9._~-]{0,64}", re.ASCII)
_LIMIT: Final = re.compile(r"[0-9]{1,3}", re.ASCII)
_ACCOUNT_TYPES: Final = ("checking", "savings", "salary", "payment")
_SENT: Final = (
    "name", "bankCode", "branchCode", "accountNumber", "accountType", "externalId", "description",
)  # fmt: skip
_DAY: Final = timedelta(days=1)
_EXPIRATION_S: Final = 5_097_600
_SECOND: Final = 1_000_000


def _several(name: str, shown: list[Document], cursor: str | None = None) -> Document:
    return {name: shown, "cursor": cursor}


def _made(name: str, shown: list[Document]) -> Document:
    return {"message": "created", name: shown}


def _balance(request: BankRequest) -> Document:
    # What is blocked is not told: what may be paid out is shown.
    held = accounts.balance(*request.own)
    shown = documents.balance(request.books, request.account, held.available)
    return _several("balances", [shown])


def _statement(request: BankRequest) -> Document:
    page = statement.read(*request.own, read_page(request.query))
    shown = [
        documents.movement(request.books, entry, _charge_of(request, entry.e2e_id))
        for entry in page.items
    ]
    return _several("transactions", shown, page.cursor)


def _keys(request: BankRequest) -> Document:
    wanted, account = _listed(request, "status"), request.account
    listed = keys.list_all(*request.own)
    shown = [documents.key(each, account) for each in listed]
    return _several("keys", [each for each in shown if not wanted or each["status"] in wanted])


def _key(request: BankRequest) -> Document:
    asked = request.path["key"]
    bare = "".join(filter(str.isdigit, asked))
    key = bare if documents.punctuated(bare) == asked else asked
    return {"key": documents.owner(destinations.look_up(request.books, key))}


def _add_invoices(request: BankRequest) -> Document:
    made = _add_charges(request, "invoices", read_invoice)
    return _made("invoices", [documents.invoice(request.books, each) for each in made])


def _add_brcodes(request: BankRequest) -> Document:
    made = _add_charges(request, "brcodes", read_brcode)
    return _made("brcodes", [documents.brcode(request.books, each) for each in made])


def _add_charges(
    request: BankRequest, name: str, read: Callable[[Books, str, Fields], NewCharge]
) -> list[Charge]:
    new = read_several(request.body, name, lambda body: (read(*request.own, body), read_tags(body)))
    made = []
    for order, tags in new:
        made.append(charges.add(request.books, request.account, order))
        documents.keep_tags(*request.own, made[-1].id, tags)
    return made


def _invoices(request: BankRequest) -> Document:
    listed = _charges(request, named=True)
    return _several("invoices", [documents.invoice(request.books, each) for each in listed])


def _brcodes(request: BankRequest) -> Document:
    listed = _charges(request, named=False)
    return _several("brcodes", [documents.brcode(request.books, each) for each in listed])


def _charges(request: BankRequest, *, named: bool) -> list[Charge]:
    """Choose dynamic charges by tag, newest first; as many as asked for."""
    wanted = set(_listed(request, "tags"))
    chosen = [
        charge
        for charge in reversed(charges.list_all(*request.own))
        if charge.type == "dynamic" and (charge.payer is not None) is named
        if not wanted or wanted & set(documents.tags_of_charge(request.books, charge))
    ]
    return chosen[: read_page(request.query).limit]


def _invoice(request: BankRequest) -> Document:
    return {"invoice": documents.invoice(request.books, _one_invoice(request))}


def _change_invoice(request: BankRequest) -> Document:
    charge = _one_invoice(request)
    request.body.choice("status", ("canceled",))
    gone = charges.cancel(*request.own, charge.reference)
    return {"invoice": documents.invoice(request.books, gone)}


def _invoice_payment(request: BankRequest) -> Document:
    paid = received_payments.latest(*request.own, _one_invoice(request).reference)
    return {"payment": documents.invoice_payment(found(paid, "payment"))}


def _one_invoice(request: BankRequest) -> Charge:
    named = (each for each in charges.list_all(*request.own) if each.payer is not None)
    return found(next((each for each in named if each.id == request.path["id"]), None), "invoice")


def _invoice_logs(request: BankRequest) -> Document:
    """Show payments of invoices: the one type of log that this bank keeps."""
    types, wanted = _listed(request, "types"), _listed(request, "invoiceIds")
    page, cursor = _paid(request)
    shown = [
        documents.invoice_log(request.books, charge, paid)
        for paid, charge in page
        if charge is not None and charge.payer is not None
        if not wanted or charge.id in wanted
        if not types or "paid" in types
    ]
    return _several("logs", shown, cursor)


def _deposits(request: BankRequest) -> Document:
    wanted = set(_listed(request, "tags"))
    page, cursor = _paid(request, whole=bool(wanted))
    shown = [
        documents.deposit(request.books, paid, charge)
        for paid, charge in page
        if charge is None or charge.payer is None
        if not wanted or wanted & set(documents.deposit_tags(request.books, paid, charge))
    ]
    if wanted:
        shown, cursor = shown[: read_page(request.query).limit], None
    return _several("deposits", shown, cursor)


def _paid(
    request: BankRequest, *, whole: bool = False
) -> tuple[list[tuple[Payment, Charge | None]], str | None]:
    """Read payments, each with the charge that it pays, and the next cursor; a page or all."""
    wanted = read_page(request.query)
    if whole:
        wanted = paging.Slice(since=wanted.since, until=wanted.until, limit=10_000)
    page = received_payments.read(*request.own, wanted)
    return [(paid, _charge_named(request, paid.reference)) for paid in page.items], page.cursor


def _charge_of(request: BankRequest, e2e_id: str | None) -> Charge | None:
    """Find the charge that an entry of the statement pays."""
    try:
        paid = received_payments.by_e2e_id(*request.own, e2e_id or "")
    except Refusal:
        return None
    return _charge_named(request, paid.reference)


def _charge_named(request: BankRequest, reference: str | None) -> Charge | None:
    return None if reference is None else charges.get(*request.own, reference)


def _pay_out(request: BankRequest) -> Answer:
    books, account = request.books, request.account
    read = read_several(request.body, "transfers", lambda body: (_order(body), read_tags(body)))
    for order, _ in read:
        # Only where an account repeats answers.
        require(not payouts.repeated(books, account, order), "an external id is known")

    def accept() -> Document:
        shown = []
        for order, tags in read:
            made = payouts.accept(books, account, order)
            documents.keep_tags(books, account.id, made.id, tags)
            shown.append(documents.transfer(made))
        return _made("transfers", shown)

    return execute(read[0][0].centavos, accept)


def _transfers(request: BankRequest) -> Document:
    wanted, page = _listed(request, "tags"), read_page(request.query)
    if wanted:
        ids = dict.fromkeys(name for tag in wanted for name in documents.tagged(*request.own, tag))
        chosen = [payouts.get(*request.own, name) for name in ids][: page.limit]
        return _several("transfers", [documents.transfer(each) for each in chosen])
    listed = payouts.read(*request.own, page)
    shown = [documents.transfer(each) for each in listed.items]
    return _several("transfers", shown, listed.cursor)


def _webhooks(request: BankRequest) -> Document:
    return _several("webhooks", [documents.webhook(each) for each in listeners.of(*request.own)])


def _add_webhook(request: BankRequest) -> Document:
    asked = request.body
    asked.texts("subscriptions")
    made = listeners.add(*request.own, asked.text("url"), "", most=_MOST_WEBHOOKS)
    return {"webhook": documents.webhook(made)}


def _events(request: BankRequest) -> Document:
    """Show events that nobody took, newest first; delivered ones are not kept."""
    if request.query.get("isDelivered", "").lower() != "false":
        return _several("events", [])
    missed = listeners.missed(*request.own, _MOST_MISSED)
    shown = [callbacks.event(request.books, each) for each in reversed(missed)]
    newest = [each for each in shown if each is not None]
    return _several("events", newest[-read_page(request.query).limit :])


def _change_event(request: BankRequest) -> Document:
    require(request.body.flag("isDelivered"), "isDelivered can only become true")
    missed = {each.id: each for each in listeners.missed(*request.own, _MOST_MISSED)}
    event = found(missed.get(request.path["id"]), "event")
    listeners.acknowledge(*request.own, [event.id])
    return {"event": {"id": event.id, "isDelivered": True}}


def _public_key(request: BankRequest) -> Document:
    return _several("publicKeys", [{"content": callbacks.public_key(request.books)}])


def read_several(body: Fields, name: str, read: Callable[[Fields], Value]) -> list[Value]:
    """Read a list of orders: 1 to 100; raises ``INVALID_REQUEST``."""
    given = body.inside_all(name)
    require(1 <= len(given) <= _MOST, f"{name} are 1 to {_MOST}")
    return [read(each) for each in given]


def read_tags(body: Fields) -> list[str]:
    """Read the tags of something; a comma would part one from itself in a search."""
    given = body.texts("tags") if "tags" in body else []
    require(all(tag and "," not in tag for tag in given), "tags have no commas")
    return given


def read_invoice(books: Books, account_id: str, body: Fields) -> NewCharge:
    """Read the order of an invoice; raises ``INVALID_REQUEST``."""
    payer = Payer(name=body.text("name"), tax_number=_tax_number(body))
    expiration = body.whole("expiration", _EXPIRATION_S)
    due = _instant(body.text("due")) if "due" in body else books.clock.now() + 2 * _DAY
    expires_in = clock.to_micros(due) - books.clock.micros() + expiration * _SECOND
    require(expires_in > 0 and expiration >= 0, "due is in the future")
    return _new_charge(books, account_id, body, expires_in, payer)


def read_brcode(books: Books, account_id: str, body: Fields) -> NewCharge:
    """Read the order of a dynamic BR Code; raises ``INVALID_REQUEST``."""
    expiration = body.whole("expiration", 3600)
    require(expiration > 0, "expiration is above zero")
    return _new_charge(books, account_id, body, expiration * _SECOND)


def read_page(query: Mapping[str, str]) -> Slice:
    """Read ``after``, ``before``, ``limit`` and ``cursor``; raises ``INVALID_REQUEST``."""
    limit = query.get("limit", str(_MOST))
    is_one = _LIMIT.fullmatch(limit) and 1 <= int(limit) <= _MOST
    require(is_one, f"limit is 1 to {_MOST}")
    given = {"limite": limit}
    for name, theirs, days in (("de", "after", 0), ("ate", "before", 1)):
        if theirs in query:
            at = clock.midnight(clock.read_day(query[theirs]), days)
            given[name] = clock.show(at)
    if query.get("cursor"):
        given["cursor"] = query["cursor"]
    return paging.read_slice(given)


def _listed(request: BankRequest, name: str) -> Sequence[str]:
    """Read a list of texts that commas part; empty for none."""
    return [text for text in request.query.get(name, "").split(",") if text]


def _order(body: Fields) -> Order:
    """Read the order of a transfer; a bank of three digits would be a TED."""
    require(_ISPB.fullmatch(body.text("bankCode")), "bankCode is an ISPB: this bank sends no TED")
    body.choice("accountType", _ACCOUNT_TYPES, "checking")
    external_id = body.text("externalId", "")
    require(_EXTERNAL_ID.fullmatch(external_id), "externalId is URL safe")
    return Order(
        centavos=body.centavos("amount"),
        to=_destination(body),
        description=body.text("description", ""),
        idempotency_key=external_id or None,
    )


def _new_charge(
    books: Books, account_id: str, body: Fields, expires_in: int, payer: Payer | None = None
) -> NewCharge:
    """
    Read what all charges have; an amount of 0 is one that the payer chooses.

    Its last tag names it for the control interface; the bank itself names none.
    """
    amount, last = body.whole("amount"), read_tags(body)[-1:]
    if not 0 <= amount <= LARGEST:
        raise Refusal(Code.REJECTED, "amount is not valid")
    own = keys.usable(books, account_id)
    require(own, "the workspace has no key")
    known = {charge.reference for charge in charges.list_all(books, account_id)}
    return NewCharge(
        reference=last[0] if last and last[0] not in known else books.identifier("charge"),
        type="dynamic",
        key=own[0].key,
        centavos=amount or None,
        expires_in=expires_in,
        description=body.text("displayDescription", ""),
        payer=payer,
    )


def _destination(body: Fields) -> Destination:
    """Read where a transfer goes; an account that the directory encrypted is a key."""
    sent = {name: body.text(name, "") for name in _SENT if name in body}
    account, branch = body.text("accountNumber"), body.optional("branchCode", body.text)
    key = _key_of(account)
    require(key or branch, "branchCode is a text")
    return Destination(
        tax_number=_tax_number(body),
        name=body.text("name"),
        sent=json.dumps({**sent, "tags": [tag.lower() for tag in read_tags(body)]}),
        key=key or None,
        bank=None if key else body.text("bankCode"),
        branch=None if key else branch,
        account=None if key else account,
    )


def _key_of(account: str) -> str:
    """Return the key behind an account number of the directory; empty for any other."""
    try:
        text = base64.b64decode(account, validate=True).decode()
    except (binascii.Error, ValueError):
        return ""
    encrypted = documents.ENCRYPTED
    return text.removeprefix(encrypted) if text.startswith(encrypted) else ""


def _tax_number(body: Fields) -> str:
    try:
        return tax_number(body.text("taxId"))
    except Malformed as problem:
        raise Refusal(Code.OWNER_MISMATCH, "taxId is not valid") from problem


def _instant(text: str) -> datetime:
    try:
        read = datetime.fromisoformat(text)
    except ValueError as problem:
        message = "due is an instant"
        raise invalid(message) from problem
    return read if read.tzinfo else read.replace(tzinfo=clock.SAO_PAULO)


_ID: Final = "{id:[^/]+}"
_TRANSFER: Final = one(payouts.get, "id", lambda made: {"transfer": documents.transfer(made)})
_REMOVE: Final = one(listeners.remove, "id", lambda gone: {"webhook": documents.webhook(gone)})
ROWS: Final = below(
    "/v2",
    Row("GET", "/public-key", "access", _public_key, is_open=True),
    Row("GET", "//public-key", "access", _public_key, is_open=True),  # as the SDK writes it
    Row("GET", "/balance", "balance", _balance),
    Row("GET", "/transaction", "statement", _statement),
    Row("GET", "/dict-key", "keys", _keys),
    Row("GET", "/dict-key/{key:[^/]+}", "keys", _key),
    Row("POST", "/invoice", "charge", _add_invoices),
    Row("GET", "/invoice", "charge", _invoices),
    Row("GET", "/invoice/log", "payment", _invoice_logs),
    Row("GET", f"/invoice/{_ID}", "charge", _invoice),
    Row("PATCH", f"/invoice/{_ID}", "charge", _change_invoice),
    Row("GET", f"/invoice/{_ID}/payment", "payment", _invoice_payment),
    Row("POST", "/dynamic-brcode", "charge", _add_brcodes),
    Row("GET", "/dynamic-brcode", "charge", _brcodes),
    Row("GET", "/deposit", "payment", _deposits),
    Row("POST", "/transfer", "payout", _pay_out),
    Row("GET", "/transfer", "payout_read", _transfers),
    Row("GET", f"/transfer/{_ID}", "payout_read", _TRANSFER),
    Row("POST", "/webhook", "callbacks", _add_webhook),
    Row("GET", "/webhook", "callbacks", _webhooks),
    Row("DELETE", f"/webhook/{_ID}", "callbacks", _REMOVE),
    Row("GET", "/event", "callbacks", _events),
    Row("PATCH", f"/event/{_ID}", "callbacks", _change_event),
)
"""Every call, in the order of the README."""
