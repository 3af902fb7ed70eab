"""
Asaas as a simulated bank, with the field names of asaasdev/asaas-api-sdk-java 0641522.

``ASAAS`` refuses a second transfer of the same value to the same destination within 15 minutes,
as the bank does. ``ASAAS_WITH_TWINS`` does not: tests that pay the same again and again use it.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date
from typing import Final

from provider_adapters.testing.bank import (
    accounts,
    callbacks,
    charges,
    keys,
    payouts,
    received_payments,
)
from provider_adapters.testing.bank.books import BankIdentity, Books, Slice, read_number
from provider_adapters.testing.bank.callbacks import Callback, Event, EventKind, Listener
from provider_adapters.testing.bank.clock import day_of, local_time, midnight, read_day
from provider_adapters.testing.bank.dialect import (
    Admission,
    BankRequest,
    Dialect,
    Row,
    Simulator,
    below,
    execute,
    one,
    subject_of,
)
from provider_adapters.testing.bank.keys import Destination
from provider_adapters.testing.bank.messages import (
    Answer,
    Code,
    Document,
    Fields,
    Refusal,
    fields,
    found,
    require,
)
from provider_adapters.testing.bank.received_payments import Payer, Payment

_UNAUTHORIZED: Final = "invalid_access_token"
_WORDS: Final = frozenset({_UNAUTHORIZED, "access_token_not_found", "invalid_value"})
"""Refusals whose text is the bank's own code; all others are one that says nothing."""
_TWINS_APART: Final = 15 * 60_000_000
"""docs.asaas.com/docs/transfers-1."""
_YEAR: Final = 366
_MOST: Final = 500
_LARGEST_PAGE: Final = 100
_LAST_DAY: Final = date(9000, 1, 1)
_CUSTOMER: Final = "customer document"
_KEY_TYPES: Final = ("CPF", "CNPJ", "EMAIL", "PHONE", "EVP")
_TOKEN_LENGTHS: Final = range(32, 256)
_KEY_STATUSES: Final = {
    "active": "ACTIVE",
    "pending": "AWAITING_ACTIVATION",
    "canceled": "DELETED",
}
_KINDS: Final = {
    "pix_out": "PIX_TRANSACTION_DEBIT",
    "pix_returned": "PIX_TRANSACTION_DEBIT_REFUND",
    "pix_refund": "PIX_TRANSACTION_CREDIT_REFUND",
    "fee": "PIX_TRANSACTION_DEBIT_FEE",
    "ted_out": "TRANSFER",
    "ted_in": "CREDIT",
    "boleto_out": "BILL_PAYMENT",
    "boleto_in": "PAYMENT_RECEIVED",
}
_TRANSFER_STATUSES: Final = {
    "processing": "PENDING",
    "settled": "DONE",
    "returned": "DONE",
    "failed": "FAILED",
}


def reais(centavos: int) -> float:
    """Write an amount; two decimals of at most 15 digits are exact in JSON."""
    return centavos / 100


def moment(micros: int | None) -> str | None:
    """Write an instant to the second, in the bank's zone and without saying so."""
    return None if micros is None else local_time(micros, " ")


def read_slice(query: Mapping[str, str], since: str = "", until: str = "") -> Slice:
    """Read offset and limit, and the days named by two parameters, the last one included."""
    skip, limit = read_number(query, "offset", 0), read_number(query, "limit", 10)
    require(1 <= limit <= _LARGEST_PAGE, f"limit is 1 to {_LARGEST_PAGE}")
    whole = Slice()
    first = midnight(read_day(query[since])) if since in query else whole.since
    last = midnight(min(read_day(query[until]), _LAST_DAY), 1) if until in query else whole.until
    return Slice(since=first, until=last, limit=limit, skip=skip)


def _listing(rows: Sequence[Document], wanted: Slice, *, more: bool) -> Document:
    return {"hasMore": more, "totalCount": wanted.skip + len(rows) + more, "data": rows}


