"""Balances, statements and reports in the back office (contract 4.3)."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from datetime import date
from functools import partial
from typing import Annotated, Final, Literal, NotRequired, TypedDict

from msgspec import Meta, Struct

from gateway.banks.failures import bank_fails, partner_bank_fails
from gateway.banks.port.statements import Balance, Block
from gateway.core import errors, fields
from gateway.core.account import Account
from gateway.core.calls import Caller
from gateway.core.fields import meaning
from gateway.core.money import sum_of
from gateway.core.permissions import Action, Permission, Resource
from gateway.core.priority import Priority
from gateway.core.schemas import Instant, OptionalMoment, instant
from gateway.core.structs import struct_of
from gateway.core.user_errors import NOT_POSSIBLE
from gateway.core.windows import Search
from gateway.http.common import Meter, Total, meter
from gateway.http.rendering import Amount
from gateway.http.route import Answer
from gateway.http.routing import READS, Routes, kept
from gateway.payouts.model import Certainty, certainty_of
from gateway.reports.formats import FORMATS
from gateway.statements import documents as statement_documents
from gateway.statements.model import (
    LinkedEntry,
    LinkedStatement,
    Report,
    Statement,
    Sums,
    without_number,
)
from gateway.statements.reads import StatementReads, balance_of
from gateway.statements.searches import STATEMENT, report_input
from gateway.statements.service import Statements
from policies.traffic.quota import WithinQuota
from policies.validation.inputs import SEARCH

_ACCOUNT: Final = "/accounts/{account_id}"
Day = Annotated[str, Meta(pattern=r"^\d{4}-\d{2}-\d{2}$", examples=["2026-09-22"])]


class BlockDocument(Struct, frozen=True):
    """Money that is held back; ``since`` is empty where the bank does not report it."""

    kind: Annotated[Literal["med", "court", "bank", "contract"], meaning("Which kind it is.")]
    value: Amount
    since: OptionalMoment
    reference: fields.Reference


class BlockList(TypedDict):
    """Every block, oldest first; ``blocked`` is their sum."""

    blocked: Amount
    data: Annotated[list[BlockDocument], meaning("The rows of this page.")]
    meta: Total


class PayoutBehind(TypedDict):
    """
    The payout of ours that a movement is of.

    ``ordered`` and ``difference``, the movement less it, are there where money went out in another
    amount than ordered.
    """

    reference: fields.Reference
    certainty: Annotated[Certainty, Meta(extra_json_schema={"example": "settled"})]
    ordered: NotRequired[Amount]
    difference: NotRequired[Amount]


class ChargeBehind(TypedDict):
    """The charge of ours that a movement paid."""

    reference: fields.Reference


class CounterpartyDocument(TypedDict):
    """The other side of a movement."""

    name: fields.PersonName
    tax_number: fields.PersonTaxNumber


class LinkedEntryDocument(TypedDict):
    """
    A movement, with the payout or the charge of ours behind it, where one is known.

    ``unexplained`` is money that went out without a payout of ours, refunds and fees excepted.
    """

    id: fields.Id
    e2e_id: fields.E2eId
    type: Annotated[Literal["credit", "debit"], meaning("Which type it is.")]
    pix: Annotated[bool, meaning("Whether it is a movement by Pix.")]
    kind: Annotated[
        Literal["pix", "pix_return", "ted", "boleto", "fee", "other"], meaning("Which kind it is.")
    ]
    value: Amount
    description: fields.Description
    counterparty: CounterpartyDocument
    created_at: Instant
    day: Annotated[Day, meaning("Day in Brasília.")]
    unexplained: Annotated[
        bool, meaning("Whether none of our payouts, charges or refunds explains it.")
    ]
    payout: NotRequired[PayoutBehind]
    charge: NotRequired[ChargeBehind]


class SumsDocument(Struct, frozen=True, kw_only=True):
    """Totals of credits and debits; both are positive."""

    credits: Amount
    debits: Amount
    credit_count: Annotated[int, meaning("Number of credits.")]
    debit_count: Annotated[int, meaning("Number of debits.")]


class DaySumsDocument(SumsDocument, frozen=True, kw_only=True):
    """The same of one day of Brasilia."""

    day: Annotated[Day, meaning("Day in Brasília.")]


class LinkedStatementDocument(TypedDict):
    """
    A page of movements, newest first; days are in the time of Brasilia.

    ``sums`` are of the whole window without the filters, ``days`` of the filtered movements on
    the days of the page.
    ``read_at`` is empty for a page of an earlier read.
    """

    data: Annotated[list[LinkedEntryDocument], meaning("The rows of this page.")]
    meta: Meter
    sums: SumsDocument
    days: Annotated[list[DaySumsDocument], meaning("Sums of each day on this page.")]
    read_at: Instant


def partner_routes(statements: StatementReads, quota: WithinQuota) -> Routes:
    """Return the routes of partners; each page of the bank behind the first costs as a call."""
    partner = Routes("banking", quota="read", priority=Priority.PARTNERS, raises=READS)
    account_path = "/account/{account_id}"

    def balance(account: Account) -> Awaitable[Balance]:
        """Read the account's balance, live."""
        return balance_of(statements.banks, account)

    def statement(caller: Caller, search: Search) -> Awaitable[Statement]:
        """Read the account's statement for a window of days."""
        further = partial(quota.charge, "read", caller.principal)
        return statements.read(caller.account, search, further)

    partner.get(
        f"{account_path}/balance",
        "balance",
        balance,
        needs=Permission(Resource.BALANCE, Action.READ),
        shows=statement_documents.balance,
        fails=partner_bank_fails(errors.BALANCE_UNAVAILABLE),
    )
    partner.get(
        f"{account_path}/transactions",
        "statement",
        statement,
        needs=Permission(Resource.TRANSACTION, Action.READ),
        takes={"search": SEARCH},
        shows=statement_documents.statement,
        fails=partner_bank_fails(errors.STATEMENT_UNAVAILABLE),
    )
    return partner


