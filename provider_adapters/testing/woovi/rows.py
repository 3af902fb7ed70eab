"""The simulated Woovi's calls, one row for each; what the document lacks is refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Final

from provider_adapters.testing.bank.dialect import BankRequest, Row
from provider_adapters.testing.bank.kernel import accounts, listeners, refusals, state, statement
from provider_adapters.testing.bank.kernel.accounts import Account
from provider_adapters.testing.bank.kernel.paging import Page, Slice
from provider_adapters.testing.bank.kernel.refusals import Code, Refusal
from provider_adapters.testing.bank.kernel.state import Kept
from provider_adapters.testing.bank.messages import Answer, Document
from provider_adapters.testing.bank.pix import (
    charges,
    destinations,
    keys,
    magic_values,
    payouts,
    received_payments,
    refunds,
)
from provider_adapters.testing.woovi import callbacks, documents, orders

_CREATED: Final = 201
_DELETED: Final = 204
_NOT_FOUND: Final = 404
_MOST_ADDRESSES: Final = 1000
"""The document knows no limit; this one is our port's."""


def authenticate(request: BankRequest) -> Account:
    """Return the account of an AppID, which is sent raw."""
    account = accounts.by_token(request.books, request.headers.get("Authorization", ""))
    if account is None:
        raise Refusal(Code.UNAUTHORIZED, "appID inválido")
    return account


def _balance(request: BankRequest) -> Answer:
    account = request.account
    if request.path["id"] != account.id:
        what = "account"
        raise refusals.not_found(what)
    held = accounts.balance(request.books, account.id)
    return Answer(document=documents.account(account, held))


def _statement(request: BankRequest) -> Answer:
    page = statement.read(request.books, request.account.id, orders.page(request.query))
    return Answer(document=[documents.movement(line) for line in page.items])


def _own_keys(request: BankRequest) -> list[keys.Key]:
    found = keys.list_all(request.books, request.account.id)
    return [each for each in found if each.status == "active"]


def _keys(request: BankRequest) -> Answer:
    wanted, found = orders.page(request.query), _own_keys(request)
    shown = [documents.key(each, is_default=place == 0) for place, each in enumerate(found)]
    return Answer(document={"pixKeys": shown[wanted.skip : wanted.skip + wanted.limit]})


def _add_key(request: BankRequest) -> Answer:
    made = keys.add(request.books, request.account.id, orders.key(request.body))
    shown = documents.key(made, is_default=len(_own_keys(request)) == 1)
    return Answer(document=shown, status=_CREATED)


def _cancel_key(request: BankRequest) -> Answer:
    for place, each in enumerate(_own_keys(request)):
        if each.key == request.path["key"]:
            orders.require(place > 0, "the default Pix key cannot be deleted")
            keys.cancel(request.books, request.account.id, each.id)
            return Answer(document=b"", status=_DELETED)
    raise Refusal(Code.NOT_FOUND, "Pix key not found", status=_NOT_FOUND)


def _check_key(request: BankRequest) -> Answer:
    found = destinations.look_up(request.books, request.body.text("pixKey"))
    return Answer(document=documents.owner(found))


def _charge_of(request: BankRequest) -> charges.Charge:
    """Find a charge; what a deleted one answers is stated nowhere: here it is gone."""
    found = charges.get(request.books, request.account.id, request.path["id"])
    if found.status == "canceled":
        what = "charge"
        raise refusals.not_found(what)
    return found


def _shown(request: BankRequest, charge: charges.Charge) -> Answer:
    return Answer(document={"charge": documents.charge(charge, request.books.clock.micros())})


def _charge(request: BankRequest) -> Answer:
    return _shown(request, _charge_of(request))


def _add_charge(request: BankRequest) -> Answer:
    new = orders.charge(request.books, request.account, request.body)
    return _shown(request, charges.add(request.books, request.account, new))


def _delete_charge(request: BankRequest) -> Answer:
    found = _charge_of(request)
    charges.cancel(request.books, request.account.id, found.reference)
    return Answer(document={"status": "OK", "id": found.reference})


def _charge_refunds(request: BankRequest) -> Answer:
    found = charges.get(request.books, request.account.id, request.path["id"])
    paid = received_payments.of_charge(request.books, request.account.id, found.reference)
    given = [each for one in paid for each in refunds.of_payment(request.books, one)]
    return Answer(document={"refunds": [documents.charge_refund(each) for each in given]})


def _transactions(request: BankRequest) -> Answer:
    """Show what came in; other types are not simulated."""
    wanted, kind = orders.page(request.query), request.query.get("type", "PAYMENT")
    page = received_payments.read(request.books, request.account.id, wanted)
    if "charge" in request.query:
        reference = request.query["charge"]
        of = received_payments.of_charge(request.books, request.account.id, reference)
        page = Page(of[wanted.skip :][: wanted.limit], None)
    if kind != "PAYMENT":
        page = Page([], None)
    return _list(
        "transactions", [documents.transaction(each) for each in page.items], wanted, page.cursor
    )


def _list(
    name: str, items: Sequence[Document], wanted: Slice, following: str | None = None
) -> Answer:
    info = documents.page_info(wanted.skip, wanted.limit, more=following is not None)
    return Answer(document={"status": "OK", name: items, "pageInfo": info})


def _transaction(request: BankRequest) -> Answer:
    found = received_payments.by_e2e_id(request.books, request.account.id, request.path["id"])
    return Answer(document={"transaction": documents.transaction(found)})


