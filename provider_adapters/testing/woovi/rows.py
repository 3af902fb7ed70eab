"""The simulated Woovi's calls, one row for each, and the orders that they read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from provider_adapters.testing.bank.dialect import BankRequest, Row, below, execute, one
from provider_adapters.testing.bank.kernel import accounts, clock, listeners, state, statement
from provider_adapters.testing.bank.kernel.accounts import Account
from provider_adapters.testing.bank.kernel.books import Books
from provider_adapters.testing.bank.kernel.paging import Page, Slice, read_number
from provider_adapters.testing.bank.kernel.refusals import Code, Refusal, found, require
from provider_adapters.testing.bank.kernel.state import Kept
from provider_adapters.testing.bank.messages import Answer, Document, Fields
from provider_adapters.testing.bank.pix import (
    charges,
    destinations,
    keys,
    magic_values,
    payouts,
    received_payments,
    refunds,
)
from provider_adapters.testing.bank.pix.charges import Charge, NewCharge
from provider_adapters.testing.bank.pix.destinations import Destination
from provider_adapters.testing.bank.pix.keys import NewKey
from provider_adapters.testing.bank.pix.payouts import Order
from provider_adapters.testing.bank.pix.received_payments import Payer
from provider_adapters.testing.bank.pix.refunds import RefundOrder
from provider_adapters.testing.woovi import callbacks, documents

_CREATED: Final = 201
_DELETED: Final = 204
_MOST_ADDRESSES: Final = 1000
"""The document knows no limit; this one is our port's."""
_LARGEST_PAGE: Final = 100
_LARGEST_SKIP: Final = 10_000
_SHORTEST_CHARGE_S: Final = 300
_CHARGE_LIVES_S: Final = 2_592_000
_LONGEST_COMMENT: Final = 140
_SECOND: Final = 1_000_000
_ISPB_DIGITS: Final = 8
_ALIAS_TYPES: Final = ("CPF", "CNPJ", "EMAIL", "PHONE", "RANDOM")
_KEY_TYPES: Final = {"CNPJ": "cnpj", "EVP": "evp"}
_ACCOUNT_TYPES: Final = ("CACC", "SLRY", "SVGS", "TRAN")
_FAILING: Final[Mapping[str, str]] = {
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


def authenticate(request: BankRequest) -> Account:
    """Return the account of an AppID, which is sent raw."""
    return request.holder(request.headers.get("Authorization", ""), "appID inválido")


def _page(request: BankRequest) -> Slice:
    """Read window and position; the end belongs to the window."""
    query, whole = request.query, Slice()
    skip, limit = read_number(query, "skip", 0), read_number(query, "limit", _LARGEST_PAGE)
    require(skip <= _LARGEST_SKIP, "skip is too large")
    return Slice(
        since=clock.read(query["start"]) if "start" in query else whole.since,
        until=clock.read(query["end"]) + 1 if "end" in query else whole.until,
        limit=min(max(limit, 1), _LARGEST_PAGE),
        skip=skip,
    )


def _list(name: str, items: Sequence[Document], wanted: Slice, *, more: bool = False) -> Document:
    place = {"skip": wanted.skip, "limit": wanted.limit}
    info = {**place, "hasPreviousPage": wanted.skip > 0, "hasNextPage": more}
    return {"status": "OK", name: items, "pageInfo": info}


def _balance(request: BankRequest) -> Document:
    books, account_id = request.own
    found(True if request.path["id"] == account_id else None, "account")
    return documents.account(request.account, accounts.balance(books, account_id))


def _statement(request: BankRequest) -> Answer:
    page = statement.read(*request.own, _page(request))
    return Answer(document=[documents.movement(line) for line in page.items])


def _keys(request: BankRequest) -> Document:
    wanted, own = _page(request), keys.usable(*request.own)
    shown = [documents.key(each, is_default=place == 0) for place, each in enumerate(own)]
    return {"pixKeys": shown[wanted.skip : wanted.skip + wanted.limit]}


def _add_key(request: BankRequest) -> Document:
    body = request.body
    kind = body.choice("type", _KEY_TYPES)
    require("key" in body, "key is required")
    new = NewKey(type=kind, key=None if kind == "evp" else body.text("key"))
    made = keys.add(*request.own, new)
    return documents.key(made, is_default=len(keys.usable(*request.own)) == 1)


def _cancel_key(request: BankRequest) -> Answer:
    for place, each in enumerate(keys.usable(*request.own)):
        if each.key == request.path["key"]:
            require(place > 0, "the default Pix key cannot be deleted")
            keys.cancel(*request.own, each.id)
            return Answer(document=b"", status=_DELETED)
    raise Refusal(Code.NOT_FOUND, "Pix key not found")


def _check_key(request: BankRequest) -> Document:
    return documents.owner(destinations.look_up(request.books, request.body.text("pixKey")))


def _charge_of(request: BankRequest) -> Charge:
    """Find a charge; what a deleted one answers is stated nowhere: here it is gone."""
    charge = charges.get(*request.own, request.path["id"])
    return found(None if charge.status == "canceled" else charge, "charge")


def _shown(request: BankRequest, charge: Charge) -> Document:
    return {"charge": documents.charge(charge, request.books.clock.micros())}


def _charge(request: BankRequest) -> Document:
    return _shown(request, _charge_of(request))


def _add_charge(request: BankRequest) -> Document:
    """Make a charge, paid to the account's first key."""
    body = request.body
    dynamic = body.text("type", "DYNAMIC") == "DYNAMIC"
    require(dynamic, "the simulated bank makes dynamic charges")
    seconds = body.whole("expiresIn", _CHARGE_LIVES_S)
    require(seconds >= _SHORTEST_CHARGE_S, "expiresIn is at least 5 minutes")
    own = keys.usable(*request.own)
    require(own, "the account has no Pix key")
    payer = body.optional("customer", body.inside)
    new = NewCharge(
        reference=body.text("correlationID"),
        type="dynamic",
        key=own[0].key,
        centavos=body.centavos("value"),
        expires_in=seconds * _SECOND,
        description=body.text("comment", ""),
        payer=None
        if payer is None
        else Payer(name=payer.text("name"), tax_number=payer.text("taxID", "")),
    )
    return _shown(request, charges.add(request.books, request.account, new))


def _delete_charge(request: BankRequest) -> Document:
    gone = charges.cancel(*request.own, _charge_of(request).reference)
    return {"status": "OK", "id": gone.reference}


def _charge_refunds(request: BankRequest) -> Document:
    charge = charges.get(*request.own, request.path["id"])
    paid = received_payments.of_charge(*request.own, charge.reference)
    given = [each for one in paid for each in refunds.of_payment(request.books, one)]
    return {"refunds": [documents.charge_refund(each) for each in given]}


def _transactions(request: BankRequest) -> Document:
    """Show what came in; other types are not simulated."""
    wanted, kind = _page(request), request.query.get("type", "PAYMENT")
    page = received_payments.read(*request.own, wanted)
    if "charge" in request.query:
        of = received_payments.of_charge(*request.own, request.query["charge"])
        page = Page(of[wanted.skip :][: wanted.limit], None)
    items = [documents.transaction(each) for each in page.items] if kind == "PAYMENT" else []
    return _list("transactions", items, wanted, more=bool(items and page.cursor))


def _pay(request: BankRequest) -> Answer:
    books, account, body = request.books, request.account, request.body
    require(body.text("sourceAccountId", account.id) == account.id, "Account not found")
    # Nobody here could approve it later.
    require(body.flag("autoApprove"), "the simulated bank pays what is approved at once")
    kind = body.choice("type", ("PIX_KEY", "MANUAL"))
    to = _to_key(books, body) if kind == "PIX_KEY" else _to_account(body)
    fails = _FAILING.get(to.key or to.account or "", "")
    order = Order(
        centavos=body.centavos("value"),
        to=Destination(tax_number="", sent=to.sent, name=to.name) if fails else to,
        description=body.text("comment", ""),
        idempotency_key=body.text("correlationID"),
    )
    payouts.repeated(books, account, order)

    def accept() -> Document:
        made = payouts.accept(books, account, order)
        if fails:
            books.database.run("UPDATE payouts SET step = 'fail' WHERE id = ?", (made.id,))
            state.put(books, Kept(kind=callbacks.FAILURE, name=made.id, value=fails))
        return documents.payment(made)

    return execute(order.centavos, accept)


def _payment(request: BankRequest) -> Document:
    payout = payouts.by_key(*request.own, request.path["id"])
    return documents.payment(payout, callbacks.failure_of(request.books, payout.id))


def _payments(request: BankRequest) -> Document:
    wanted = _page(request)
    page = payouts.read(*request.own, wanted)
    shown = [documents.payment(each) for each in page.items]
    return _list("payments", shown, wanted, more=page.cursor is not None)


def _give_back(request: BankRequest) -> Answer | Document:
    body, own = request.body, request.own
    comment = body.text("comment", "")
    require(len(comment) <= _LONGEST_COMMENT, "comment must have at most 140 characters")
    order = RefundOrder(
        payment_e2e_id=body.text("transactionEndToEndId"),
        centavos=body.centavos("value"),
        idempotency_key=body.text("correlationID"),
        description=comment,
    )
    known = refunds.repeated(*own, order)
    if known:
        return {"refund": documents.refund(known)}
    return execute(
        order.centavos, lambda: {"refund": documents.refund(refunds.accept(*own, order))}
    )


def _refunds(request: BankRequest) -> Document:
    wanted = _page(request)
    page = refunds.read(*request.own, wanted)
    shown = [documents.refund(each) for each in page.items]
    return _list("refunds", shown, wanted, more=page.cursor is not None)


def _webhooks_of(request: BankRequest) -> dict[str, dict[str, object]]:
    kept = state.of_account(request.books, callbacks.WEBHOOK, request.account.id)
    return {each.name: {**json.loads(each.value), "id": each.name} for each in kept}


def _webhooks(request: BankRequest) -> Document:
    url = request.query.get("url")
    known = [each for each in _webhooks_of(request).values() if url in {None, each["url"]}]
    return _list("webhooks", known, Slice(limit=100))


def _add_webhook(request: BankRequest) -> Document:
    """Register an address for one event; the bank makes the secret, and shows it to people."""
    books, account_id = request.own
    asked = request.body.inside("webhook")
    event, url = asked.text("event", "OPENPIX:TRANSACTION_RECEIVED"), asked.text("url")
    made = listeners.add(books, account_id, url, books.random_hex(16), _MOST_ADDRESSES)
    name = documents.global_id("Webhook", f"{made.id}:{event}")
    kept = {"url": url, "event": event, "name": asked.text("name", ""), "isActive": True}
    value = json.dumps(kept)
    state.put(books, Kept(kind=callbacks.WEBHOOK, name=name, value=value, account_id=account_id))
    return {"webhook": {**kept, "id": name}}


def _remove_webhook(request: BankRequest) -> Document:
    known = _webhooks_of(request)
    gone = found(known.pop(request.path["id"], None), "webhook")
    state.remove(request.books, callbacks.WEBHOOK, request.path["id"])
    if gone["url"] not in {each["url"] for each in known.values()}:
        for listener in listeners.of(*request.own):
            if listener.url == gone["url"]:
                listeners.remove(*request.own, listener.id)
    return {"status": "OK"}


def _public_keys(request: BankRequest) -> Document:
    """Show the keys that callbacks are signed with, the one in force first."""
    shown = [
        {"key_identifier": name, "is_current": place == 0, "key": pem}
        for place, (name, pem) in enumerate(callbacks.public_keys(request.books))
    ]
    return {"public_keys": shown}


def _to_key(books: Books, body: Fields) -> Destination:
    """Read a destination by key; the order tells no tax number, the directory knows it."""
    alias, kind = body.text("destinationAlias"), body.choice("destinationAliasType", _ALIAS_TYPES)
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
    tax_number, kind = number.text("taxID"), number.choice("type", ("BR:CPF", "BR:CNPJ"))
    where = {"branch": place.text("branch"), "account": place.text("account")}
    sent = {
        "type": "MANUAL",
        "holder": {"name": name, "taxID": {"taxID": tax_number, "type": kind}},
        "account": {**where, "accountType": place.choice("accountType", _ACCOUNT_TYPES)},
        "psp": {"id": psp, "name": "Outro Banco S.A."},
    }
    return Destination(**where, bank=psp, name=name, tax_number=tax_number, sent=json.dumps(sent))


_ID: Final = "{id:[^/]+}"
_TRANSACTION: Final = one(
    received_payments.by_e2e_id, "id", lambda paid: {"transaction": documents.transaction(paid)}
)
_REFUND: Final = one(
    refunds.by_key, "id", lambda made: {"pixTransactionRefund": documents.refund(made)}
)
ROWS: Final = below(
    "/api/v1",
    Row("GET", "/webhook/public-keys", "access", _public_keys, is_open=True),
    Row("GET", f"/account/{_ID}", "balance", _balance),
    Row("GET", "/statement", "statement", _statement),
    Row("GET", "/pix-keys", "keys", _keys),
    Row("POST", "/pix-keys", "keys", _add_key, status=_CREATED),
    Row("POST", "/pix-keys/check", "keys", _check_key),
    Row("DELETE", "/pix-keys/{key:[^/]+}", "keys", _cancel_key),
    Row("POST", "/charge", "charge", _add_charge),
    Row("GET", f"/charge/{_ID}", "charge", _charge),
    Row("DELETE", f"/charge/{_ID}", "charge", _delete_charge),
    Row("GET", f"/charge/{_ID}/refund", "refund_read", _charge_refunds),
    Row("GET", "/transaction", "payment", _transactions),
    Row("GET", f"/transaction/{_ID}", "payment", _TRANSACTION),
    Row("POST", "/payment", "payout", _pay),
    Row("GET", "/payment", "payout_read", _payments),
    Row("GET", f"/payment/{_ID}", "payout_read", _payment),
    Row("POST", "/refund", "refund", _give_back),
    Row("GET", "/refund", "refund_read", _refunds),
    Row("GET", f"/refund/{_ID}", "refund_read", _REFUND),
    Row("GET", "/webhook", "callbacks", _webhooks),
    Row("POST", "/webhook", "callbacks", _add_webhook),
    Row("DELETE", f"/webhook/{_ID}", "callbacks", _remove_webhook),
)
"""Every call that the adapter makes, and the list of payouts."""
