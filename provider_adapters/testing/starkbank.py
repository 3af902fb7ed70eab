"""Stark Bank as a simulated bank, with the documents that its SDK reads."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from gateway.core.money import MAX_CENTAVOS
from gateway.core.strict import Malformed, tax_number
from provider_adapters.kit.public_keys import PublicKey
from provider_adapters.testing.bank import (
    accounts,
    callbacks,
    charges,
    clock,
    keys,
    payouts,
    received_payments,
)
from provider_adapters.testing.bank.books import BankIdentity, Books, Slice, read_number, read_slice
from provider_adapters.testing.bank.callbacks import Callback
from provider_adapters.testing.bank.charges import Charge, NewCharge
from provider_adapters.testing.bank.dialect import (
    Admission,
    BankRequest,
    Dialect,
    Row,
    Run,
    Simulator,
    below,
    execute,
    one,
    subject_of,
)
from provider_adapters.testing.bank.magic_values import KEY_OF_ANOTHER
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

_PUBLIC_KEY: Final = "public key"
_SIGNING_SECRET: Final = "signing secret"  # noqa: S105 - the kind of what is kept
_TAGS: Final = "tags"
_CURVE_ORDER: Final = int("FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141", 16)
"""Of secp256k1: private keys lie below it."""
_WINDOW_S: Final = 300.0
"""How far ``Access-Time`` may be from the bank's time; the bank does not say."""
_SECONDS: Final = re.compile(r"[0-9]{9,11}(\.[0-9]{1,9})?", re.ASCII)
_LARGEST_PAGE: Final = 100
_MOST_KEPT: Final = 1000
"""Addresses or missed events of a workspace; the bank tells no bound."""
_ISPB: Final = re.compile(r"[0-9A-Z]{8}", re.ASCII)
_ACCOUNT_TYPES: Final = ("checking", "savings", "salary", "payment")
_SENT: Final = (
    "name", "bankCode", "branchCode", "accountNumber", "accountType", "externalId", "description",
)  # fmt: skip
_PERSON, _COMPANY = 11, 14
_NOBODY: Final = Payer(name="", tax_number="")
_SECOND: Final = 1_000_000
_DUE: Final = 2 * 86400 * _SECOND
_EXPIRATION_S: Final = 5_097_600
"""Of an invoice that says nothing else: due in two days, and to be paid 59 days beyond."""
_BRCODE_EXPIRATION_S: Final = 3600
_ENCRYPTED: Final = "dict/"
"""What an account number of the directory holds before the key, if one could decrypt it."""
_KEY_STATUSES: Final = {"active": "registered", "pending": "created", "canceled": "canceled"}
_CHARGE_STATUSES: Final = {"active": "created", "paid": "paid", "canceled": "canceled"}
_PAYOUT_STATES: Final = {"settled": "success", "returned": "success"}
_SOURCES: Final = {
    "pix_in": "deposit/{}",
    "pix_out": "transfer/{}",
    "pix_returned": "transfer/{}/chargeback",
    "pix_refund": "deposit/{}/reversal",
    "fee": "self",
    "ted_in": "deposit/{}",
    "ted_out": "transfer/{}",
    "boleto_in": "boleto/{}",
    "boleto_out": "boleto-payment/{}",
}
_ERRORS: Final[Mapping[Code, str]] = {
    Code.UNAUTHORIZED: "invalidSignature",
    Code.WRONG_ACCOUNT: "invalidAccessId",
    Code.INVALID_REQUEST: "invalidJson",
    Code.INSUFFICIENT_FUNDS: "insufficientFunds",
    Code.OWNER_MISMATCH: "invalidTaxId",
    Code.REJECTED: "invalidAmount",
    Code.KEY_NOT_FOUND: "invalidPixKey",
    Code.ACCOUNT_INVALID: "invalidAccountNumber",
    Code.DUPLICATE: "invalidExternalId",
    Code.CHARGE_PAID: "invalidAction",
}
"""What the bank answers with 400; the words that no source has are marked so in the README."""
_ABSENT: Final = {
    "payout": "invalidTransfer",
    "charge": "invalidInvoice",
    "payment": "invalidPayment",
    "address": "invalidWebhook",
    "event": "invalidEvent",
}
"""Likewise, for what the books do not find."""


