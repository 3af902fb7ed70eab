"""The bank's calls, one row for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from provider_adapters.testing.bank.dialect import BankRequest, Row
from provider_adapters.testing.bank.kernel import accounts, listeners, paging, refusals, statement
from provider_adapters.testing.bank.kernel.books import Books
from provider_adapters.testing.bank.kernel.refusals import Refusal
from provider_adapters.testing.bank.messages import Answer, Document
from provider_adapters.testing.bank.pix import (
    charges,
    destinations,
    keys,
    magic_values,
    payouts,
    received_payments,
)
from provider_adapters.testing.bank.pix.charges import Charge, NewCharge
from provider_adapters.testing.bank.pix.payouts import Order, Payout
from provider_adapters.testing.bank.pix.received_payments import Payment
from provider_adapters.testing.starkbank import callbacks, documents, orders, signing_keys

_MOST_MISSED: Final = 1000
_MOST_WEBHOOKS: Final = 1000
"""Of a workspace; the bank tells no bound, and this one is beyond use."""


def _balance(request: BankRequest) -> Answer:
    # What is blocked is not told: what may be paid out is shown.
    held = accounts.balance(request.books, request.account.id)
    shown = documents.balance(request.books, request.account, held.available)
    return Answer(document={"balances": [shown], "cursor": None})


def _statement(request: BankRequest) -> Answer:
    books, account = request.books, request.account
    page = statement.read(books, account.id, orders.page(request.query))
    shown = [
        documents.movement(books, entry, _charge_of(books, account.id, entry.e2e_id))
        for entry in page.items
    ]
    return Answer(document={"transactions": shown, "cursor": page.cursor})


def _keys(request: BankRequest) -> Answer:
    found = keys.list_all(request.books, request.account.id)
    wanted = orders.listed(request.query, "status")
    shown = [documents.key(each, request.account, request.books) for each in found]
    chosen = [each for each in shown if not wanted or each["status"] in wanted]
    return Answer(document={"keys": chosen, "cursor": None})


def _key(request: BankRequest) -> Answer:
    asked = request.path["key"]
    bare = "".join(filter(str.isdigit, asked))
    key = bare if documents.punctuated(bare) == asked else asked
    found = destinations.look_up(request.books, key)
    return Answer(document={"key": documents.owner(found)})


def _add_invoices(request: BankRequest) -> Answer:
    read = orders.invoice(request.books, request.account.id)
    made = _add_charges(request, orders.several(request.body, "invoices", read))
    shown = [documents.invoice(request.books, each) for each in made]
    return Answer(document={"message": "created", "invoices": shown})


def _add_brcodes(request: BankRequest) -> Answer:
    read = orders.brcode(request.books, request.account.id)
    made = _add_charges(request, orders.several(request.body, "brcodes", read))
    shown = [documents.brcode(request.books, each) for each in made]
    return Answer(document={"message": "created", "brcodes": shown})


def _add_charges(request: BankRequest, new: Sequence[tuple[NewCharge, list[str]]]) -> list[Charge]:
    made = []
    for order, tags in new:
        charge = charges.add(request.books, request.account, order)
        documents.keep_tags(request.books, request.account.id, charge.id, tags)
        made.append(charge)
    return made


def _invoices(request: BankRequest) -> Answer:
    found = _charges(request, lambda charge: charge.payer is not None)
    return Answer(
        document={
            "invoices": [documents.invoice(request.books, each) for each in found],
            "cursor": None,
        }
    )


def _brcodes(request: BankRequest) -> Answer:
    found = _charges(request, lambda charge: charge.payer is None)
    return Answer(
        document={
            "brcodes": [documents.brcode(request.books, each) for each in found],
            "cursor": None,
        }
    )


def _charges(request: BankRequest, is_one: Callable[[Charge], bool]) -> list[Charge]:
    """Choose dynamic charges by tag, newest first; as many as asked for."""
    wanted = set(orders.listed(request.query, "tags"))
    found = [
        charge
        for charge in reversed(charges.list_all(request.books, request.account.id))
        if charge.type == "dynamic" and is_one(charge)
        if not wanted or wanted & set(documents.tags_of_charge(request.books, charge))
    ]
    return found[: orders.page(request.query).limit]


def _invoice(request: BankRequest) -> Answer:
    found = _one_invoice(request)
    return Answer(document={"invoice": documents.invoice(request.books, found)})


def _change_invoice(request: BankRequest) -> Answer:
    charge = _one_invoice(request)
    request.body.choice("status", {"canceled": "canceled"})
    gone = charges.cancel(request.books, request.account.id, charge.reference)
    return Answer(document={"invoice": documents.invoice(request.books, gone)})


def _invoice_payment(request: BankRequest) -> Answer:
    charge = _one_invoice(request)
    paid = received_payments.latest(request.books, request.account.id, charge.reference)
    if paid is None:
        what = "payment"
        raise refusals.not_found(what)
    return Answer(document={"payment": documents.invoice_payment(paid)})


def _one_invoice(request: BankRequest) -> Charge:
    for charge in charges.list_all(request.books, request.account.id):
        if charge.id == request.path["id"] and charge.payer is not None:
            return charge
    what = "invoice"
    raise refusals.not_found(what)


def _invoice_logs(request: BankRequest) -> Answer:
    """Show payments of invoices: the one type of log that this bank keeps."""
    types, wanted = (orders.listed(request.query, name) for name in ("types", "invoiceIds"))
    page, cursor = _paid(request)
    shown = [
        documents.invoice_log(request.books, charge, paid)
        for paid, charge in page
        if charge is not None and charge.payer is not None
        if not wanted or charge.id in wanted
        if not types or "paid" in types
    ]
    return Answer(document={"logs": shown, "cursor": cursor})


def _deposits(request: BankRequest) -> Answer:
    wanted = set(orders.listed(request.query, "tags"))
    page, cursor = _paid(request, whole=bool(wanted))
    shown = [
        documents.deposit(request.books, paid, charge)
        for paid, charge in page
        if charge is None or charge.payer is None
    ]
    if wanted:
        most = orders.page(request.query).limit
        shown, cursor = [each for each in shown if wanted & _tags(each)][:most], None
    return Answer(document={"deposits": shown, "cursor": cursor})


def _tags(document: Document) -> set[str]:
    tags = document["tags"]
    return set(tags) if isinstance(tags, list) else set()


def _paid(
    request: BankRequest, *, whole: bool = False
) -> tuple[list[tuple[Payment, Charge | None]], str | None]:
    """Read payments, each with the charge that it pays, and the next cursor; a page or all."""
    books, account_id = request.books, request.account.id
    wanted = orders.page(request.query)
    if whole:
        wanted = paging.Slice(since=wanted.since, until=wanted.until, limit=10_000)
    page = received_payments.read(books, account_id, wanted)
    found = [(paid, _charge_named(books, account_id, paid.reference)) for paid in page.items]
    return found, page.cursor


def _charge_of(books: Books, account_id: str, e2e_id: str | None) -> Charge | None:
    """Find the charge that an entry of the statement pays."""
    try:
        paid = received_payments.by_e2e_id(books, account_id, e2e_id or "")
    except Refusal:
        return None
    return _charge_named(books, account_id, paid.reference)


def _charge_named(books: Books, account_id: str, reference: str | None) -> Charge | None:
    return None if reference is None else charges.get(books, account_id, reference)


def _pay_out(request: BankRequest) -> Answer:
    body = request.body
    given = orders.several(body, "transfers", orders.transfer)
    for order in given:
        if payouts.repeated(request.books, request.account, order):
            problem = "an external id is known"  # only where an account repeats answers
            raise refusals.invalid(problem)
    fault = magic_values.on_the_wire(given[0].centavos)
    if fault and not fault.executes:
        return Answer(document={}, fault=fault)
    named = orders.several(body, "transfers", orders.tags)
    made = [_execute(request, *each) for each in zip(given, named, strict=True)]
    shown = [documents.transfer(each) for each in made]
    return Answer(document={"message": "created", "transfers": shown}, fault=fault)


def _execute(request: BankRequest, order: Order, tags: list[str]) -> Payout:
    made = payouts.accept(request.books, request.account, order)
    documents.keep_tags(request.books, request.account.id, made.id, tags)
    return made


def _transfers(request: BankRequest) -> Answer:
    books, account_id = request.books, request.account.id
    wanted = orders.listed(request.query, "tags")
    if wanted:
        ids = dict.fromkeys(
            name for tag in wanted for name in documents.tagged(books, account_id, tag)
        )
        found = [payouts.get(books, account_id, name) for name in ids][
            : orders.page(request.query).limit
        ]
        return Answer(
            document={"transfers": [documents.transfer(each) for each in found], "cursor": None}
        )
    page = payouts.read(books, account_id, orders.page(request.query))
    shown = [documents.transfer(each) for each in page.items]
    return Answer(document={"transfers": shown, "cursor": page.cursor})


def _transfer(request: BankRequest) -> Answer:
    found = payouts.get(request.books, request.account.id, request.path["id"])
    return Answer(document={"transfer": documents.transfer(found)})


def _webhooks(request: BankRequest) -> Answer:
    found = listeners.of(request.books, request.account.id)
    return Answer(
        document={"webhooks": [documents.webhook(each) for each in found], "cursor": None}
    )


def _add_webhook(request: BankRequest) -> Answer:
    asked = request.body
    asked.texts("subscriptions")
    url = asked.text("url")
    made = listeners.add(request.books, request.account.id, url, "", most=_MOST_WEBHOOKS)
    return Answer(document={"webhook": documents.webhook(made)})


def _remove_webhook(request: BankRequest) -> Answer:
    gone = listeners.remove(request.books, request.account.id, request.path["id"])
    return Answer(document={"webhook": documents.webhook(gone)})


def _events(request: BankRequest) -> Answer:
    """Show events that nobody took, newest first; delivered ones are not kept."""
    if request.query.get("isDelivered", "").lower() != "false":
        return Answer(document={"events": [], "cursor": None})
    found = listeners.missed(request.books, request.account.id, _MOST_MISSED)
    shown = [callbacks.event(request.books, each) for each in reversed(found)]
    most = orders.page(request.query).limit
    newest = [each for each in shown if each is not None]
    return Answer(document={"events": newest[-most:], "cursor": None})


def _change_event(request: BankRequest) -> Answer:
    if not request.body.flag("isDelivered"):
        problem = "isDelivered can only become true"
        raise refusals.invalid(problem)
    event_id, account_id = request.path["id"], request.account.id
    known = listeners.missed(request.books, account_id, _MOST_MISSED)
    if event_id not in {each.id for each in known}:
        what = "event"
        raise refusals.not_found(what)
    listeners.acknowledge(request.books, account_id, [event_id])
    return Answer(document={"event": {"id": event_id, "isDelivered": True}})


def _public_key(request: BankRequest) -> Answer:
    shown = {"content": signing_keys.public_key(request.books)}
    return Answer(document={"publicKeys": [shown], "cursor": None})


_ID: Final = "{id:[^/]+}"

ROWS: Final = (
    Row("GET", "/v2/public-key", "access", _public_key, is_open=True),
    Row("GET", "/v2//public-key", "access", _public_key, is_open=True),  # as the SDK writes it
    Row("GET", "/v2/balance", "balance", _balance),
    Row("GET", "/v2/transaction", "statement", _statement),
    Row("GET", "/v2/dict-key", "keys", _keys),
    Row("GET", "/v2/dict-key/{key:[^/]+}", "keys", _key),
    Row("POST", "/v2/invoice", "charge", _add_invoices),
    Row("GET", "/v2/invoice", "charge", _invoices),
    Row("GET", "/v2/invoice/log", "payment", _invoice_logs),
    Row("GET", f"/v2/invoice/{_ID}", "charge", _invoice),
    Row("PATCH", f"/v2/invoice/{_ID}", "charge", _change_invoice),
    Row("GET", f"/v2/invoice/{_ID}/payment", "payment", _invoice_payment),
    Row("POST", "/v2/dynamic-brcode", "charge", _add_brcodes),
    Row("GET", "/v2/dynamic-brcode", "charge", _brcodes),
    Row("GET", "/v2/deposit", "payment", _deposits),
    Row("POST", "/v2/transfer", "payout", _pay_out),
    Row("GET", "/v2/transfer", "payout_read", _transfers),
    Row("GET", f"/v2/transfer/{_ID}", "payout_read", _transfer),
    Row("POST", "/v2/webhook", "callbacks", _add_webhook),
    Row("GET", "/v2/webhook", "callbacks", _webhooks),
    Row("DELETE", f"/v2/webhook/{_ID}", "callbacks", _remove_webhook),
    Row("GET", "/v2/event", "callbacks", _events),
    Row("PATCH", f"/v2/event/{_ID}", "callbacks", _change_event),
)
"""Every call, in the order of the README."""
