"""Woovi as a simulated bank; written from its OpenAPI document and its pages alone."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from typing import Final

from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from provider_adapters.testing.bank import (
    accounts,
    callbacks,
    charges,
    clock,
    keys,
    magic_values,
    payouts,
    received_payments,
    refunds,
)
from provider_adapters.testing.bank.books import BankIdentity, Books, Slice, read_number
from provider_adapters.testing.bank.callbacks import Callback, Event, EventKind, Listener
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
from provider_adapters.testing.bank.keys import Destination, Owner
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

WEBHOOK: Final = "webhook document"
"""The kind under which a registered address is kept: one for each event."""
_SIGNING_KEYS: Final = "signing keys"
_BITS: Final = 2048
"""Of a signing key: the real bank has 1,024 bits, which nobody should begin with."""
_SERVER_ERROR: Final = 500
_OWN_STATUS: Final = frozenset({401, 404, 405, 413, 429})
"""Nearly every refusal is a 400; these keep their status."""
_MOST_ADDRESSES: Final = 1000
"""The document knows no limit; this one is our port's."""
_LARGEST_PAGE: Final = 100
_SHORTEST_CHARGE_S: Final = 300
_LONGEST_COMMENT: Final = 140
_SECOND: Final = 1_000_000
_ISPB_DIGITS: Final = 8
_CPF_DIGITS: Final = 11
_ALIAS_TYPES: Final = ("CPF", "CNPJ", "EMAIL", "PHONE", "RANDOM")
_NEW_KEY_TYPES: Final = {"CNPJ": "cnpj", "EVP": "evp"}
_ACCOUNT_TYPES: Final = ("CACC", "SLRY", "SVGS", "TRAN")
_FAILING: Final[Mapping[str, str]] = {
    "1010103": "AC03 - Pagamento rejeitado pelo PSP do recebedor",
    "2222222": "NOT_ENOUGH_BALANCE - Saldo insuficiente",
    "5555555": "REACH_TRANSFER_LIMIT - Limite de transferência atingido",
    magic_values.ACCOUNT_UNKNOWN: "ACCOUNT_NOT_FOUND - Conta não encontrada",
    magic_values.KEY_UNKNOWN: "PIX_KEY_INFO_NOT_FOUND - Chave pix não encontrada",
    magic_values.KEY_OF_ANOTHER: "BE01 - Cliente final inconsistente",
    magic_values.KEY_OVER_LIMIT: "REACH_TRANSFER_LIMIT - Limite de transferência atingido",
}
"""
Accounts of the bank's test environment, and keys of every simulated bank, whose payouts fail.

They are accepted first: docs/flows/sandbox-error-simulation.md.
"""
_PAYOUT_STATES: Final = {
    "processing": "APPROVED",
    "settled": "CONFIRMED",
    "failed": "FAILED",
    "returned": "CONFIRMED",
}
_REFUND_STATES: Final = {
    "processing": "IN_PROCESSING",
    "settled": "REFUNDED",
    "failed": "NOT_ACCOMPLISHED",
}
_CHARGE_REFUND_STATES: Final = {
    "processing": "IN_PROCESSING",
    "settled": "CONFIRMED",
    "failed": "REJECTED",
}
# As the bank's pages have them; see ``provider_adapters.woovi.mapping`` for where.
_SENTENCES: Final[Mapping[Code, str]] = {
    Code.DUPLICATE: "Já existe um pagamento com o correlationID fornecido",
    Code.INSUFFICIENT_FUNDS: "You do not have enough balance to make this payment",
    Code.TOO_MANY_REQUESTS: "You tried to consult many Pix keys that do not exist.",
    Code.KEY_NOT_FOUND: "Pix key not found",
}
_CODES: Final[Mapping[Code, str]] = {
    Code.KEY_NOT_FOUND: "PIX_KEY_INFO_NOT_FOUND",
    Code.TOO_MANY_REQUESTS: "TOO_MANY_REQUESTS",
}
# The bank has a word of its own for what the books call a payment and a payout.
_NAMES: Final[Mapping[str, str]] = {
    "payment not found": "Transaction not found",
    "payout not found": "Payment not found",
    "address not found": "Webhook not found",
}


