"""A balance and a statement as documents (contract 2.3, 2.7)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC
from typing import Annotated, Final, Literal, TypedDict

from gateway.accounts.documents import AccountDocument, account_document
from gateway.banks.port.statements import Balance, Direction, Entry
from gateway.core import fields
from gateway.core.fields import meaning
from gateway.core.money import ZERO
from gateway.core.schemas import Instant, Moment, instant
from gateway.http.common import Meter, OfAccount, PartyDocument, meter
from gateway.http.rendering import Amount
from gateway.statements.model import Statement, without_number

# Looking a member up by its name costs Python 3.11 a call each time.
_CREDIT: Final = Direction.CREDIT


# JavaScript reads larger integers wrong; those become 0.
_LARGEST_DOCUMENT_NUMBER = 2**53 - 1


_LONGEST_DOCUMENT_NUMBER = 16


class BalanceDocument(TypedDict):
    """The balance, live from the banking provider."""

    balance: Amount
    blocked: Annotated[
        Amount, meaning("Reais that the account holds and cannot pay out, with two decimals.")
    ]
    updated_at: Instant


class EntryDocument(TypedDict):
    """A movement of the account."""

    id: fields.Id
    operation: Annotated[
        Literal["Pix In", "Pix Out"], meaning("What kind of movement, such as `Pix In`.")
    ]
    type: Annotated[Literal["credit", "debit"], meaning("Which type it is.")]
    value: Amount
    description: fields.Description
    tags: Annotated[
        list[str],
        meaning(
            "Ids of the movement, such as its end-to-end id.",
            ["1042", "E0000000020261120134011abcdefghi"],
        ),
    ]
    document_number: Annotated[
        int, meaning("The bank's number of the movement; 0 where its id is no number.")
    ]
    counterparty: PartyDocument
    created_at: Moment


class StatementDocument(TypedDict):
    """A page of movements, newest first, with the balance and the account."""

    data: Annotated[list[EntryDocument], meaning("The rows of this page.")]
    meta: Meter
    balance: BalanceDocument
    account: AccountDocument


def balance(found: Balance, _caller: OfAccount) -> BalanceDocument:
    """Show a balance (contract 2.3)."""
    return {
        "balance": found.balance,
        "blocked": found.blocked or ZERO,
        "updated_at": instant(found.updated_at),
    }


def statement(found: Statement, caller: OfAccount) -> StatementDocument:
    """Show a page of the statement (contract 2.7)."""
    return {
        "data": [_entry(each) for each in found.entries],
        "meta": meter(found.paging, found.total),
        "balance": balance(found.balance, caller),
        "account": account_document(caller.account),
    }


def statement_for_staff(found: Statement, caller: OfAccount) -> StatementDocument:
    """Show the same page, with tax numbers of persons in part."""
    entries = tuple(map(without_number, found.entries))
    return statement(replace(found, entries=entries), caller)


def _entry(entry: Entry) -> EntryDocument:
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
    """Return tags with the known identifiers, for a movement that lacks one of the two."""
    return [tag for tag in (entry.provider_id, entry.e2e_id) if tag]


def _document_number(provider_id: str) -> int:
    """Show a numeric provider id as a number that JSON readers keep exact, else 0."""
    digits = provider_id.isascii() and provider_id.isdigit()
    number = int(provider_id) if digits and len(provider_id) <= _LONGEST_DOCUMENT_NUMBER else 0
    return number if number <= _LARGEST_DOCUMENT_NUMBER else 0
