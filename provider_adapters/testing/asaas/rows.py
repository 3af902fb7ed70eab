"""The simulated bank's calls."""

from __future__ import annotations

import dataclasses
import json
from typing import Final

from provider_adapters.testing.asaas import documents
from provider_adapters.testing.asaas.documents import read_slice
from provider_adapters.testing.bank.dialect import BankRequest, Row
from provider_adapters.testing.bank.kernel import (
    accounts,
    listeners,
    refusals,
    state,
    statement,
)
from provider_adapters.testing.bank.kernel.accounts import Account
from provider_adapters.testing.bank.kernel.books import Books
from provider_adapters.testing.bank.kernel.paging import Slice
from provider_adapters.testing.bank.kernel.refusals import Code, Refusal
from provider_adapters.testing.bank.kernel.state import Kept
from provider_adapters.testing.bank.messages import Answer, Document, Fields
from provider_adapters.testing.bank.pix import (
    charges,
    keys,
    magic_values,
    payouts,
    received_payments,
)
from provider_adapters.testing.bank.pix.destinations import Destination
from provider_adapters.testing.bank.pix.received_payments import Payer

_MINUTE: Final = 60_000_000
_TWINS_APART: Final = 15 * _MINUTE
"""docs.asaas.com/docs/transfers-1."""
_YEAR: Final = 366 * 24 * 60 * _MINUTE
_MOST: Final = 500
_KEY_TYPES: Final = {each: each.lower() for each in ("CPF", "CNPJ", "EMAIL", "PHONE", "EVP")}
_ACCOUNT_TYPES: Final = {each: each for each in ("CONTA_CORRENTE", "CONTA_POUPANCA")}
_PIX: Final = {"PIX": "PIX"}
_TOKEN_LENGTHS: Final = range(32, 256)


def _balance(request: BankRequest) -> Answer:
    held = accounts.balance(request.books, request.account.id)
    return Answer(document={"balance": documents.reais(held.available)})


def _statement(request: BankRequest) -> Answer:
    """List movements, oldest first unless asked otherwise."""
    wanted = read_slice(request.query, "startDate", "finishDate")
    books, account = request.books, request.account

    def show(line: statement.Entry) -> Document:
        paid = line.e2e_id if line.kind == "pix_in" else None
        reference = paid and received_payments.by_e2e_id(books, account.id, paid).reference
        charge = reference and charges.get(books, account.id, reference).id
        return documents.entry(line, charge or None)

    if request.query.get("order") == "desc":
        page = statement.read(books, account.id, wanted)
        return Answer(document=documents.listing(page, show, wanted))
    whole = dataclasses.replace(wanted, limit=_MOST, skip=0)
    rows = [show(line) for line in reversed(statement.read(books, account.id, whole).items)]
    return Answer(document=documents.cut(rows, wanted))


def _keys(request: BankRequest) -> Answer:
    rows = [documents.key(each) for each in keys.list_all(request.books, request.account.id)]
    return Answer(document=documents.cut(rows, read_slice(request.query)))


def _add_key(request: BankRequest) -> Answer:
    request.body.choice("type", {"EVP": "evp"})
    made = keys.add(request.books, request.account.id, keys.NewKey(type="evp", key=None))
    return Answer(document=documents.key(made))


def _key(request: BankRequest) -> Answer:
    found = keys.get(request.books, request.account.id, request.path["id"])
    return Answer(document=documents.key(found))


def _cancel_key(request: BankRequest) -> Answer:
    gone = keys.cancel(request.books, request.account.id, request.path["id"])
    return Answer(document=documents.key(gone))


def _customer_id(books: Books, account: Account, payer: Payer | None) -> str | None:
    """Return the customer who is asked to pay, noted when first seen."""
    if payer is None:
        return None
    name = f"cus_{account.id}_{payer.tax_number}"
    if state.find(books, "customer", name) is None:
        value = json.dumps({"name": payer.name, "tax_number": payer.tax_number})
        state.put(books, Kept(kind="customer", name=name, value=value, account_id=account.id))
    return name


def _shown_customer(kept: Kept) -> Document:
    return documents.customer(kept.name, Payer(**json.loads(kept.value)))


def _customers(request: BankRequest) -> Answer:
    found = state.of_account(request.books, "customer", request.account.id)
    rows = [_shown_customer(each) for each in found]
    wanted = request.query.get("cpfCnpj")
    rows = [row for row in rows if wanted in {None, row["cpfCnpj"]}]
    return Answer(document=documents.cut(rows, read_slice(request.query)))


def _customer(request: BankRequest) -> Answer:
    kept = state.find(request.books, "customer", request.path["id"])
    if kept is None or kept.account_id != request.account.id:
        what = "customer"
        raise refusals.not_found(what)
    return Answer(document=_shown_customer(kept))