def _page(request: BankRequest) -> Slice:
    """Read window and position; the end belongs to the window."""
    query, whole = request.query, Slice()
    skip, limit = read_number(query, "skip", 0), read_number(query, "limit", _LARGEST_PAGE)
    return Slice(
        since=clock.read(query["start"]) if "start" in query else whole.since,
        until=clock.read(query["end"]) + 1 if "end" in query else whole.until,
        limit=min(max(limit, 1), _LARGEST_PAGE),
        skip=skip,
    )


def _list(name: str, items: Sequence[Document], wanted: Slice, *, more: bool = False) -> Document:
    info = {"skip": wanted.skip, "limit": wanted.limit, "hasNextPage": more}
    return {"status": "OK", name: items, "pageInfo": info}


def global_id(kind: str, name: str) -> str:
    """Write an id as the bank's interface to people does: base64 of kind and name."""
    return base64.b64encode(f"{kind}:{name}".encode()).decode()


def _balance(request: BankRequest) -> Document:
    account, held = request.account, accounts.balance(*request.own)
    found(True if request.path["id"] == account.id else None, "account")
    return {
        "account": {
            "accountId": account.id,
            "balance": fields(held, "blocked", "available", total="owned"),
            **fields(account, "branch", account="number", taxId="tax_number", accountName="name"),
        }
    }


def _statement(request: BankRequest) -> Answer:
    """Show movements; a line has neither its kind nor its end-to-end id."""
    lines = [
        {
            "id": line.id,
            "time": clock.show(line.at),
            "description": line.description,
            "value": abs(line.centavos),
            "type": "CREDIT" if line.centavos > 0 else "DEBIT",
        }
        for line in accounts.statement(*request.own, _page(request)).items
    ]
    return Answer(document=lines)


def _keys(request: BankRequest) -> Document:
    wanted = _page(request)
    shown = [
        {"key": each.key, "type": each.type.upper(), "isDefault": place == 0}
        for place, each in enumerate(keys.usable(*request.own))
    ]
    return {"pixKeys": shown[wanted.skip : wanted.skip + wanted.limit]}


def _add_key(request: BankRequest) -> Document:
    body = request.body
    kind = body.choice("type", _NEW_KEY_TYPES)
    require("key" in body, "key is required")
    new = keys.NewKey(type=kind, key=None if kind == "evp" else body.text("key"))
    made, first = keys.add(*request.own, new), keys.usable(*request.own)[0]
    return {"key": made.key, "type": kind.upper(), "isDefault": first == made}


def _cancel_key(request: BankRequest) -> Document:
    for place, each in enumerate(keys.usable(*request.own)):
        if each.key == request.path["key"]:
            require(place > 0, "the default Pix key cannot be deleted")
            keys.cancel(*request.own, each.id)
            return {}
    raise Refusal(Code.NOT_FOUND, "Pix key not found")


def owner(record: Owner) -> Document:
    """Show the owner of a key: a person's tax number with its middle hidden."""
    number = record.tax_number
    hidden = f"{number[:3]}.***.***-{number[-2:]}" if len(number) == _CPF_DIGITS else number
    place = {"branch": "****", "account": f"****{record.account[-2:]}"}
    return {
        "pixKey": record.key,
        "type": record.type.upper(),
        "owner": {**fields(record, "name", psp="ispb"), "taxID": hidden, **place},
    }


def _check_key(request: BankRequest) -> Document:
    return owner(keys.look_up(request.books, request.body.text("pixKey")))


def _person(payer: Payer) -> Document:
    kind = "BR:CPF" if len(payer.tax_number) == _CPF_DIGITS else "BR:CNPJ"
    return {"name": payer.name, "taxID": {"taxID": payer.tax_number, "type": kind}}


