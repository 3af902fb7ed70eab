"""The balance and the statement of an account, and its movements as a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Literal, TypedDict

from gateway.domain.bank.statements import Block
from gateway.domain.identity import errors as identity_errors
from gateway.domain.identity.rights import Area
from gateway.domain.kernel import errors
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.kernel.money import sum_of
from gateway.domain.requests.calls import Input
from gateway.http.backoffice.callers import READS, AccountCaller, as_caller, bank_fails
from gateway.http.backoffice.cells import NO_BODY, BackOfficeOperations, reading
from gateway.http.rendering import Amount, instant
from gateway.http.resources import represent as resources
from gateway.http.resources.documents import Instant, Total
from gateway.http.route import Answer, Row, route
from gateway.operations.backoffice.downloads.files import Turns, in_turn
from gateway.operations.bank.reports import Report, ReportRequest, Reports
from gateway.operations.kernel.audit_context import RuleViolation
from gateway.reports.formats import FORMATS, Locale
from policies.validation.backoffice.searches import ReportAsked, report_input
from policies.validation.inputs import NOTHING, SEARCH


class BlockDocument(TypedDict):
    """Money that is held back; ``since`` is empty where the bank does not tell."""

    kind: Literal["med", "court", "bank", "contract"]
    value: Amount
    since: Instant
    reference: str


class BlockList(TypedDict):
    """Every block, oldest first; ``blocked`` is their sum."""

    blocked: Amount
    data: list[BlockDocument]
    meta: Total


def balance_rows(does: BackOfficeOperations) -> Sequence[Row[AccountCaller]]:
    """Return the rows that read the balance and its blocks."""
    return (
        route(
            "GET",
            "/accounts/{account_id}/balance",
            name="backoffice.balance",
            summary="Read the account's balance, live.",
            needs=reading(Area.BALANCE),
            limits=NO_BODY,
            takes=NOTHING,
            runs=as_caller(does.bank.balances.read),
            shows=resources.balance,
            fails=bank_fails(errors.BALANCE_UNAVAILABLE),
            raises=READS,
        ),
        route(
            "GET",
            "/accounts/{account_id}/blocks",
            name="backoffice.blocks",
            summary="Read what is blocked of the account's balance and why, live.",
            needs=reading(Area.BALANCE),
            limits=NO_BODY,
            takes=NOTHING,
            runs=as_caller(does.bank.blocks.read),
            shows=blocks,
            fails=bank_fails(errors.BALANCE_UNAVAILABLE),
            raises=READS,
        ),
    )


def blocks(found: Sequence[Block], _who: AccountCaller) -> BlockList:
    """Show every block, and how much they are together."""
    return {
        "blocked": sum_of(each.value for each in found),
        "data": [_block(each) for each in found],
        "meta": {"total": len(found)},
    }


def _block(found: Block) -> BlockDocument:
    return {
        "kind": found.kind.value,
        "value": found.value,
        "since": instant(found.since),
        "reference": found.reference,
    }


def statement_rows(does: BackOfficeOperations) -> Sequence[Row[AccountCaller]]:
    """Return the row that reads the statement."""
    return (
        route(
            "GET",
            "/accounts/{account_id}/transactions",
            name="backoffice.statement",
            summary="Read the account's statement for a window of days.",
            needs=reading(Area.TRANSACTION),
            limits=NO_BODY,
            takes=SEARCH,
            runs=as_caller(does.bank.statements.read),
            shows=resources.statement,
            fails=bank_fails(errors.STATEMENT_UNAVAILABLE),
            raises=READS,
        ),
    )


_REPORT: Final[Input[ReportAsked]] = report_input(
    tuple(FORMATS), tuple(each.value for each in Locale if each.value)
)


def report_rows(does: BackOfficeOperations) -> Sequence[Row[AccountCaller]]:
    """Return the row that makes a report."""
    return (
        route(
            "GET",
            "/accounts/{account_id}/report",
            name="backoffice.report",
            summary="Read every movement of a window, Pix or not, as a file.",
            needs=reading(Area.REPORT),
            limits=NO_BODY,
            takes=_REPORT,
            runs=_Reporting(does.bank.reports, does.exports.turns).make,
            shows=report,
            fails=bank_fails(errors.STATEMENT_UNAVAILABLE),
            raises=(*READS, identity_errors.NOT_POSSIBLE),
            media=tuple(each.media_type for each in FORMATS.values()),
        ),
    )


class _Reporting:
    """Makes reports, and tells what is not possible in its own words."""

    def __init__(self, reports: Reports, turns: Turns) -> None:
        self._reports = reports
        self._turns = turns

    async def make(self, who: AccountCaller, asked: ReportAsked) -> Report:
        """Make one; ServiceError ``NOT_POSSIBLE`` for too many movements, 429 for many files."""
        wanted = ReportRequest(
            window=asked.window,
            format=asked.format,
            locale=Locale(asked.locale),
            hides_people=asked.hides_people,
        )
        turn = self._turns.take(who.person.user_id)
        try:
            made = await self._reports.make(who.account, wanted)
            return made if made.rest is None else replace(made, rest=in_turn(turn, made.rest))
        except RuleViolation as problem:
            error = identity_errors.NOT_POSSIBLE
            raise ServiceError(error, problem.reason, detail=str(problem)) from problem


def report(found: Report, _who: AccountCaller) -> Answer[bytes]:
    """Show a report as a file to be kept; no browser guesses at what it is."""
    return Answer(
        content=found.content,
        content_type=found.media_type,
        headers={
            "Content-Disposition": f'attachment; filename="{found.file_name}"',
            "X-Content-Type-Options": "nosniff",
        },
        rest=found.rest,
    )
