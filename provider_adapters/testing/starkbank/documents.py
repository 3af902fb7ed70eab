"""The bank's documents, as its SDK reads them."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Final

from provider_adapters.testing.bank.kernel.accounts import Account
from provider_adapters.testing.bank.kernel.books import Books
from provider_adapters.testing.bank.kernel.clock import from_micros
from provider_adapters.testing.bank.kernel.listeners import Listener
from provider_adapters.testing.bank.kernel.state import Kept, find, of_account, put
from provider_adapters.testing.bank.kernel.statement import Entry, number
from provider_adapters.testing.bank.messages import Document, fields
from provider_adapters.testing.bank.pix.charges import Charge
from provider_adapters.testing.bank.pix.destinations import Owner
from provider_adapters.testing.bank.pix.keys import Key
from provider_adapters.testing.bank.pix.magic_values import KEY_OF_ANOTHER
from provider_adapters.testing.bank.pix.payouts import Payout
from provider_adapters.testing.bank.pix.received_payments import Payer, Payment

ENCRYPTED: Final = "dict/"
"""What an account number of the directory holds before the key, if one could decrypt it."""

_TAGS: Final = "tags"
_KEY_STATUSES: Final = {"active": "registered", "pending": "created", "canceled": "canceled"}
_CHARGE_STATUSES: Final = {"active": "created", "paid": "paid", "canceled": "canceled"}
_PAYOUT_STATES: Final = {"settled": "success", "returned": "success"}
_SOURCES: Final = {
    "pix_out": "transfer/{}",
    "pix_returned": "transfer/{}/chargeback",
    "pix_refund": "deposit/{}/reversal",
    "fee": "self",
    "ted_in": "deposit/{}",
    "ted_out": "transfer/{}",
    "boleto_in": "boleto/{}",
    "boleto_out": "boleto-payment/{}",
}
_PERSON, _COMPANY = 11, 14
_NOBODY: Final = Payer(name="", tax_number="")
_DUE_S: Final = 2 * 86400
_EXPIRATION_S: Final = 5_097_600
"""Of an invoice that says nothing else: due in two days, and to be paid 59 days beyond."""


def instant(at: int) -> str:
    """Write an instant: UTC with microseconds."""
    return from_micros(at).isoformat(timespec="microseconds")


def keep_tags(books: Books, account_id: str, name: str, tags: Sequence[str]) -> None:
    """Keep the tags of something, in lower case; what has a tag is found by ``tagged``."""
    small = [tag.lower() for tag in tags]
    kept = Kept(kind=_TAGS, name=name, value=json.dumps(small), account_id=account_id)
    put(books, kept)
    for tag in small:
        put(books, Kept(kind=f"tag {tag}", name=name, value="", account_id=account_id))


def tagged(books: Books, account_id: str, tag: str) -> list[str]:
    """Return what has a tag, newest first."""
    return [kept.name for kept in reversed(of_account(books, f"tag {tag}", account_id))]


def tags_of(books: Books, name: str) -> list[str]:
    """Return the tags of something."""
    kept = find(books, _TAGS, name)
    return [] if kept is None else list(json.loads(kept.value))


def tags_of_charge(books: Books, charge: Charge) -> list[str]:
    """Return the tags of a charge; one of the control interface has its reference for one."""
    return tags_of(books, charge.id) or [charge.reference.lower()]


def punctuated(text: str) -> str:
    """Write a tax number with its punctuation; any other text stays."""
    if not text.isdigit():
        return text
    if len(text) == _PERSON:
        return f"{text[:3]}.{text[3:6]}.{text[6:9]}-{text[9:]}"
    if len(text) == _COMPANY:
        return f"{text[:2]}.{text[2:5]}.{text[5:8]}/{text[8:12]}-{text[12:]}"
    return text


def balance(books: Books, account: Account, centavos: int) -> Document:
    """Show what a workspace holds; what is blocked is not told."""
    updated = instant(books.clock.micros())
    return {"id": account.id, "amount": centavos, "currency": "BRL", "updated": updated}


def movement(books: Books, entry: Entry, charge: Charge | None) -> Document:
    """Show a line of the statement; what comes in for an invoice has it as its source."""
    tags = tags_of(books, entry.payout_id or "")
    if entry.kind == "pix_in":
        source = f"deposit/{number(entry.seq)}"
        tags = [*([(entry.e2e_id or "").lower()]), *tags]
        if charge is not None and charge.payer is not None:
            source, tags = f"invoice/{charge.id}", tags_of_charge(books, charge)
    else:
        source = _SOURCES[entry.kind].format(entry.payout_id or number(entry.seq))
    return {
        "id": number(entry.seq),
        **fields(entry, "description", amount="centavos"),
        "source": source,
        "tags": tags,
        "created": instant(entry.at),
    }


def key(record: Key, owner: Account) -> Document:
    """Show a key of the workspace."""
    return {
        **_entry(record.key, record.type, owner.name, punctuated(owner.tax_number)),
        "status": _KEY_STATUSES[record.status],
        "created": instant(record.created_at),
    }


def owner(record: Owner) -> Document:
    """
    Show where a key leads; a person's tax number is masked.

    Of somebody at another bank whom nobody has invented more of, nothing of it is known.
    """
    told = record.tax_number
    if len(told) == _PERSON:
        told = f"***.{told[3:6]}.{told[6:9]}-**"
    elif "*" in told and record.key != KEY_OF_ANOTHER:
        told = "***.***.***-**"
    return {
        **_entry(record.key, record.type, record.name, punctuated(told)),
        **fields(record, "ispb", bankName="bank_name"),
    }


def invoice(books: Books, record: Charge) -> Document:
    """Show a charge that names its payer."""
    payer, expired = record.payer or _NOBODY, record.expired(books.clock.micros())
    ends = record.expires_at
    due = record.created_at + _DUE_S * 1_000_000 if ends is None else ends
    return {
        "id": record.id,
        "amount": record.centavos or 0,
        "nominalAmount": record.centavos or 0,
        "name": payer.name,
        "taxId": punctuated(payer.tax_number),
        "due": instant(due),
        "expiration": _EXPIRATION_S if ends is None else 0,
        "status": "expired" if expired else _CHARGE_STATUSES[record.status],
        "brcode": record.emv,
        "tags": tags_of_charge(books, record),
        "created": instant(record.created_at),
    }


def brcode(books: Books, record: Charge) -> Document:
    """Show a charge of nobody in particular; it tells no status."""
    lasts = None
    if record.expires_at is not None:
        lasts = max(0, (record.expires_at - record.created_at) // 1_000_000)
    return {
        **fields(record, id="emv", uuid="txid"),
        "amount": record.centavos or 0,
        "expiration": 3600 if lasts is None else lasts,
        "tags": tags_of_charge(books, record),
        "created": instant(record.created_at),
    }


def invoice_log(books: Books, record: Charge, paid: Payment) -> Document:
    """Show that an invoice was paid, and when."""
    return {
        "id": number(paid.seq),
        "type": "paid",
        "errors": [],
        "created": instant(paid.at),
        "invoice": invoice(books, record),
    }


def invoice_payment(paid: Payment) -> Document:
    """Show how an invoice was paid."""
    return {**_source(paid), "endToEndId": paid.e2e_id, "method": "pix"}


def deposit_tags(books: Books, paid: Payment, charge: Charge | None) -> list[str]:
    """Name money that came in, and the BR Code that it pays."""
    tags = [paid.e2e_id.lower()]
    if charge is not None and charge.type == "dynamic":
        tags += [f"dynamic-brcode/{charge.txid}", *tags_of_charge(books, charge)]
        tags += [f"d{charge.txid}"]
    return tags


def deposit(books: Books, paid: Payment, charge: Charge | None) -> Document:
    """Show money that came in."""
    return {
        **_source(paid),
        "id": number(paid.seq),
        "type": "pix",
        "tags": deposit_tags(books, paid, charge),
        "created": instant(paid.at),
    }


def transfer(record: Payout) -> Document:
    """Show a payout; once settled, its value is what was really paid."""
    sent: Mapping[str, object] = json.loads(record.to.sent)
    updated = record.returned_at or record.settled_at or record.created_at
    return {
        **sent,
        "taxId": punctuated(record.to.tax_number),
        **fields(record, "id", amount="paid"),
        "status": _PAYOUT_STATES.get(record.state, record.state),
        "updated": instant(updated),
    }


def webhook(record: Listener) -> Document:
    """Show an address for callbacks."""
    subscriptions = ["deposit", "invoice", "transfer"]
    return {"id": record.id, "url": record.url, "subscriptions": subscriptions}


def _source(paid: Payment) -> Document:
    """Show how much came from whom, and from where."""
    payer = paid.payer or _NOBODY
    return {
        "amount": paid.centavos,
        "name": payer.name,
        "taxId": punctuated(payer.tax_number),
    }


def _entry(text: str, kind: str, name: str, tax_number: str) -> dict[str, object]:
    """Show what all entries of the directory show; branch and account cannot be read."""
    return {
        "id": punctuated(text),
        "type": kind,
        "name": name,
        "taxId": tax_number,
        "branchCode": _encrypted("branch"),
        "accountNumber": _encrypted(ENCRYPTED + text),
        "accountType": "checking",
    }


def _encrypted(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