def cut(rows: Sequence[Document], wanted: Slice) -> Document:
    """Show a page of a short list."""
    end = wanted.skip + wanted.limit
    return _listing(rows[wanted.skip : end], wanted, more=len(rows) > end)


def _balance(request: BankRequest) -> Document:
    return {"balance": reais(accounts.balance(*request.own).available)}


def _statement(request: BankRequest) -> Document:
    """List movements, newest first; the bank's usual order is the other one."""
    require(request.query.get("order") == "desc", "the simulated bank lists the newest first")
    wanted = read_slice(request.query, "startDate", "finishDate")
    page = accounts.statement(*request.own, wanted)
    rows = [_movement(request, line) for line in page.items]
    return _listing(rows, wanted, more=page.cursor is not None)


def _movement(request: BankRequest, line: accounts.Entry) -> Document:
    """Show a movement; the charge of a movement names its means of payment."""
    own, charge_id = request.own, f"pay_{line.seq}" if line.kind == "boleto_in" else None
    if line.kind == "pix_in" and line.e2e_id:
        reference = received_payments.by_e2e_id(*own, line.e2e_id).reference
        charge_id = charges.get(*own, reference).id if reference else None
    received = "PAYMENT_RECEIVED" if charge_id else "PIX_TRANSACTION_CREDIT"
    return {
        "id": accounts.line_number(line.seq),
        "value": reais(line.centavos),
        "type": _KINDS.get(line.kind, received),
        "date": day_of(line.at),
        "description": line.description,
        "paymentId": charge_id,
    }


def _keys(request: BankRequest) -> Document:
    rows = [_key(each) for each in keys.list_all(*request.own)]
    return cut(rows, read_slice(request.query))


def _key(record: keys.Key) -> Document:
    return {
        **fields(record, "id", "key"),
        "type": record.type.upper(),
        "status": _KEY_STATUSES[record.status],
        "dateCreated": moment(record.created_at),
    }


def _add_key(request: BankRequest) -> Document:
    request.body.choice("type", ("EVP",))
    return _key(keys.add(*request.own, keys.NewKey(type="evp", key=None)))


def _known_customers(request: BankRequest) -> dict[str, Document]:
    kept = request.books.kept_of(_CUSTOMER, request.account.id)
    return {each.name: json.loads(each.value) for each in kept}


def _customer_of(request: BankRequest, payer: Payer) -> Document:
    """Show who is asked to pay, and keep it."""
    books, account_id = request.own
    name = f"cus_{account_id}_{payer.tax_number}"
    shown = {"id": name, "name": payer.name, "cpfCnpj": payer.tax_number}
    value = json.dumps(shown)
    books.keep(_CUSTOMER, name, value, account_id=account_id)
    return shown


def _customers(request: BankRequest) -> Document:
    wanted = request.query.get("cpfCnpj")
    rows = [each for each in _known_customers(request).values() if each["cpfCnpj"] == wanted]
    return cut(rows, read_slice(request.query))


def _customer(request: BankRequest) -> Document:
    return found(_known_customers(request).get(request.path["id"]), _CUSTOMER)


def _add_customer(request: BankRequest) -> Document:
    name, tax_number = request.body.text("name"), request.body.text("cpfCnpj")
    return _customer_of(request, Payer(name=name, tax_number=tax_number))


def _charge(request: BankRequest, record: charges.Charge) -> Document:
    """Show a charge; one that was removed keeps its status and says so beside it."""
    paid = charges.payment(request.books, record)
    return {
        "id": record.id,
        "dateCreated": day_of(record.created_at),
        "customer": record.payer and _customer_of(request, record.payer)["id"],
        "value": reais(record.centavos or 0),
        "status": "RECEIVED" if paid else "PENDING",
        "paymentDate": day_of(paid.at) if paid else None,
        "externalReference": record.reference,
        "pixTransaction": f"pix-{paid.e2e_id}" if paid else None,
        "deleted": record.status == "canceled",
    }