def _add_customer(request: BankRequest) -> Answer:
    body = request.body
    payer = Payer(name=body.text("name"), tax_number=body.text("cpfCnpj"))
    made = _customer_id(request.books, request.account, payer) or ""
    return Answer(document=documents.customer(made, payer))


def _shown_charge(books: Books, account: Account, charge: charges.Charge) -> Document:
    """Show a charge, and note by which id it was shown."""
    kept = Kept(kind="charge", name=charge.id, value=charge.reference, account_id=account.id)
    state.put(books, kept)
    paid = received_payments.latest(books, account.id, charge.reference)
    return documents.charge(charge, _customer_id(books, account, charge.payer), paid)


def _charge_of(request: BankRequest) -> charges.Charge:
    """Find a charge by the bank's id."""
    kept = state.find(request.books, "charge", request.path["id"])
    if kept is None or kept.account_id != request.account.id:
        what = "charge"
        raise refusals.not_found(what)
    return charges.get(request.books, request.account.id, kept.value)


def _charges(request: BankRequest) -> Answer:
    """List charges of one reference, or those that were paid on some days."""
    books, account, query = request.books, request.account, request.query
    if "externalReference" in query:
        found = [
            each
            for each in charges.anywhere(books, query["externalReference"])
            if each.account_id == account.id
        ]
    else:
        paid = read_slice(query, "paymentDate[ge]", "paymentDate[le]")
        whole = dataclasses.replace(paid, limit=_MOST, skip=0)
        received = received_payments.read(books, account.id, whole).items
        references = [each.reference for each in received if each.reference]
        found = [charges.get(books, account.id, each) for each in references]
    rows = [_shown_charge(books, account, each) for each in found]
    return Answer(document=documents.cut(rows, read_slice(query)))


def _add_charge(request: BankRequest) -> Answer:
    body, books, account = request.body, request.books, request.account
    kept = state.find(books, "customer", body.text("customer"))
    own = [each.key for each in keys.list_all(books, account.id) if each.status == "active"]
    body.choice("billingType", _PIX)
    due = documents.midnight(body.text("dueDate"))
    if kept is None or kept.account_id != account.id or not own:
        message = "a customer and a key come first"
        raise refusals.invalid(message)
    made = charges.add(
        books,
        account,
        charges.NewCharge(
            reference=body.text("externalReference"),
            type="dynamic",
            key=own[0],
            centavos=body.reais("value"),
            expires_in=due + _YEAR - books.clock.micros(),
            description=body.text("description", ""),
            payer=Payer(**json.loads(kept.value)),
        ),
    )
    return Answer(document=_shown_charge(books, account, made))


def _qr_code(request: BankRequest) -> Answer:
    found = _charge_of(request)
    if found.status != "active":
        raise Refusal(Code.CHARGE_PAID, "nothing to be paid", status=400)
    return Answer(document=documents.qr_code(found))


def _cancel_charge(request: BankRequest) -> Answer:
    found = _charge_of(request)
    if found.status == "paid":
        raise Refusal(Code.CHARGE_PAID, "the charge is paid", status=400)
    charges.cancel(request.books, request.account.id, found.reference)
    return Answer(document={"deleted": True, "id": found.id})


def _transactions(request: BankRequest) -> Answer:
    """List what came in; what went out is not asked for."""
    request_type, e2e_id = request.query.get("type"), request.query.get("endToEndIdentifier")
    wanted = read_slice(request.query)
    if request_type != "CREDIT":
        return Answer(document=documents.cut([], wanted))
    if e2e_id is None:
        page = received_payments.read(request.books, request.account.id, wanted)
        return Answer(document=documents.listing(page, documents.transaction, wanted))
    try:
        found = [received_payments.by_e2e_id(request.books, request.account.id, e2e_id)]
    except Refusal:
        found = []
    return Answer(document=documents.cut([documents.transaction(each) for each in found], wanted))


def _transaction(request: BankRequest) -> Answer:
    e2e_id = request.path["id"].removeprefix(documents.transaction_id(""))
    found = received_payments.by_e2e_id(request.books, request.account.id, e2e_id)
    return Answer(document=documents.transaction(found))


def _order(request: BankRequest) -> payouts.Order:
    """Read the order of a transfer."""
    body = request.body
    body.choice("operationType", _PIX, "PIX")
    if "value" not in body:
        raise Refusal(Code.INVALID_REQUEST, "invalid_value")
    return payouts.Order(
        centavos=body.reais("value"),
        to=_destination(request.books, body),
        description=body.text("description", ""),
        idempotency_key=body.text("externalReference", "") or None,
    )