def instant(at: int) -> str:
    """Write an instant: UTC with microseconds."""
    return clock.from_micros(at).isoformat(timespec="microseconds")


def punctuated(text: str) -> str:
    """Write a tax number with its punctuation; any other text stays."""
    if text.isdigit() and len(text) == _PERSON:
        return f"{text[:3]}.{text[3:6]}.{text[6:9]}-{text[9:]}"
    if text.isdigit() and len(text) == _COMPANY:
        return f"{text[:2]}.{text[2:5]}.{text[5:8]}/{text[8:12]}-{text[12:]}"
    return text


def keep_tags(books: Books, account_id: str, name: str, tags: Sequence[str]) -> None:
    """Keep the tags of a record, in lower case, and the records of each tag."""
    small = [tag.lower() for tag in tags]
    books.keep(_TAGS, name, json.dumps(small), account_id=account_id)
    for tag in small:
        books.keep(f"tag {tag}", name, "", account_id=account_id)


def tags_of(books: Books, name: str) -> list[str]:
    """Return the tags of a record."""
    kept = books.kept(_TAGS, name)
    return list(json.loads(kept.value)) if kept else []


def _tags_of_charge(books: Books, charge: Charge) -> list[str]:
    """Return the tags of a charge; one of the control interface has its reference for one."""
    return tags_of(books, charge.id) or [charge.reference.lower()]


def read_page(query: Mapping[str, str]) -> Slice:
    """Read ``after``, ``before``, ``limit`` and ``cursor``; raises ``INVALID_REQUEST``."""
    limit = read_number(query, "limit", _LARGEST_PAGE)
    require(1 <= limit <= _LARGEST_PAGE, f"limit is 1 to {_LARGEST_PAGE}")
    page = read_slice({"cursor": query["cursor"]} if query.get("cursor") else {})
    if "after" in query:
        page = replace(page, since=clock.midnight(clock.read_day(query["after"])))
    if "before" in query:
        page = replace(page, until=clock.midnight(clock.read_day(query["before"]), 1))
    return replace(page, limit=limit)


def read_tags(body: Fields) -> list[str]:
    """Read the tags of a record; a comma would part one from itself in a search."""
    given = body.texts("tags") if "tags" in body else []
    require(all(tag and "," not in tag for tag in given), "tags have no commas")
    return given


def _listed(request: BankRequest, name: str) -> set[str]:
    """Read a list of texts that commas part; empty for none."""
    return {text for text in request.query.get(name, "").split(",") if text}


def _several(name: str, shown: Sequence[Document], cursor: str | None = None) -> Document:
    return {name: shown, "cursor": cursor}


def _tax_number(body: Fields) -> str:
    try:
        return tax_number(body.text("taxId"))
    except Malformed as problem:
        raise Refusal(Code.OWNER_MISMATCH, "taxId is not valid") from problem


def _balance(request: BankRequest) -> Document:
    """Show the available balance; the blocked part is left out."""
    held, updated = accounts.balance(*request.own), instant(request.books.clock.micros())
    shown = {"id": request.account.id, "amount": held.available, "currency": "BRL"}
    return _several("balances", [{**shown, "updated": updated}])


def _statement(request: BankRequest) -> Document:
    page = accounts.statement(*request.own, read_page(request.query))
    shown = [movement(request.books, entry) for entry in page.items]
    return _several("transactions", shown, page.cursor)


def movement(books: Books, entry: accounts.Entry) -> Document:
    """Show a line of the statement; a paid invoice is the source of its payment."""
    source = _SOURCES[entry.kind].format(entry.payout_id or accounts.line_number(entry.seq))
    tags = tags_of(books, entry.payout_id or "")
    if entry.kind == "pix_in" and entry.e2e_id:
        tags = [entry.e2e_id.lower()]
        paid = received_payments.by_e2e_id(books, entry.account_id, entry.e2e_id)
        charge = _charge_of(books, paid)
        if charge and charge.payer:
            source, tags = f"invoice/{charge.id}", _tags_of_charge(books, charge)
    return {
        "id": accounts.line_number(entry.seq),
        **fields(entry, "description", amount="centavos"),
        "source": source,
        "tags": tags,
        "created": instant(entry.at),
    }