def _charges(request: BankRequest) -> Document:
    """List charges of one reference, or charges paid on some days."""
    own, query = request.own, request.query
    if "externalReference" in query:
        wanted = query["externalReference"]
        listed = [each for each in charges.list_all(*own) if each.reference == wanted]
    else:
        days = read_slice(query, "paymentDate[ge]", "paymentDate[le]")
        paid = [(each, charges.payment(request.books, each)) for each in charges.list_all(*own)]
        listed = [each for each, by in paid if by and days.since <= by.at < days.until]
    return cut([_charge(request, each) for each in listed], read_slice(query))


def _add_charge(request: BankRequest) -> Document:
    body, books, own = request.body, request.books, keys.usable(*request.own)
    body.choice("billingType", ("PIX",))
    ends = midnight(read_day(body.text("dueDate")), _YEAR)
    customer = _known_customers(request).get(body.text("customer"))
    require(customer and own, "a customer and a key come first")
    payer = Fields(customer or {})
    new = charges.NewCharge(
        reference=body.text("externalReference"),
        type="dynamic",
        key=own[0].key,
        centavos=body.reais("value"),
        expires_in=ends - books.clock.micros(),
        description=body.text("description", ""),
        payer=Payer(name=payer.text("name"), tax_number=payer.text("cpfCnpj")),
    )
    return _charge(request, charges.add(books, request.account, new))


def _qr_code(record: charges.Charge) -> Document:
    require(record.status == "active", "nothing to be paid")
    return {"payload": record.emv, "expirationDate": moment(record.expires_at)}


def _cancel_charge(request: BankRequest) -> Document:
    charge = charges.by_id(*request.own, request.path["id"])
    require(charge.status != "paid", "the charge is paid")
    charges.cancel(*request.own, charge.reference)
    return {"deleted": True, "id": charge.id}


def _received(record: Payment) -> Document:
    payer = record.payer
    return {
        "id": f"pix-{record.e2e_id}",
        **fields(record, endToEndIdentifier="e2e_id", externalReference="reference"),
        "value": reais(record.centavos),
        "refundedValue": reais(record.refunded),
        "effectiveDate": moment(record.at),
        "dateCreated": moment(record.at),
        "status": "DONE",
        "type": "CREDIT",
        "description": payer.message if payer else None,
        "externalAccount": payer and fields(payer, "name", cpfCnpj="tax_number"),
    }


def _transactions(request: BankRequest) -> Document:
    """List incoming payments, or an end-to-end id's; outgoing ones are not simulated."""
    query, wanted = request.query, read_slice(request.query)
    require(query.get("type") == "CREDIT", "the simulated bank lists what came in")
    if "endToEndIdentifier" not in query:
        page = received_payments.read(*request.own, wanted)
        rows = [_received(each) for each in page.items]
        return _listing(rows, wanted, more=page.cursor is not None)
    rows = []
    with suppress(Refusal):
        e2e_id = query["endToEndIdentifier"]
        rows.append(_received(received_payments.by_e2e_id(*request.own, e2e_id)))
    return cut(rows, wanted)


def _transaction(request: BankRequest) -> Document:
    e2e_id = request.path["id"].removeprefix("pix-")
    return _received(received_payments.by_e2e_id(*request.own, e2e_id))


def _transfer(record: payouts.Payout) -> Document:
    status = "BLOCKED" if record.analysed_until else _TRANSFER_STATUSES[record.state]
    return {
        **fields(record, "id", endToEndIdentifier="e2e_id", externalReference="idempotency_key"),
        "value": reais(record.paid),
        "status": status,
        "effectiveDate": moment(record.settled_at),
        "bankAccount": json.loads(record.to.sent),
    }