def routes(statements: Statements) -> Routes:
    """Return the routes."""
    office = Routes(fails=bank_fails(errors.STATEMENT_UNAVAILABLE), raises=READS)
    of_balance = bank_fails(errors.BALANCE_UNAVAILABLE)
    office.get(
        f"{_ACCOUNT}/balance",
        "balance",
        statements.balance,
        shows=statement_documents.balance,
        fails=of_balance,
    )
    office.get(f"{_ACCOUNT}/blocks", "blocks", statements.blocks, shows=blocks, fails=of_balance)
    office.get(
        f"{_ACCOUNT}/transactions",
        "statement",
        statements.read,
        takes={"wanted": SEARCH},
        shows=statement_documents.statement_for_staff,
    )
    office.get(
        f"{_ACCOUNT}/statement",
        "linked_statement",
        statements.linked,
        takes={"wanted": STATEMENT},
        shows=linked_statement,
    )
    office.get(
        f"{_ACCOUNT}/report",
        "report",
        statements.report,
        takes={"wanted": report_input(FORMATS)},
        priority=Priority.HEAVY,
        shows=report,
        raises=(*READS, NOT_POSSIBLE),
        media=tuple(each.media_type for each in FORMATS.values()),
    )
    return office


def blocks(found: Sequence[Block], _who: object) -> BlockList:
    """Show every block, and how much they are together."""
    return {
        "blocked": sum_of(each.value for each in found),
        "data": [struct_of(BlockDocument, each) for each in found],
        "meta": {"total": len(found)},
    }


def report(found: Report, _who: object) -> Answer[bytes]:
    """Show a report as a file to be kept."""
    return Answer(
        content=found.content,
        content_type=found.media_type,
        headers=kept(found.file_name),
        rest=found.rest,
    )


def linked_statement(found: LinkedStatement, _who: object) -> LinkedStatementDocument:
    """Show a page."""
    return {
        "data": [_entry(each) for each in found.entries],
        "meta": meter(found.paging, found.total),
        "sums": struct_of(SumsDocument, found.sums),
        "days": _days(found.days),
        "read_at": instant(found.read_at),
    }


def _entry(found: LinkedEntry) -> LinkedEntryDocument:
    entry = found.entry
    who = without_number(entry).counterparty
    shown: LinkedEntryDocument = {
        "id": entry.provider_id,
        "e2e_id": entry.e2e_id,
        "type": entry.direction.value,
        "pix": entry.is_pix,
        "kind": entry.kind.value,
        "value": entry.value,
        "description": entry.description,
        "counterparty": {"name": who.name, "tax_number": who.tax_number},
        "created_at": instant(entry.created_at),
        "day": found.day.isoformat(),
        "unexplained": found.is_unexplained,
    }
    if found.payout is not None:
        certainty = certainty_of(found.payout)
        shown["payout"] = {"reference": found.payout.reference, "certainty": certainty}
        if found.difference is not None:
            shown["payout"]["ordered"] = found.payout.value
            shown["payout"]["difference"] = found.difference
    if found.charge is not None:
        shown["charge"] = {"reference": found.charge.reference}
    return shown


def _days(found: Mapping[date, Sums]) -> list[DaySumsDocument]:
    newest_first = sorted(found.items(), key=lambda each: each[0], reverse=True)
    return [struct_of(DaySumsDocument, sums, day=day.isoformat()) for day, sums in newest_first]
