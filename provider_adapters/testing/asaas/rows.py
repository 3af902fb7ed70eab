"""The simulated bank's calls."""

from __future__ import annotations

import dataclasses
import json
from typing import Final

from provider_adapters.testing.asaas import documents
from provider_adapters.testing.asaas.documents import read_slice
from provider_adapters.testing.bank.dialect import BankRequest, Row, below, execute, one
from provider_adapters.testing.bank.kernel import accounts, listeners, state, statement
from provider_adapters.testing.bank.kernel.clock import midnight, read_day
from provider_adapters.testing.bank.kernel.paging import Slice
from provider_adapters.testing.bank.kernel.refusals import Code, Refusal, found, require
from provider_adapters.testing.bank.kernel.state import Kept
from provider_adapters.testing.bank.messages import Answer, Document
from provider_adapters.testing.bank.pix import charges, keys, payouts, received_payments
from provider_adapters.testing.bank.pix.charges import Charge, NewCharge
from provider_adapters.testing.bank.pix.destinations import Destination
from provider_adapters.testing.bank.pix.received_payments import Payer

_TWINS_APART: Final = 15 * 60_000_000
"""docs.asaas.com/docs/transfers-1."""
_YEAR: Final = 366
_MOST: Final = 500
_KEY_TYPES: Final = ("CPF", "CNPJ", "EMAIL", "PHONE", "EVP")
_TOKEN_LENGTHS: Final = range(32, 256)


def _balance(request: BankRequest) -> Document:
    return {"balance": documents.reais(accounts.balance(*request.own).available)}


def _statement(request: BankRequest) -> Document:
    """List movements, oldest first unless asked otherwise."""
    wanted, own = read_slice(request.query, "startDate", "finishDate"), request.own

    def show(line: statement.Entry) -> Document:
        paid = line.e2e_id if line.kind == "pix_in" else None
        reference = paid and received_payments.by_e2e_id(*own, paid).reference
        return documents.entry(line, charges.get(*own, reference).id if reference else None)

    if request.query.get("order") == "desc":
        return documents.listing(statement.read(*own, wanted), show, wanted)
    whole = dataclasses.replace(wanted, limit=_MOST, skip=0)
    rows = [show(line) for line in reversed(statement.read(*own, whole).items)]
    return documents.cut(rows, wanted)


def _keys(request: BankRequest) -> Document:
    rows = [documents.key(each) for each in keys.list_all(*request.own)]
    return documents.cut(rows, read_slice(request.query))


def _add_key(request: BankRequest) -> Document:
    request.body.choice("type", ("EVP",))
    return documents.key(keys.add(*request.own, keys.NewKey(type="evp", key=None)))


def _customer_id(request: BankRequest, payer: Payer | None) -> str | None:
    """Return the customer who is asked to pay, noted when first seen."""
    if payer is None:
        return None
    books, account_id = request.own
    name = f"cus_{account_id}_{payer.tax_number}"
    if state.find(books, "customer", name) is None:
        value = json.dumps({"name": payer.name, "tax_number": payer.tax_number})
        state.put(books, Kept(kind="customer", name=name, value=value, account_id=account_id))
    return name


def _payer_of(request: BankRequest, customer: str) -> Payer:
    """Find a customer of the account; raises ``NOT_FOUND``."""
    kept = state.find(request.books, "customer", customer)
    is_own = kept is not None and kept.account_id == request.account.id
    return Payer(**json.loads(found(kept if is_own else None, "customer").value))


def _customers(request: BankRequest) -> Document:
    kept = state.of_account(request.books, "customer", request.account.id)
    rows = [documents.customer(each.name, Payer(**json.loads(each.value))) for each in kept]
    wanted = request.query.get("cpfCnpj")
    rows = [row for row in rows if wanted in {None, row["cpfCnpj"]}]
    return documents.cut(rows, read_slice(request.query))


def _customer(request: BankRequest) -> Document:
    return documents.customer(request.path["id"], _payer_of(request, request.path["id"]))


def _add_customer(request: BankRequest) -> Document:
    payer = Payer(name=request.body.text("name"), tax_number=request.body.text("cpfCnpj"))
    return documents.customer(_customer_id(request, payer) or "", payer)


def _shown(request: BankRequest, charge: Charge) -> Document:
    paid = received_payments.latest(*request.own, charge.reference)
    return documents.charge(charge, _customer_id(request, charge.payer), paid)


def _charges(request: BankRequest) -> Document:
    """List charges of one reference, or those that were paid on some days."""
    own, query = request.own, request.query
    if "externalReference" in query:
        named = charges.anywhere(request.books, query["externalReference"])
        listed = [each for each in named if each.account_id == request.account.id]
    else:
        paid = read_slice(query, "paymentDate[ge]", "paymentDate[le]")
        whole = dataclasses.replace(paid, limit=_MOST, skip=0)
        received = received_payments.read(*own, whole).items
        listed = [charges.get(*own, each.reference) for each in received if each.reference]
    return documents.cut([_shown(request, each) for each in listed], read_slice(query))


def _add_charge(request: BankRequest) -> Document:
    body, books = request.body, request.books
    customer, own = body.text("customer"), keys.usable(*request.own)
    body.choice("billingType", ("PIX",))
    ends = midnight(read_day(body.text("dueDate")), _YEAR)
    try:
        payer = _payer_of(request, customer)
    except Refusal:
        payer = None
    require(payer and own, "a customer and a key come first")
    new = NewCharge(
        reference=body.text("externalReference"),
        type="dynamic",
        key=own[0].key,
        centavos=body.reais("value"),
        expires_in=ends - books.clock.micros(),
        description=body.text("description", ""),
        payer=payer,
    )
    return _shown(request, charges.add(books, request.account, new))


