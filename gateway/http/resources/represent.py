"""Domain values into the documents of an account's resources, for whoever acts on it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC
from typing import Final, Never, Protocol

from gateway.accounts.documents import account_document
from gateway.banks.port.charges import Charge, ChargePayment, Payer
from gateway.banks.port.statements import Balance, Direction, Entry, Statement
from gateway.core.account import Account
from gateway.core.money import ZERO, Money
from gateway.core.schemas import instant
from gateway.core.windows import Paging
from gateway.http.rendering import minute
from gateway.http.resources.documents import (
    BalanceDocument,
    ChargeDocument,
    EntryDocument,
    Meter,
    PayerDocument,
    PayoutList,
    PixKeyDocument,
    PixKeyList,
    StatementDocument,
    TransactionDocument,
)
from gateway.payouts.create import PayoutPage
from gateway.payouts.documents import PayoutDocument, payout_document
from gateway.payouts.model import Payout
from gateway.pix_keys.model import OwnedKey

# Looking a member up by its name costs Python 3.11 a call each time.
_CREDIT: Final = Direction.CREDIT
_ZERO = Money(0)
# JavaScript reads larger integers wrong; those become 0.
_LARGEST_DOCUMENT_NUMBER = 2**53 - 1
_LONGEST_DOCUMENT_NUMBER = 16


class OfAccount(Protocol):
    """Somebody who was let through to one account."""

    @property
    def account(self) -> Account:
        """The account they act on."""
        ...


def balance(found: Balance, _caller: OfAccount) -> BalanceDocument:
    """Show a balance (contract 2.3)."""
    return {
        "balance": found.balance,
        "blocked": found.blocked or ZERO,
        "updated_at": instant(found.updated_at),
    }


def pix_key(owned: OwnedKey, _caller: OfAccount) -> PixKeyDocument:
    """Show a PIX key (contract 2.8)."""
    key = owned.key
    return {
        "id": owned.id,
        "key": key.key,
        "type": key.type.value,
        "status": key.status.value,
        "created_at": instant(key.created_at),
    }


def pix_keys(owned: Sequence[OwnedKey], caller: OfAccount) -> PixKeyList:
    """Show every PIX key."""
    return {"data": [pix_key(each, caller) for each in owned], "meta": {"total": len(owned)}}


def charge(found: Charge, _caller: OfAccount) -> ChargeDocument:
    """Show a charge as a QR code (contract 2.4)."""
    shown: ChargeDocument = {
        "id": "",
        "name": "",
        "description": "",
        "reference": found.reference,
        "type": found.type.value,
        "key": found.key,
        "receiver": {"name": found.receiver.name, "tax_number": found.receiver.tax_number},
        "location": {"city": found.city, "zip_code": found.zip_code},
        "qrcode": {"hash": found.emv},
        "reusable": found.reusable,
        "expires_at": minute(found.expires_at),
        "value": found.value or _ZERO,
        "status": found.status.value,
        "created_at": minute(found.created_at),
    }
    if found.payer is not None:
        shown["payer"] = payer(found.payer)
    return shown


def transaction(found: ChargePayment, _caller: OfAccount) -> TransactionDocument:
    """Show a charge as a transaction (contract 2.5)."""
    shown: TransactionDocument = {
        "reference": found.reference,
        "status": "pending" if found.paid_at is None else "paid",
        "value": found.value or _ZERO,
        "created_at": instant(found.created_at),
        "paid_at": instant(found.paid_at),
        "e2e_id": found.e2e_id,
    }
    if found.payer is not None:
        shown["payer"] = payer(found.payer)
    return shown


def statement(found: Statement, caller: OfAccount) -> StatementDocument:
    """Show a page of the statement (contract 2.7)."""
    return {
        "data": [_entry(each) for each in found.entries],
        "meta": meter(found.paging, found.total),
        "balance": balance(found.balance, caller),
        "account": account_document(caller.account),
    }


def payout_created(found: Payout, caller: OfAccount) -> PayoutDocument:
    """Show a payout as its creation answers: processing, whatever is known by now."""
    shown = payout(found, caller)
    shown["status"], shown["settled_at"] = "processing", ""
    shown.pop("failure", None)
    return shown


def payout(found: Payout, caller: OfAccount) -> PayoutDocument:
    """Show a payout (contract 2.6)."""
    return payout_document(found, account_document(caller.account))


def payouts(found: PayoutPage, caller: OfAccount) -> PayoutList:
    """Show a page of payouts."""
    origin = account_document(caller.account)
    return {
        "data": [payout_document(each, origin) for each in found.payouts],
        "meta": meter(found.paging, found.total),
    }


def nothing(_found: Never, _caller: OfAccount) -> PayoutDocument:
    """Show what never comes: the operation always refuses."""
    raise NotImplementedError


def payer(who: Payer) -> PayerDocument:
    """Show a payer."""
    return {"name": who.name, "tax_number": who.tax_number, "message": who.message}


def _entry(entry: Entry) -> EntryDocument:
    """Show a movement."""
    credit = entry.direction is _CREDIT
    provider_id, e2e_id = entry.provider_id, entry.e2e_id
    who = entry.counterparty
    return {
        "id": provider_id,
        "operation": "Pix In" if credit else "Pix Out",
        "type": "credit" if credit else "debit",
        "value": entry.value,
        "description": entry.description,
        "tags": [provider_id, e2e_id] if provider_id and e2e_id else _tags(entry),
        "document_number": _document_number(provider_id),
        "counterparty": {"name": who.name, "tax_number": who.tax_number},
        "created_at": entry.created_at.astimezone(UTC),
    }


def _tags(entry: Entry) -> list[str]:
    """Name what identifiers are known, for a movement that lacks one of the two."""
    return [tag for tag in (entry.provider_id, entry.e2e_id) if tag]


def _document_number(provider_id: str) -> int:
    """Show a numeric provider id as a number that JSON readers keep exact, else 0."""
    digits = provider_id.isascii() and provider_id.isdigit()
    number = int(provider_id) if digits and len(provider_id) <= _LONGEST_DOCUMENT_NUMBER else 0
    return number if number <= _LARGEST_DOCUMENT_NUMBER else 0


def meter(paging: Paging, total: int) -> Meter:
    """Show where a page lies; ``limit`` is the one used."""
    return {"page": paging.page, "limit": paging.limit, "total": total}