def _pay(request: BankRequest) -> Answer:
    order, fails = orders.payout(request.books, request.account, request.body)
    payouts.repeated(request.books, request.account, order)
    fault = magic_values.on_the_wire(order.centavos)
    if fault and not fault.executes:
        return Answer(document={}, fault=fault)
    made = payouts.accept(request.books, request.account, order)
    if fails:
        request.books.database.run("UPDATE payouts SET step = 'fail' WHERE id = ?", (made.id,))
        state.put(request.books, Kept(kind=callbacks.FAILURE, name=made.id, value=fails))
    return Answer(document=documents.payment(made), fault=fault)


def _payment(request: BankRequest) -> Answer:
    found = payouts.by_key(request.books, request.account.id, request.path["id"])
    return Answer(document=documents.payment(found, callbacks.failure_of(request.books, found.id)))


def _payments(request: BankRequest) -> Answer:
    wanted = orders.page(request.query)
    page = payouts.read(request.books, request.account.id, wanted)
    return _list("payments", [documents.payment(each) for each in page.items], wanted, page.cursor)


def _give_back(request: BankRequest) -> Answer:
    order = orders.refund(request.body)
    known = refunds.repeated(request.books, request.account.id, order)
    if known:
        return Answer(document={"refund": documents.refund(known)})
    fault = magic_values.on_the_wire(order.centavos)
    if fault and not fault.executes:
        return Answer(document={}, fault=fault)
    made = refunds.accept(request.books, request.account.id, order)
    return Answer(document={"refund": documents.refund(made)}, fault=fault)


def _refund(request: BankRequest) -> Answer:
    found = refunds.by_key(request.books, request.account.id, request.path["id"])
    return Answer(document={"pixTransactionRefund": documents.refund(found)})


def _refunds(request: BankRequest) -> Answer:
    wanted = orders.page(request.query)
    page = refunds.read(request.books, request.account.id, wanted)
    return _list("refunds", [documents.refund(each) for each in page.items], wanted, page.cursor)


def _webhooks_of(request: BankRequest) -> list[dict[str, object]]:
    found = state.of_account(request.books, callbacks.WEBHOOK, request.account.id)
    return [{**json.loads(each.value), "id": each.name} for each in found]


def _webhooks(request: BankRequest) -> Answer:
    url = request.query.get("url")
    found = [each for each in _webhooks_of(request) if url in {None, each["url"]}]
    return _list("webhooks", found, Slice(limit=100))


def _add_webhook(request: BankRequest) -> Answer:
    """Register an address for one event; the bank makes the secret, and shows it to people."""
    asked = request.body.inside("webhook")
    event, url = asked.text("event", "OPENPIX:TRANSACTION_RECEIVED"), asked.text("url")
    secret = request.books.random_hex(16)
    made = listeners.add(request.books, request.account.id, url, secret, _MOST_ADDRESSES)
    name = documents.global_id("Webhook", f"{made.id}:{event}")
    kept = {"url": url, "event": event, "name": asked.text("name", ""), "isActive": True}
    state.put(
        request.books,
        Kept(
            kind=callbacks.WEBHOOK,
            name=name,
            value=json.dumps(kept),
            account_id=request.account.id,
        ),
    )
    return Answer(document={"webhook": {**kept, "id": name}})


def _remove_webhook(request: BankRequest) -> Answer:
    found = {str(each["id"]): each for each in _webhooks_of(request)}
    gone = found.pop(request.path["id"], None)
    if gone is None:
        what = "webhook"
        raise refusals.not_found(what)
    state.remove(request.books, callbacks.WEBHOOK, request.path["id"])
    if gone["url"] not in {each["url"] for each in found.values()}:
        for listener in listeners.of(request.books, request.account.id):
            if listener.url == gone["url"]:
                listeners.remove(request.books, request.account.id, listener.id)
    return Answer(document={"status": "OK"})


def _public_keys(request: BankRequest) -> Answer:
    return Answer(document=documents.public_keys(callbacks.public_keys(request.books)))


_API: Final = "/api/v1"
_ID: Final = "{id:[^/]+}"
Run = Callable[[BankRequest], Answer]
_CALLS: Final[Sequence[tuple[str, str, str, Run]]] = (
    ("GET", f"/account/{_ID}", "balance", _balance),
    ("GET", "/statement", "statement", _statement),
    ("GET", "/pix-keys", "keys", _keys),
    ("POST", "/pix-keys", "keys", _add_key),
    ("POST", "/pix-keys/check", "keys", _check_key),
    ("DELETE", "/pix-keys/{key:[^/]+}", "keys", _cancel_key),
    ("POST", "/charge", "charge", _add_charge),
    ("GET", f"/charge/{_ID}", "charge", _charge),
    ("DELETE", f"/charge/{_ID}", "charge", _delete_charge),
    ("GET", f"/charge/{_ID}/refund", "refund_read", _charge_refunds),
    ("GET", "/transaction", "payment", _transactions),
    ("GET", f"/transaction/{_ID}", "payment", _transaction),
    ("POST", "/payment", "payout", _pay),
    ("GET", "/payment", "payout_read", _payments),
    ("GET", f"/payment/{_ID}", "payout_read", _payment),
    ("POST", "/refund", "refund", _give_back),
    ("GET", "/refund", "refund_read", _refunds),
    ("GET", f"/refund/{_ID}", "refund_read", _refund),
    ("GET", "/webhook", "callbacks", _webhooks),
    ("POST", "/webhook", "callbacks", _add_webhook),
    ("DELETE", f"/webhook/{_ID}", "callbacks", _remove_webhook),
)
ROWS: Final = (
    Row("GET", f"{_API}/webhook/public-keys", "access", _public_keys, is_open=True),
    *(Row(method, _API + path, operation, run) for method, path, operation, run in _CALLS),
)
"""Every call that the adapter makes, and the list of payouts."""