def _charge_of(books: Books, paid: Payment) -> Charge | None:
    """
    Find the charge that a payment pays; one that names its payer is an invoice.

    Another Pix that only names a charge is a deposit like any other.
    """
    if not paid.reference:
        return None
    charge = charges.get(books, paid.account_id, paid.reference)
    paying = charges.payment(books, charge)
    pays = charge.reusable or (paying is not None and paying.seq == paid.seq)
    return charge if pays else None


def _keys(request: BankRequest) -> Document:
    shown = [
        {
            **fields(each, "type"),
            "id": punctuated(each.key),
            "status": _KEY_STATUSES[each.status],
            "created": instant(each.created_at),
        }
        for each in keys.list_all(*request.own)
    ]
    return _several("keys", shown)


def _key(request: BankRequest) -> Document:
    asked = request.path["key"]
    bare = "".join(filter(str.isdigit, asked))
    key = bare if punctuated(bare) == asked else asked
    return {"key": owner(keys.look_up(request.books, key))}


def owner(record: keys.Owner) -> Document:
    """
    Show where a key leads; a person's tax number is masked, branch and account cannot be read.

    These fields are unknown for a generated payee at another bank.
    """
    told = record.tax_number
    if len(told) == _PERSON:
        told = f"***.{told[3:6]}.{told[6:9]}-**"
    elif "*" in told and record.key != KEY_OF_ANOTHER:
        told = "***.***.***-**"
    encrypted = base64.b64encode(f"{_ENCRYPTED}{record.key}".encode()).decode()
    return {
        **fields(record, "type", "name", "ispb", bankName="bank_name"),
        "id": punctuated(record.key),
        "taxId": punctuated(told),
        "branchCode": base64.b64encode(b"branch").decode(),
        "accountNumber": encrypted,
        "accountType": "checking",
    }


def _adding(name: str, read: Callable[[Books, str, Fields], NewCharge]) -> Run:
    def run(request: BankRequest) -> Document:
        shown, asked = [], request.body.inside_all(name)
        for order, tags in [(read(*request.own, each), read_tags(each)) for each in asked]:
            made = charges.add(request.books, request.account, order)
            keep_tags(*request.own, made.id, tags)
            shown.append(_charge(request.books, made))
        return {name: shown}

    return run


def read_invoice(books: Books, account_id: str, body: Fields) -> NewCharge:
    """Read the order of an invoice; raises ``INVALID_REQUEST``."""
    payer = Payer(name=body.text("name"), tax_number=_tax_number(body))
    expiration = body.whole("expiration", _EXPIRATION_S)
    now = books.clock.micros()
    due = clock.read(body.text("due")) if "due" in body else now + _DUE
    expires_in = due - now + expiration * _SECOND
    require(expires_in > 0 and expiration >= 0, "due is in the future")
    return _new_charge(books, account_id, body, expires_in, payer)


def read_brcode(books: Books, account_id: str, body: Fields) -> NewCharge:
    """Read the order of a dynamic BR Code; raises ``INVALID_REQUEST``."""
    expiration = body.whole("expiration", _BRCODE_EXPIRATION_S)
    require(expiration > 0, "expiration is above zero")
    return _new_charge(books, account_id, body, expiration * _SECOND)


def _new_charge(
    books: Books, account_id: str, body: Fields, expires_in: int, payer: Payer | None = None
) -> NewCharge:
    """
    Read the fields common to all charges; with an amount of 0 the payer chooses it.

    Its last tag names it for the control interface; the bank itself names none.
    """
    amount, last = body.whole("amount"), read_tags(body)[-1:]
    require(0 <= amount <= MAX_CENTAVOS, "amount is not below zero")
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