def _destination(books: Books, body: Fields) -> Destination:
    """Read where it goes; this bank is not told whose a key is, so it asks nobody."""
    if "pixAddressKey" in body:
        given, kind = body.text("pixAddressKey"), body.choice("pixAddressKeyType", _KEY_TYPES)
        key = f"+55{given}" if kind == "phone" else given
        held = keys.active(books, key)
        owner = accounts.get(books, held.account_id).tax_number if held else ""
        return Destination(tax_number=owner, sent=json.dumps({"pixAddressKey": given}), key=key)
    account = body.inside("bankAccount")
    account.choice("bankAccountType", _ACCOUNT_TYPES)
    bank = account.inside("bank").text("code")
    number, digit = account.text("account"), account.text("accountDigit")
    place = {"agency": account.text("agency"), "account": number, "accountDigit": digit}
    return Destination(
        tax_number=account.text("cpfCnpj"),
        sent=json.dumps({"bank": {"code": bank}, "pixAddressKey": None, **place}),
        name=account.text("ownerName"),
        bank=bank,
        branch=place["agency"],
        account=f"{number}-{digit}",
    )


def _pay_out(request: BankRequest) -> Answer:
    order = _order(request)
    fault = magic_values.on_the_wire(order.centavos)
    if fault and not fault.executes:
        return Answer(document={}, fault=fault)
    made = payouts.accept(request.books, request.account, order)
    return Answer(document=documents.transfer(made), fault=fault)


def _pay_out_once(request: BankRequest) -> Answer:
    """Pay unless the same went to the same place a moment ago, whatever the reference."""
    order = _order(request)
    since = request.books.clock.micros() - _TWINS_APART
    before = payouts.read(request.books, request.account.id, Slice(since=since, limit=_MOST))
    for each in before.items:
        if (each.centavos, each.to.sent) == (order.centavos, order.to.sent):
            raise Refusal(Code.DUPLICATE, "identical to another transfer")
    return _pay_out(request)


def _transfer(request: BankRequest) -> Answer:
    found = payouts.get(request.books, request.account.id, request.path["id"])
    return Answer(document=documents.transfer(found))


def _webhooks(request: BankRequest) -> Answer:
    found = listeners.of(request.books, request.account.id)
    rows = [documents.webhook(each) for each in found]
    return Answer(document=documents.cut(rows, read_slice(request.query)))


def _add_webhook(request: BankRequest) -> Answer:
    token = request.body.text("authToken")
    if len(token) not in _TOKEN_LENGTHS or " " in token:
        message = "authToken has 32 to 255 characters and no space"
        raise refusals.invalid(message)
    url, secret = request.body.text("url"), token.encode().hex()
    made = listeners.add(request.books, request.account.id, url, secret)
    return Answer(document=documents.webhook(made))


def _remove_webhook(request: BankRequest) -> Answer:
    gone = listeners.remove(request.books, request.account.id, request.path["id"])
    return Answer(document={"deleted": True, "id": gone.id})


_KEY: Final = "/v3/pix/addressKeys/{id:[^/]+}"
_OTHERS: Final = (
    Row("GET", "/v3/finance/balance", "balance", _balance),
    Row("GET", "/v3/financialTransactions", "statement", _statement),
    Row("GET", "/v3/pix/addressKeys", "keys", _keys),
    Row("POST", "/v3/pix/addressKeys", "keys", _add_key),
    Row("GET", _KEY, "keys", _key),
    Row("DELETE", _KEY, "keys", _cancel_key),
    Row("GET", "/v3/customers", "charge", _customers),
    Row("POST", "/v3/customers", "charge", _add_customer),
    Row("GET", "/v3/customers/{id:[^/]+}", "charge", _customer),
    Row("GET", "/v3/payments", "charge", _charges),
    Row("POST", "/v3/payments", "charge", _add_charge),
    Row("GET", "/v3/payments/{id:[^/]+}/pixQrCode", "charge", _qr_code),
    Row("DELETE", "/v3/payments/{id:[^/]+}", "charge", _cancel_charge),
    Row("GET", "/v3/pix/transactions", "payment", _transactions),
    Row("GET", "/v3/pix/transactions/{id:[^/]+}", "payment", _transaction),
    Row("GET", "/v3/transfers/{id:[^/]+}", "payout_read", _transfer),
    Row("GET", "/v3/webhooks", "callbacks", _webhooks),
    Row("POST", "/v3/webhooks", "callbacks", _add_webhook),
    Row("DELETE", "/v3/webhooks/{id:[^/]+}", "callbacks", _remove_webhook),
)
_TRANSFERS: Final = "/v3/transfers"
ROWS: Final = (*_OTHERS, Row("POST", _TRANSFERS, "payout", _pay_out_once))
"""Every call, as the bank has it."""
ROWS_WITH_TWINS: Final = (*_OTHERS, Row("POST", _TRANSFERS, "payout", _pay_out))
"""The same, and the same order may come again at once."""