def _shown(request: BankRequest, charge: charges.Charge) -> Document:
    status = "COMPLETED" if charge.status == "paid" else "ACTIVE"
    shown = {
        "status": "EXPIRED" if charge.expired(request.books.clock.micros()) else status,
        "value": charge.centavos or 0,
        **fields(charge, correlationID="reference", comment="description", pixKey="key"),
        **fields(charge, brCode="emv", identifier="txid", transactionID="txid"),
        "type": "DYNAMIC",
        "globalID": global_id("Charge", charge.id),
        "createdAt": clock.show(charge.created_at),
    }
    if charge.expires_at is not None:
        shown["expiresDate"] = clock.show(charge.expires_at)
    if charge.payer is not None:
        shown["customer"] = _person(charge.payer)
    return {"charge": shown}


def _charge_of(request: BankRequest) -> charges.Charge:
    """Find a charge; the answer for a deleted one is undocumented: here it is gone."""
    charge = charges.get(*request.own, request.path["id"])
    return found(None if charge.status == "canceled" else charge, "charge")


def _add_charge(request: BankRequest) -> Document:
    """Make a charge, paid to the account's first key."""
    body, own = request.body, keys.usable(*request.own)
    body.choice("type", ("DYNAMIC",), "DYNAMIC")
    seconds = body.whole("expiresIn", 30 * 86_400)
    require(seconds >= _SHORTEST_CHARGE_S, "expiresIn is at least 5 minutes")
    require(own, "the account has no Pix key")
    payer = body.optional("customer", body.inside)
    new = charges.NewCharge(
        reference=body.text("correlationID"),
        type="dynamic",
        key=own[0].key,
        centavos=body.centavos("value"),
        expires_in=seconds * _SECOND,
        description=body.text("comment", ""),
        payer=Payer(name=payer.text("name"), tax_number=payer.text("taxID", "")) if payer else None,
    )
    return _shown(request, charges.add(request.books, request.account, new))


def _delete_charge(request: BankRequest) -> Document:
    gone = charges.cancel(*request.own, _charge_of(request).reference)
    return {"status": "OK", "id": gone.reference}


def _charge_refunds(request: BankRequest) -> Document:
    """Show the refunds of a charge, whose states have words of their own."""
    charge = charges.get(*request.own, request.path["id"])
    paid = received_payments.of_charge(*request.own, charge.reference)
    given = [each for one in paid for each in refunds.of_payment(request.books, one)]
    return {
        "refunds": [
            {**_refunded(each), "status": _CHARGE_REFUND_STATES[each.state]} for each in given
        ]
    }


def _received(paid: Payment) -> Document:
    """Show a payment received; words as in the examples, where the schema has them swapped."""
    status = "CONFIRMED"
    if paid.refunded:
        status = "REFUNDED" if paid.refunded >= paid.centavos else "PARTIAL_REFUND"
    shown: dict[str, object] = {
        **fields(paid, value="centavos", endToEndId="e2e_id", transactionID="e2e_id"),
        "time": clock.show(paid.at),
        "globalID": global_id("PixTransaction", str(paid.seq)),
        "type": "PAYMENT",
        "status": status,
    }
    if paid.payer is not None:
        shown |= {"payer": _person(paid.payer), "infoPagador": paid.payer.message}
    if paid.reference is not None:
        shown["charge"] = {"correlationID": paid.reference, "status": "COMPLETED"}
    return shown


def _transactions(request: BankRequest) -> Document:
    """Show payments received, of a charge or in a window; other types are not simulated."""
    wanted, query = _page(request), request.query
    require(query.get("type", "PAYMENT") == "PAYMENT", "the simulated bank lists payments")
    if "charge" in query:
        paid = received_payments.of_charge(*request.own, query["charge"])
        rows, more = paid[wanted.skip :][: wanted.limit], False
    else:
        page = received_payments.read(*request.own, wanted)
        rows, more = page.items, page.cursor is not None
    return _list("transactions", [_received(each) for each in rows], wanted, more=more)