def _listing(name: str, *, named: bool) -> Run:
    """Return a list of dynamic charges with a tag, newest first; up to the requested number."""

    def run(request: BankRequest) -> Document:
        books, wanted = request.books, _listed(request, "tags")
        require(wanted, "the simulated bank lists charges by their tags")
        chosen = [
            _charge(books, charge)
            for charge in reversed(charges.list_all(*request.own))
            if charge.type == "dynamic" and (charge.payer is not None) is named
            if wanted & set(_tags_of_charge(books, charge))
        ]
        return _several(name, chosen[: read_page(request.query).limit])

    return run


def _charge(books: Books, record: Charge) -> Document:
    return _invoice(books, record) if record.payer else _brcode(books, record)


def _one_invoice(request: BankRequest) -> Charge:
    charge = charges.by_id(*request.own, request.path["id"])
    return found(charge if charge.payer else None, "charge")


def _change_invoice(request: BankRequest) -> Document:
    charge = _one_invoice(request)
    request.body.choice("status", ("canceled",))
    gone = charges.cancel(*request.own, charge.reference)
    return {"invoice": _invoice(request.books, gone)}


def _invoice_payment(request: BankRequest) -> Document:
    paid = found(charges.payment(request.books, _one_invoice(request)), "payment")
    return {"payment": {**_source(paid), "endToEndId": paid.e2e_id, "method": "pix"}}


def _invoice_logs(request: BankRequest) -> Document:
    """Show payments of invoices: the one type of log that this bank keeps."""
    require(request.query.get("types") == "paid", "types is paid")
    wanted, books = _listed(request, "invoiceIds"), request.books
    page = received_payments.read(*request.own, read_page(request.query))
    shown = [
        {
            "id": accounts.line_number(paid.seq),
            "type": "paid",
            "errors": [],
            "created": instant(paid.at),
            "invoice": _invoice(books, charge),
        }
        for paid, charge in ((paid, _charge_of(books, paid)) for paid in page.items)
        if charge and charge.payer and (not wanted or charge.id in wanted)
    ]
    return _several("logs", shown, page.cursor)


def _invoice(books: Books, record: Charge) -> Document:
    payer, ends = record.payer or _NOBODY, record.expires_at
    expired = record.expired(books.clock.micros())
    return {
        "id": record.id,
        "amount": record.centavos or 0,
        "nominalAmount": record.centavos or 0,
        "name": payer.name,
        "taxId": punctuated(payer.tax_number),
        "due": instant(record.created_at + _DUE if ends is None else ends),
        "expiration": _EXPIRATION_S if ends is None else 0,
        "status": "expired" if expired else _CHARGE_STATUSES[record.status],
        "brcode": record.emv,
        "tags": _tags_of_charge(books, record),
        "created": instant(record.created_at),
    }