def _order(request: BankRequest) -> payouts.Order:
    body = request.body
    body.choice("operationType", ("PIX",), "PIX")
    if "value" not in body:
        raise Refusal(Code.INVALID_REQUEST, "invalid_value")
    return payouts.Order(
        centavos=body.reais("value"),
        to=_to_key(request) if "pixAddressKey" in body else _to_account(body.inside("bankAccount")),
        description=body.text("description", ""),
        idempotency_key=body.text("externalReference", "") or None,
    )


def _to_key(request: BankRequest) -> Destination:
    """Read a key; the order does not name its owner, so the directory is not queried."""
    body, books = request.body, request.books
    given, kind = body.text("pixAddressKey"), body.choice("pixAddressKeyType", _KEY_TYPES)
    key = f"+55{given}" if kind == "PHONE" else given
    held = keys.active(books, key)
    owner = accounts.get(books, held.account_id).tax_number if held else ""
    return Destination(tax_number=owner, sent=json.dumps({"pixAddressKey": given}), key=key)


def _to_account(account: Fields) -> Destination:
    account.choice("bankAccountType", ("CONTA_CORRENTE", "CONTA_POUPANCA"))
    bank = account.inside("bank").text("code")
    place = {name: account.text(name) for name in ("agency", "account", "accountDigit")}
    return Destination(
        tax_number=account.text("cpfCnpj"),
        sent=json.dumps({"bank": {"code": bank}, "pixAddressKey": None, **place}),
        name=account.text("ownerName"),
        bank=bank,
        branch=place["agency"],
        account=f"{place['account']}-{place['accountDigit']}",
    )


def _pay_out(request: BankRequest) -> Answer:
    books, account, order = request.books, request.account, _order(request)
    return execute(order.centavos, lambda: _transfer(payouts.accept(books, account, order)))


def _pay_out_once(request: BankRequest) -> Answer:
    """Pay unless the same amount went to the same payee a moment ago, by any reference."""
    order, since = _order(request), request.books.clock.micros() - _TWINS_APART
    for each in payouts.read(*request.own, Slice(since=since, limit=_MOST)).items:
        if (each.centavos, each.to.sent) == (order.centavos, order.to.sent):
            raise Refusal(Code.DUPLICATE, "identical to another transfer")
    return _pay_out(request)


def _webhooks(request: BankRequest) -> Document:
    rows = [fields(each, "id", "url") for each in callbacks.listeners(*request.own)]
    return cut(rows, read_slice(request.query))


def _add_webhook(request: BankRequest) -> Document:
    token = request.body.text("authToken")
    is_one = len(token) in _TOKEN_LENGTHS and " " not in token
    require(is_one, "authToken has 32 to 255 characters and no space")
    url, secret = request.body.text("url"), token.encode().hex()
    return fields(callbacks.register(*request.own, url, secret), "id", "url")


def _remove_webhook(request: BankRequest) -> Document:
    return {"deleted": True, "id": callbacks.remove(*request.own, request.path["id"]).id}


def _authenticate(request: BankRequest) -> accounts.Account:
    """Return the account of the key; a GET has no body (docs.asaas.com, HTTP response codes)."""
    token = request.headers.get("access_token", "")
    if not token:
        raise Refusal(Code.UNAUTHORIZED, "access_token_not_found")
    account = request.holder(token, _UNAUTHORIZED)
    if request.method == "GET" and request.raw:
        raise Refusal(Code.NOT_ALLOWED, "a GET has no body")
    return account


def _admit(books: Books, _: accounts.Account, given: Fields) -> Admission:
    token = given.text("token", "") or f"$aact_hmlg_{books.random_hex(24)}"
    return Admission(token=token, credentials={"api_key": token})


def _refusal(problem: Refusal) -> Answer:
    """Show a refusal; 404, 429 and a failure have no words."""
    status = int(problem.status)
    if problem.code is Code.TOO_MANY_REQUESTS:
        headers = {"RateLimit-Limit": "100", "RateLimit-Remaining": "0", "RateLimit-Reset": "30"}
        return Answer(document=b"", status=status, headers=headers)
    if problem.code in {Code.NOT_FOUND, Code.METHOD_NOT_ALLOWED, Code.INTERNAL}:
        return Answer(document=b"", status=status)
    unlisted = _UNAUTHORIZED if problem.code is Code.UNAUTHORIZED else "invalid_action"
    code = problem.message if problem.message in _WORDS else unlisted
    said = [{"code": code, "description": "A requisição foi recusada"}]
    return Answer(document={"errors": said}, status=status)