def _payment(record: payouts.Payout) -> Document:
    """Show a payout; it has its end-to-end id once it is no longer under way."""
    sent = json.loads(record.to.sent)
    reason = sent.pop("reason", "DS04 - Ordem rejeitada")
    shown: dict[str, object] = {
        **sent,
        **fields(record, value="centavos", comment="description", sourceAccountId="account_id"),
        "status": _PAYOUT_STATES[record.state],
        "correlationID": record.idempotency_key or "",
    }
    if record.state == "processing":
        return {"payment": shown}
    transfer: dict[str, object] = {
        **fields(record, value="paid", endToEndId="e2e_id"),
        "time": clock.show(record.settled_at or record.created_at),
    }
    if record.state == "failed":
        transfer["providerRejectedReason"] = reason
    return {"payment": shown, "transaction": transfer}


def _pay(request: BankRequest) -> Answer:
    books, account, body = request.books, request.account, request.body
    require(body.text("sourceAccountId", account.id) == account.id, "Account not found")
    # Nobody here could approve it later.
    require(body.flag("autoApprove"), "the simulated bank pays what is approved at once")
    kind = body.choice("type", ("PIX_KEY", "MANUAL"))
    to = _to_key(books, body) if kind == "PIX_KEY" else _to_account(body)
    reason = _FAILING.get(to.key or to.account or "")
    if reason:
        sent = json.dumps({**json.loads(to.sent), "reason": reason})
        to = Destination(tax_number="", sent=sent, name=to.name)
    order = payouts.Order(
        centavos=body.centavos("value"),
        to=to,
        description=body.text("comment", ""),
        idempotency_key=body.text("correlationID"),
    )
    payouts.repeated(books, account, order)

    def accept() -> Document:
        made = payouts.accept(books, account, order)
        if reason:
            books.database.run("UPDATE payouts SET step = 'fail' WHERE id = ?", (made.id,))
        return _payment(made)

    return execute(order.centavos, accept)