def _brcode(books: Books, record: Charge) -> Document:
    """Show a charge without a payer; it has no status."""
    lasts = _BRCODE_EXPIRATION_S
    if record.expires_at is not None:
        lasts = max(0, (record.expires_at - record.created_at) // _SECOND)
    return {
        **fields(record, id="emv", uuid="txid"),
        "amount": record.centavos or 0,
        "expiration": lasts,
        "tags": _tags_of_charge(books, record),
        "created": instant(record.created_at),
    }


def _source(paid: Payment) -> Document:
    payer = paid.payer or _NOBODY
    return {"amount": paid.centavos, "name": payer.name, "taxId": punctuated(payer.tax_number)}


def _deposits(request: BankRequest) -> Document:
    """Show deposits other than for invoices: a page, or deposits with a tag."""
    books, wanted, page = request.books, _listed(request, "tags"), read_page(request.query)
    listed = replace(page, limit=10_000) if wanted else page
    came = received_payments.read(*request.own, listed)
    shown = [
        _deposit(books, paid, charge)
        for paid, charge in ((paid, _charge_of(books, paid)) for paid in came.items)
        if not (charge and charge.payer)
        if not wanted or wanted & set(_deposit_tags(books, paid, charge))
    ]
    return _several("deposits", shown[: page.limit], None if wanted else came.cursor)


def _deposit_tags(books: Books, paid: Payment, charge: Charge | None) -> list[str]:
    """Name money that came in, and the BR Code that it pays."""
    e2e_id = paid.e2e_id.lower()
    if charge is None or charge.type != "dynamic":
        return [e2e_id]
    code, tags = charge.txid, _tags_of_charge(books, charge)
    return [e2e_id, f"dynamic-brcode/{code}", *tags, f"d{code}"]


def _deposit(books: Books, paid: Payment, charge: Charge | None) -> Document:
    return {
        **_source(paid),
        "id": accounts.line_number(paid.seq),
        "type": "pix",
        "tags": _deposit_tags(books, paid, charge),
        "created": instant(paid.at),
    }


def _pay_out(request: BankRequest) -> Answer:
    books, account = request.books, request.account
    asked = request.body.inside_all("transfers")
    read = [(_order(each), read_tags(each)) for each in asked]
    require(read, "transfers is not empty")
    for order, _ in read:
        # Only where an account repeats answers.
        require(not payouts.repeated(books, account, order), "an external id is known")

    def accept() -> Document:
        shown = []
        for order, tags in read:
            made = payouts.accept(books, account, order)
            keep_tags(books, account.id, made.id, tags)
            shown.append(_transfer(made))
        return {"transfers": shown}

    return execute(read[0][0].centavos, accept)


def _order(body: Fields) -> payouts.Order:
    """Read an order; a bank of three digits would be a TED, an encrypted account is a key."""
    bank, account = body.text("bankCode"), body.text("accountNumber")
    require(_ISPB.fullmatch(bank), "bankCode is an ISPB: this bank sends no TED")
    body.choice("accountType", _ACCOUNT_TYPES, "checking")
    key = _key_of(account)
    sent = {name: body.text(name, "") for name in _SENT if name in body}
    place = {"bank": bank, "branch": body.text("branchCode"), "account": account}
    to = keys.Destination(
        **({"key": key} if key else place),
        tax_number=_tax_number(body),
        name=body.text("name"),
        sent=json.dumps({**sent, "tags": [tag.lower() for tag in read_tags(body)]}),
    )
    return payouts.Order(
        centavos=body.centavos("amount"),
        to=to,
        description=body.text("description", ""),
        idempotency_key=body.text("externalId", "") or None,
    )


def _key_of(account: str) -> str:
    """Return the key behind an account number of the directory; empty for any other."""
    text = _decoded(account).decode(errors="replace")
    return text.removeprefix(_ENCRYPTED) if text.startswith(_ENCRYPTED) else ""


def _transfers(request: BankRequest) -> Document:
    wanted, page = sorted(_listed(request, "tags")), read_page(request.query)
    require(wanted, "the simulated bank lists transfers by their tags")
    books, account_id = request.own
    kept = [each for tag in wanted for each in books.kept_of(f"tag {tag}", account_id)]
    ids = dict.fromkeys(each.name for each in reversed(kept))
    chosen = [payouts.get(books, account_id, name) for name in ids][: page.limit]
    return _several("transfers", [_transfer(each) for each in chosen])


def _transfer(record: payouts.Payout) -> Document:
    """Show a payout; once settled, its value is the amount really paid."""
    sent: Mapping[str, object] = json.loads(record.to.sent)
    updated = record.returned_at or record.settled_at or record.created_at
    return {
        **sent,
        "taxId": punctuated(record.to.tax_number),
        **fields(record, "id", amount="paid"),
        "status": _PAYOUT_STATES.get(record.state, record.state),
        "updated": instant(updated),
    }


def _webhook(record: callbacks.Listener) -> Document:
    return {**fields(record, "id", "url"), "subscriptions": ["deposit", "invoice", "transfer"]}


def _webhooks(request: BankRequest) -> Document:
    return _several("webhooks", [_webhook(each) for each in callbacks.listeners(*request.own)])


def _add_webhook(request: BankRequest) -> Document:
    request.body.texts("subscriptions")
    url = request.body.text("url")
    return {"webhook": _webhook(callbacks.register(*request.own, url, "", most=_MOST_KEPT))}


def _events(request: BankRequest) -> Document:
    """Show undelivered events, newest first; delivered ones are not kept."""
    require(request.query.get("isDelivered", "").lower() == "false", "isDelivered is false")
    missed = callbacks.missed(*request.own, _MOST_KEPT)
    shown = [_event(request.books, each) for each in reversed(missed)]
    newest = [each for each in shown if each is not None]
    return _several("events", newest[-read_page(request.query).limit :])


def _change_event(request: BankRequest) -> Document:
    require(request.body.flag("isDelivered"), "isDelivered can only become true")
    missed = {each.id: each for each in callbacks.missed(*request.own, _MOST_KEPT)}
    event = found(missed.get(request.path["id"]), "event")
    callbacks.acknowledge(*request.own, [event.id])
    return {"event": {"id": event.id, "isDelivered": True}}


def _event(books: Books, event: callbacks.Event) -> Document | None:
    """Show an event as the books have it; None for a kind that this bank does not report."""
    subject = subject_of(books, event)
    if isinstance(subject, payouts.Payout):
        document = _transfer(subject)
        name, kind = "transfer", document["status"]
    elif isinstance(subject, Payment):
        charge = _charge_of(books, subject)
        name, kind, document = "deposit", "credited", _deposit(books, subject, charge)
        if charge and charge.payer:
            name, kind, document = "invoice", "paid", _invoice(books, charge)
    else:
        return None
    at = instant(books.clock.micros())
    log = {"id": f"log-{event.id}", "type": kind, "errors": [], "created": at}
    return {
        "id": event.id,
        "created": at,
        "isDelivered": False,
        "subscription": name,
        "workspaceId": event.account_id,
        "log": {**log, name: document},
    }


def callback(books: Books, event: callbacks.Event, to: callbacks.Listener) -> Callback | None:
    """Write and sign a callback; None for a kind that this bank does not report."""
    said = _event(books, event)
    if said is None:
        return None
    body = json.dumps({"event": said}).encode()
    signature = _signing_key(books).sign(body, ec.ECDSA(hashes.SHA256()))
    headers = {"Digital-Signature": base64.b64encode(signature).decode()}
    return Callback(url=to.url, body=body, headers=headers)


def _signing_key(books: Books) -> ec.EllipticCurvePrivateKey:
    """Return the bank's key; the first time it is drawn."""
    kept = books.kept(_SIGNING_SECRET, "")
    if kept is None:
        rotate(books)
        return _signing_key(books)
    return _private_key(kept.value)


def rotate(books: Books) -> None:
    """Sign with another key from now on."""
    books.keep(_SIGNING_SECRET, "", books.random_hex(32))


def _private_key(secret: str) -> ec.EllipticCurvePrivateKey:
    """Make a key of the bank's curve out of hexadecimal digits."""
    return ec.derive_private_key(int(secret, 16) % (_CURVE_ORDER - 1) + 1, ec.SECP256K1())


def _public_pem(key: ec.EllipticCurvePrivateKey) -> str:
    public = key.public_key()
    return public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def public_key(books: Books) -> str:
    """Return the key that callbacks are checked with, in PEM."""
    return _public_pem(_signing_key(books))


def _public_keys(request: BankRequest) -> Document:
    return _several("publicKeys", [{"content": public_key(request.books)}])


def _authenticate(request: BankRequest) -> accounts.Account:
    """Return whose signature it is: over who, when and the body."""
    names = ("Access-Id", "Access-Time", "Access-Signature")
    who, at, signature = (request.headers.get(name, "") for name in names)
    account = accounts.by_token(request.books, who)
    kept = request.books.kept(_PUBLIC_KEY, who)
    if account is None or kept is None:
        raise Refusal(Code.WRONG_ACCOUNT, "the access id is unknown")
    if not _is_recent(request.books, at):
        raise Refusal(Code.UNAUTHORIZED, "the access time is not now")
    message = f"{who}:{at}:".encode() + request.raw
    if not PublicKey.read(kept.value).verifies(_decoded(signature), message):
        raise Refusal(Code.UNAUTHORIZED, "the signature does not check out")
    return account


def _is_recent(books: Books, at: str) -> bool:
    """Return whether a time is near the wall clock's; the bank's own clock may be moved."""
    wall = books.clock.now().timestamp() - books.clock.offset_s
    return bool(_SECONDS.fullmatch(at)) and abs(wall - float(at)) <= _WINDOW_S


def _decoded(text: str) -> bytes:
    """Decode base64; empty for anything else."""
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return b""


def _admit(books: Books, account: accounts.Account, _given: Fields) -> Admission:
    """Make a project with a new key for a workspace; the bank keeps the public one."""
    digits, key = int(books.random_hex(8), 16) % 10**16, _private_key(books.random_hex(32))
    access_id = f"project/{digits:016}"
    value = _public_pem(key)
    books.keep(_PUBLIC_KEY, access_id, value, account_id=account.id)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    credentials = {"access_id": access_id, "private_key": pem.decode()}
    return Admission(token=access_id, credentials=credentials)


def refusal(problem: Refusal) -> Answer:
    """Show a refusal: the bank answers 400 for nearly everything."""
    status, code = 400, _ERRORS.get(problem.code, "")
    if problem.code is Code.NOT_FOUND:
        code = _ABSENT.get(problem.message.split(" ")[0], "")
    if not code:
        words = problem.code.title().replace("_", "")
        status, code = problem.status, words[:1].lower() + words[1:]
    return Answer(document={"errors": [{"code": code, "message": problem.message}]}, status=status)


_ID: Final = "{id:[^/]+}"
_REMOVE: Final = one(callbacks.remove, "id", lambda gone: {"webhook": _webhook(gone)})
STARKBANK: Final = Dialect(
    identity=BankIdentity(
        name="Stark Bank S.A.", ispb="20018183", compe="462", host="brcode.starkbank.example"
    ),
    rows=below(
        "/v2",
        Row("GET", "/public-key", "access", _public_keys, is_open=True),
        Row("GET", "//public-key", "access", _public_keys, is_open=True),  # as the SDK writes it
        Row("GET", "/balance", "balance", _balance),
        Row("GET", "/transaction", "statement", _statement),
        Row("GET", "/dict-key", "keys", _keys),
        Row("GET", "/dict-key/{key:[^/]+}", "keys", _key),
        Row("POST", "/invoice", "charge", _adding("invoices", read_invoice)),
        Row("GET", "/invoice", "charge", _listing("invoices", named=True)),
        Row("GET", "/invoice/log", "payment", _invoice_logs),
        Row("PATCH", f"/invoice/{_ID}", "charge", _change_invoice),
        Row("GET", f"/invoice/{_ID}/payment", "payment", _invoice_payment),
        Row("POST", "/dynamic-brcode", "charge", _adding("brcodes", read_brcode)),
        Row("GET", "/dynamic-brcode", "charge", _listing("brcodes", named=False)),
        Row("GET", "/deposit", "payment", _deposits),
        Row("POST", "/transfer", "payout", _pay_out),
        Row("GET", "/transfer", "payout_read", _transfers),
        Row("POST", "/webhook", "callbacks", _add_webhook),
        Row("GET", "/webhook", "callbacks", _webhooks),
        Row("DELETE", f"/webhook/{_ID}", "callbacks", _REMOVE),
        Row("GET", "/event", "callbacks", _events),
        Row("PATCH", f"/event/{_ID}", "callbacks", _change_event),
    ),
    authenticate=_authenticate,
    refusal=refusal,
    payout=_transfer,
    callback=callback,
    admit=_admit,
    payout_kind=accounts.PayoutKind.DUP,
    secret_headers=frozenset({"access-signature"}),
)
SIMULATORS: Final = {
    "starkbank": Simulator(adapter="starkbank", dialect=STARKBANK, tells_returns=False),
}