def _callback(books: Books, event: Event, to: Listener) -> Callback | None:
    """Write an event with the token of its address; returns are not reported."""
    match event.kind, subject_of(books, event):
        case EventKind.PAYOUT, payouts.Payout() as payout:
            shown = _transfer(payout)
            said = {"event": f"TRANSFER_{shown['status']}", "transfer": shown}
        case EventKind.PAYOUT, _:  # what a test says of a payout that is not there yet
            shown = {"id": "", "externalReference": event.subject, "status": "PENDING"}
            said = {"event": "TRANSFER_PENDING", "transfer": shown}
        case EventKind.CHARGE, paid:  # older files, and tests, name the charge itself
            reference = paid.reference if isinstance(paid, Payment) else event.subject
            payment = {"id": "", "externalReference": reference}
            said = {"event": "PAYMENT_RECEIVED", "payment": payment}
        case _:
            return None
    body = json.dumps({"id": event.id, **said}, ensure_ascii=False).encode()
    headers = {"asaas-access-token": bytes.fromhex(to.secret).decode()}
    return Callback(url=to.url, body=body, headers=headers)


_OTHERS: Final = below(
    "/v3",
    Row("GET", "/finance/balance", "balance", _balance),
    Row("GET", "/financialTransactions", "statement", _statement),
    Row("GET", "/pix/addressKeys", "keys", _keys),
    Row("POST", "/pix/addressKeys", "keys", _add_key),
    Row("DELETE", "/pix/addressKeys/{id:[^/]+}", "keys", one(keys.cancel, "id", _key)),
    Row("GET", "/customers", "charge", _customers),
    Row("POST", "/customers", "charge", _add_customer),
    Row("GET", "/customers/{id:[^/]+}", "charge", _customer),
    Row("GET", "/payments", "charge", _charges),
    Row("POST", "/payments", "charge", _add_charge),
    Row("GET", "/payments/{id:[^/]+}/pixQrCode", "charge", one(charges.by_id, "id", _qr_code)),
    Row("DELETE", "/payments/{id:[^/]+}", "charge", _cancel_charge),
    Row("GET", "/pix/transactions", "payment", _transactions),
    Row("GET", "/pix/transactions/{id:[^/]+}", "payment", _transaction),
    Row("GET", "/transfers/{id:[^/]+}", "payout_read", one(payouts.get, "id", _transfer)),
    Row("GET", "/webhooks", "callbacks", _webhooks),
    Row("POST", "/webhooks", "callbacks", _add_webhook),
    Row("DELETE", "/webhooks/{id:[^/]+}", "callbacks", _remove_webhook),
)
_TRANSFERS: Final = "/v3/transfers"
ASAAS: Final = Dialect(
    identity=BankIdentity(
        name="Asaas IP S.A.", ispb="19540550", compe="461", host="pix.asaas.example"
    ),
    rows=(*_OTHERS, Row("POST", _TRANSFERS, "payout", _pay_out_once)),
    authenticate=_authenticate,
    refusal=_refusal,
    payout=_transfer,
    callback=_callback,
    admit=_admit,
    payout_kind=accounts.PayoutKind.NONE,
    secret_headers=frozenset({"access_token"}),
)
ASAAS_WITH_TWINS: Final = dataclasses.replace(
    ASAAS, rows=(*_OTHERS, Row("POST", _TRANSFERS, "payout", _pay_out))
)
SIMULATORS: Final = {
    "asaas": Simulator(adapter="asaas", dialect=ASAAS, tells_returns=False),
}