def _to_key(books: Books, body: Fields) -> Destination:
    """Read a destination by key; the tax number comes from the directory, not the order."""
    alias, kind = body.text("destinationAlias"), body.choice("destinationAliasType", _ALIAS_TYPES)
    held = keys.active(books, alias)
    owner = accounts.get(books, held.account_id) if held else None
    sent = {"type": "PIX_KEY", "destinationAlias": alias, "destinationAliasType": kind}
    return Destination(
        key=alias,
        name=owner.name if owner else "",
        tax_number=owner.tax_number if owner else "",
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


def _refunded(record: refunds.Refund) -> Document:
    return {
        **fields(record, value="centavos", correlationID="idempotency_key", comment="description"),
        "time": clock.show(record.created_at),
    }


def _refund(record: refunds.Refund) -> Document:
    return {
        **_refunded(record),
        "status": _REFUND_STATES[record.state],
        **fields(record, refundId="id", returnIdentification="return_id"),
    }


def _give_back(request: BankRequest) -> Answer | Document:
    body, own = request.body, request.own
    comment = body.text("comment", "")
    require(len(comment) <= _LONGEST_COMMENT, "comment must have at most 140 characters")
    order = refunds.RefundOrder(
        payment_e2e_id=body.text("transactionEndToEndId"),
        centavos=body.centavos("value"),
        idempotency_key=body.text("correlationID"),
        description=comment,
    )
    known = refunds.repeated(*own, order)
    if known:
        return {"refund": _refund(known)}
    return execute(order.centavos, lambda: {"refund": _refund(refunds.accept(*own, order))})


def _refunds(request: BankRequest) -> Document:
    wanted = _page(request)
    page = refunds.read(*request.own, wanted)
    shown = [_refund(each) for each in page.items]
    return _list("refunds", shown, wanted, more=page.cursor is not None)


def _webhooks_of(books: Books, account_id: str) -> dict[str, dict[str, object]]:
    kept = books.kept_of(WEBHOOK, account_id)
    return {each.name: json.loads(each.value) for each in kept}


def _webhooks(request: BankRequest) -> Document:
    url = request.query.get("url")
    known = [each for each in _webhooks_of(*request.own).values() if url in {None, each["url"]}]
    return _list("webhooks", known, Slice())


def _add_webhook(request: BankRequest) -> Document:
    """Register an address for one event; the bank makes the secret, and shows it to people."""
    books, account_id = request.own
    asked = request.body.inside("webhook")
    event, url = asked.text("event"), asked.text("url")
    made = callbacks.register(books, account_id, url, books.random_hex(16), _MOST_ADDRESSES)
    name = global_id("Webhook", f"{made.id}:{event}")
    shown = {"id": name, "url": url, "event": event, "isActive": True}
    value = json.dumps(shown)
    books.keep(WEBHOOK, name, value, account_id=account_id)
    return {"webhook": shown}


def _remove_webhook(request: BankRequest) -> Document:
    known = _webhooks_of(*request.own)
    gone = found(known.pop(request.path["id"], None), "webhook")
    request.books.forget(WEBHOOK, request.path["id"])
    if gone["url"] not in {each["url"] for each in known.values()}:
        for listener in callbacks.listeners(*request.own):
            if listener.url == gone["url"]:
                callbacks.remove(*request.own, listener.id)
    return {"status": "OK"}


def callback(books: Books, event: Event, to: Listener) -> Callback | None:
    """Write a callback; a registered address gets the events that it asked for alone."""
    said = _said(books, event)
    registered = _webhooks_of(books, event.account_id).values()
    wanted = {each["event"] for each in registered if each["url"] == to.url}
    if said is None or (wanted and said["event"] not in wanted):
        return None
    body = json.dumps(said, ensure_ascii=False).encode()
    signature = _signing_keys(books)[0].sign(body, padding.PKCS1v15(), SHA256())
    headers = {"x-webhook-signature": base64.b64encode(signature).decode()}
    if to.secret:
        made = hmac.digest(bytes.fromhex(to.secret), body, "sha1")
        headers["X-OpenPix-Signature"] = base64.b64encode(made).decode()
    return Callback(url=to.url, body=body, headers=headers)


def _said(books: Books, event: Event) -> Document | None:
    """Write an event; None for a kind that this bank does not report."""
    completed = {"event": "OPENPIX:CHARGE_COMPLETED", "company": {"name": "Loja"}}
    match event.kind, subject_of(books, event):
        case EventKind.PAYOUT, payouts.Payout() as payout:
            name = "FAILED" if payout.state == "failed" else "CONFIRMED"
            return {"event": f"OPENPIX:MOVEMENT_{name}", **_payment(payout)}
        case EventKind.PAYOUT, _:  # one that is named by its key, of which nothing more is known
            key = {"correlationID": event.subject, "status": "CONFIRMED"}
            return {"event": "OPENPIX:MOVEMENT_CONFIRMED", "payment": key}
        case EventKind.CHARGE, Payment() as paid:
            shown = _received(paid)
            return {**completed, "charge": shown.get("charge"), "pix": shown}
        case EventKind.CHARGE, _:  # likewise
            charge = {"correlationID": event.subject, "status": "COMPLETED"}
            return {**completed, "charge": charge, "pix": {"charge": charge}}
    return None


def _signing_keys(books: Books) -> list[rsa.RSAPrivateKey]:
    """Return the keys, the one in force first; the first call makes it."""
    kept = books.kept(_SIGNING_KEYS, "pem")
    if kept is None:
        rotate(books)
        return _signing_keys(books)
    loaded = [load_pem_private_key(pem.encode(), None) for pem in json.loads(kept.value)]
    return [key for key in loaded if isinstance(key, rsa.RSAPrivateKey)]


def rotate(books: Books) -> None:
    """Sign with another key from now on; the former one is still shown."""
    kept = books.kept(_SIGNING_KEYS, "pem")
    made = rsa.generate_private_key(public_exponent=65537, key_size=_BITS)
    pem = made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    value = json.dumps([pem, *(json.loads(kept.value)[:1] if kept else [])])
    books.keep(_SIGNING_KEYS, "pem", value)


def _public_keys(request: BankRequest) -> Document:
    """Show the keys that callbacks are signed with, the one in force first."""
    shown = []
    for place, key in enumerate(_signing_keys(request.books)):
        form, public = PublicFormat.SubjectPublicKeyInfo, key.public_key()
        name = hashlib.sha256(public.public_bytes(Encoding.DER, form)).hexdigest()
        pem = public.public_bytes(Encoding.PEM, form).decode()
        shown.append({"key_identifier": name, "is_current": place == 0, "key": pem})
    return {"public_keys": shown}


def _authenticate(request: BankRequest) -> accounts.Account:
    """Return the account of an AppID, which is sent raw."""
    return request.holder(request.headers.get("Authorization", ""), "appID inválido")


def _admit(books: Books, _account: accounts.Account, given: Fields) -> Admission:
    app_id = given.text("token", "") or global_id("Client_Id", books.random_hex(24))
    return Admission(token=app_id, credentials={"app_id": app_id})


def _refusal(problem: Refusal) -> Answer:
    """Show a refusal: a sentence, now and then with a code."""
    if problem.code is Code.UNAUTHORIZED:
        document: Document = {"data": None, "errors": [{"message": "appID inválido"}]}
        return Answer(document=document, status=problem.status)
    if problem.status >= _SERVER_ERROR:
        return Answer(document={"error": "Internal server error"}, status=problem.status)
    text = _SENTENCES.get(problem.code) or _NAMES.get(problem.message) or problem.message
    said = {"error": text[:1].upper() + text[1:]}
    if problem.code in _CODES:
        said["errorCode"] = _CODES[problem.code]
    # What the books do not find is a 400 here; a missing path is not.
    absent = problem.message.endswith(" not found") and problem.message[:1].islower()
    kept = problem.status in _OWN_STATUS and not absent
    return Answer(document=said, status=problem.status if kept else 400)


_ID: Final = "{id:[^/]+}"
_TRANSACTION: Final = one(
    received_payments.by_e2e_id, "id", lambda paid: {"transaction": _received(paid)}
)
_REFUND: Final = one(refunds.by_key, "id", lambda made: {"pixTransactionRefund": _refund(made)})
WOOVI: Final = Dialect(
    identity=BankIdentity(
        name="WOOVI IP LTDA", ispb="54811417", compe="000", host="pix.woovi.example"
    ),
    rows=below(
        "/api/v1",
        Row("GET", "/webhook/public-keys", "access", _public_keys, is_open=True),
        Row("GET", f"/account/{_ID}", "balance", _balance),
        Row("GET", "/statement", "statement", _statement),
        Row("GET", "/pix-keys", "keys", _keys),
        Row("POST", "/pix-keys", "keys", _add_key, status=201),
        Row("POST", "/pix-keys/check", "keys", _check_key),
        Row("DELETE", "/pix-keys/{key:[^/]+}", "keys", _cancel_key, status=204),
        Row("POST", "/charge", "charge", _add_charge),
        Row(
            "GET", f"/charge/{_ID}", "charge", lambda request: _shown(request, _charge_of(request))
        ),
        Row("DELETE", f"/charge/{_ID}", "charge", _delete_charge),
        Row("GET", f"/charge/{_ID}/refund", "refund_read", _charge_refunds),
        Row("GET", "/transaction", "payment", _transactions),
        Row("GET", f"/transaction/{_ID}", "payment", _TRANSACTION),
        Row("POST", "/payment", "payout", _pay),
        Row("GET", f"/payment/{_ID}", "payout_read", one(payouts.by_key, "id", _payment)),
        Row("POST", "/refund", "refund", _give_back),
        Row("GET", "/refund", "refund_read", _refunds),
        Row("GET", f"/refund/{_ID}", "refund_read", _REFUND),
        Row("GET", "/webhook", "callbacks", _webhooks),
        Row("POST", "/webhook", "callbacks", _add_webhook),
        Row("DELETE", f"/webhook/{_ID}", "callbacks", _remove_webhook),
    ),
    authenticate=_authenticate,
    refusal=_refusal,
    payout=_payment,
    callback=callback,
    admit=_admit,
    payout_kind=accounts.PayoutKind.DUP,
)
"""Refuses a key that it knows: docs/payment/payment-idempotency.md."""
SIMULATORS: Final = {"woovi": Simulator(adapter="woovi", dialect=WOOVI, tells_returns=False)}
