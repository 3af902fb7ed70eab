"""The statement as operators read it: by local days, with sums, tied to payouts and charges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Annotated, Literal, NotRequired, TypedDict

from msgspec import Meta

from gateway.domain.bank.statements import Direction, Entry
from gateway.domain.identity.rights import Area
from gateway.domain.kernel import errors
from gateway.domain.kernel.money import Sum
from gateway.domain.payouts.status import Certainty, certainty_of
from gateway.domain.requests.calls import Caller
from gateway.http.backoffice.callers import READS, AccountCaller, as_caller, bank_fails
from gateway.http.backoffice.cells import NO_BODY, BackOfficeOperations, reading
from gateway.http.rendering import Amount, instant
from gateway.http.resources.documents import Instant, Meter
from gateway.http.resources.represent import meter
from gateway.http.route import Row, route
from gateway.operations.backoffice.money.linked_statements import (
    LinkedEntry,
    LinkedStatement,
    StatementSearch,
    Sums,
    local_day,
)
from policies.validation.backoffice.searches import STATEMENT, StatementAsked

Day = Annotated[str, Meta(pattern=r"^\d{4}-\d{2}-\d{2}$", examples=["2026-09-22"])]


class PayoutBehind(TypedDict):
    """
    The payout of ours that a movement is of.

    ``ordered`` and ``difference``, the movement less it, are there where money went out in another
    amount than ordered.
    """

    reference: str
    certainty: Certainty
    ordered: NotRequired[Amount]
    difference: NotRequired[Amount]


class ChargeBehind(TypedDict):
    """The charge of ours that a movement paid."""

    reference: str


class CounterpartyDocument(TypedDict):
    """The other side of a movement."""

    name: str
    tax_number: str


class LinkedEntryDocument(TypedDict):
    """
    A movement, with the payout or the charge of ours behind it, where one is known.

    ``unexplained`` is money that went out without a payout of ours, refunds and fees excepted.
    """

    id: str
    e2e_id: str
    type: Literal["credit", "debit"]
    pix: bool
    kind: Literal["pix", "pix_return", "ted", "boleto", "fee", "other"]
    value: Amount
    description: str
    counterparty: CounterpartyDocument
    created_at: Instant
    day: Day
    unexplained: bool
    payout: NotRequired[PayoutBehind]
    charge: NotRequired[ChargeBehind]


class SumsDocument(TypedDict):
    """What came in and went out; both are positive."""

    credits: Amount
    debits: Amount
    credit_count: int
    debit_count: int


class DaySumsDocument(SumsDocument):
    """The same of one day of Brasilia."""

    day: Day


class LinkedStatementDocument(TypedDict):
    """
    A page of movements, newest first; days are those of Brasilia.

    ``sums`` are of the whole window whatever the filters, ``days`` of the days on the page.
    ``read_at`` is empty for a page of what was read before.
    """

    data: list[LinkedEntryDocument]
    meta: Meter
    sums: SumsDocument
    days: list[DaySumsDocument]
    read_at: Instant


def linked_statement_rows(does: BackOfficeOperations) -> Sequence[Row[AccountCaller]]:
    """Return the row."""

    async def read(who: Caller, asked: StatementAsked) -> LinkedStatement:
        direction = Direction(asked.direction) if asked.direction else None
        wanted = StatementSearch(search=asked.search, direction=direction, text=asked.text)
        return await does.linked_statements.read(who, wanted)

    return (
        route(
            "GET",
            "/accounts/{account_id}/statement",
            name="backoffice.linked_statement",
            summary="Read the statement by local days, with sums, tied to payouts and charges.",
            needs=reading(Area.TRANSACTION),
            limits=NO_BODY,
            takes=STATEMENT,
            runs=as_caller(read),
            shows=linked_statement,
            fails=bank_fails(errors.STATEMENT_UNAVAILABLE),
            raises=READS,
        ),
    )


def linked_statement(found: LinkedStatement, _who: AccountCaller) -> LinkedStatementDocument:
    """Show a page."""
    return {
        "data": [_entry(each) for each in found.entries],
        "meta": meter(found.paging, found.total),
        "sums": _sums(found.sums),
        "days": _days(found.days),
        "read_at": instant(found.read_at),
    }


def _entry(found: LinkedEntry) -> LinkedEntryDocument:
    shown = _movement(found.entry, unexplained=found.is_unexplained)
    if found.payout is not None:
        certainty = certainty_of(found.payout)
        shown["payout"] = {"reference": found.payout.reference, "certainty": certainty}
        if found.difference:
            shown["payout"]["ordered"] = found.payout.value
            shown["payout"]["difference"] = Sum(found.difference)
    if found.charge is not None:
        shown["charge"] = {"reference": found.charge.reference}
    return shown


def _movement(entry: Entry, *, unexplained: bool) -> LinkedEntryDocument:
    who = entry.counterparty
    return {
        "id": entry.provider_id,
        "e2e_id": entry.e2e_id,
        "type": entry.direction.value,
        "pix": entry.is_pix,
        "kind": entry.kind.value,
        "value": entry.value,
        "description": entry.description,
        "counterparty": {"name": who.name, "tax_number": who.tax_number},
        "created_at": instant(entry.created_at),
        "day": local_day(entry.created_at).isoformat(),
        "unexplained": unexplained,
    }


def _sums(found: Sums) -> SumsDocument:
    return {
        "credits": Sum(found.credits),
        "debits": Sum(found.debits),
        "credit_count": found.credit_count,
        "debit_count": found.debit_count,
    }


def _days(found: Mapping[date, Sums]) -> list[DaySumsDocument]:
    newest_first = sorted(found.items(), key=lambda each: each[0], reverse=True)
    return [{"day": day.isoformat(), **_sums(sums)} for day, sums in newest_first]