def _qr_code(charge: Charge) -> Document:
    if charge.status != "active":
        raise Refusal(Code.CHARGE_PAID, "nothing to be paid", status=400)
    return documents.qr_code(charge)


def _cancel_charge(request: BankRequest) -> Document:
    charge = charges.by_id(*request.own, request.path["id"])
    if charge.status == "paid":
        raise Refusal(Code.CHARGE_PAID, "the charge is paid", status=400)
    charges.cancel(*request.own, charge.reference)
    return {"deleted": True, "id": charge.id}


def _transactions(request: BankRequest) -> Document:
    """List what came in; what went out is not asked for."""
    kind, e2e_id = request.query.get("type"), request.query.get("endToEndIdentifier")
    wanted = read_slice(request.query)
    if kind == "CREDIT" and e2e_id is None:
        page = received_payments.read(*request.own, wanted)
        return documents.listing(page, documents.transaction, wanted)
    try:
        paid = received_payments.by_e2e_id(*request.own, e2e_id or "")
    except Refusal:
        return documents.cut([], wanted)
    return documents.cut([documents.transaction(paid)] if kind == "CREDIT" else [], wanted)


def _transaction(request: BankRequest) -> Document:
    e2e_id = request.path["id"].removeprefix(documents.transaction_id(""))
    return documents.transaction(received_payments.by_e2e_id(*request.own, e2e_id))


def _order(request: BankRequest) -> payouts.Order:
    """Read the order of a transfer."""
    body = request.body
    body.choice("operationType", ("PIX",), "PIX")
    if "value" not in body:
        raise Refusal(Code.INVALID_REQUEST, "invalid_value")
    return payouts.Order(
        centavos=body.reais("value"),
        to=_to_key(request) if "pixAddressKey" in body else _to_account(request),
        description=body.text("description", ""),
        idempotency_key=body.text("externalReference", "") or None,
    )


def _to_key(request: BankRequest) -> Destination:
    """Read a key; this bank is not told whose it is, so it asks nobody."""
    body, books = request.body, request.books
    given, kind = body.text("pixAddressKey"), body.choice("pixAddressKeyType", _KEY_TYPES)
    key = f"+55{given}" if kind == "PHONE" else given
    held = keys.active(books, key)
    owner = accounts.get(books, held.account_id).tax_number if held else ""
    return Destination(tax_number=owner, sent=json.dumps({"pixAddressKey": given}), key=key)


def _to_account(request: BankRequest) -> Destination:
    account = request.body.inside("bankAccount")
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
    return execute(
        order.centavos, lambda: documents.transfer(payouts.accept(books, account, order))
    )


def _pay_out_once(request: BankRequest) -> Answer:
    """Pay unless the same went to the same place a moment ago, whatever the reference."""
    order, since = _order(request), request.books.clock.micros() - _TWINS_APART
    for each in payouts.read(*request.own, Slice(since=since, limit=_MOST)).items:
        if (each.centavos, each.to.sent) == (order.centavos, order.to.sent):
            raise Refusal(Code.DUPLICATE, "identical to another transfer")
    return _pay_out(request)


def _webhooks(request: BankRequest) -> Document:
    rows = [documents.webhook(each) for each in listeners.of(*request.own)]
    return documents.cut(rows, read_slice(request.query))


def _add_webhook(request: BankRequest) -> Document:
    token = request.body.text("authToken")
    is_one = len(token) in _TOKEN_LENGTHS and " " not in token
    require(is_one, "authToken has 32 to 255 characters and no space")
    url, secret = request.body.text("url"), token.encode().hex()
    return documents.webhook(listeners.add(*request.own, url, secret))


def _remove_webhook(request: BankRequest) -> Document:
    return {"deleted": True, "id": listeners.remove(*request.own, request.path["id"]).id}


_KEY: Final = "/pix/addressKeys/{id:[^/]+}"
_OTHERS: Final = below(
    "/v3",
    Row("GET", "/finance/balance", "balance", _balance),
    Row("GET", "/financialTransactions", "statement", _statement),
    Row("GET", "/pix/addressKeys", "keys", _keys),
    Row("POST", "/pix/addressKeys", "keys", _add_key),
    Row("GET", _KEY, "keys", one(keys.get, "id", documents.key)),
    Row("DELETE", _KEY, "keys", one(keys.cancel, "id", documents.key)),
    Row("GET", "/customers", "charge", _customers),
    Row("POST", "/customers", "charge", _add_customer),
    Row("GET", "/customers/{id:[^/]+}", "charge", _customer),
    Row("GET", "/payments", "charge", _charges),
    Row("POST", "/payments", "charge", _add_charge),
    Row("GET", "/payments/{id:[^/]+}/pixQrCode", "charge", one(charges.by_id, "id", _qr_code)),
    Row("DELETE", "/payments/{id:[^/]+}", "charge", _cancel_charge),
    Row("GET", "/pix/transactions", "payment", _transactions),
    Row("GET", "/pix/transactions/{id:[^/]+}", "payment", _transaction),
    Row("GET", "/transfers/{id:[^/]+}", "payout_read", one(payouts.get, "id", documents.transfer)),
    Row("GET", "/webhooks", "callbacks", _webhooks),
    Row("POST", "/webhooks", "callbacks", _add_webhook),
    Row("DELETE", "/webhooks/{id:[^/]+}", "callbacks", _remove_webhook),
)
_TRANSFERS: Final = "/v3/transfers"
ROWS: Final = (*_OTHERS, Row("POST", _TRANSFERS, "payout", _pay_out_once))
"""Every call, as the bank has it."""
ROWS_WITH_TWINS: Final = (*_OTHERS, Row("POST", _TRANSFERS, "payout", _pay_out))
"""The same, and the same order may come again at once."""
