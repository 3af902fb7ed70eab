"""Reports: every movement of a window as a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gateway.domain.identity import errors as identity_errors
from gateway.domain.identity.rights import Area
from gateway.domain.kernel import errors
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.requests.calls import Input
from gateway.http.backoffice.callers import AccountCaller
from gateway.http.backoffice.cells import NO_BODY, reading
from gateway.http.backoffice.failures import READS, bank_fails
from gateway.http.backoffice.operations import BackOfficeOperations
from gateway.http.route import Answer, Row, route
from gateway.operations.bank.reports import Report, ReportRequest, Reports
from gateway.operations.kernel.audit_context import RuleViolation
from gateway.reports.formats import FORMATS, Locale
from policies.validation.backoffice.reports import ReportAsked, report_input

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
            runs=_Reporting(does.reports).make,
            shows=report,
            fails=bank_fails(errors.STATEMENT_UNAVAILABLE),
            raises=(*READS, identity_errors.NOT_POSSIBLE),
            media=tuple(each.media_type for each in FORMATS.values()),
        ),
    )


class _Reporting:
    """Makes reports, and tells what is not possible in its own words."""

    def __init__(self, reports: Reports) -> None:
        self._reports = reports

    async def make(self, who: AccountCaller, asked: ReportAsked) -> Report:
        """Make one; ServiceError ``NOT_POSSIBLE`` for too many movements."""
        wanted = ReportRequest(
            window=asked.window, format=asked.format, locale=Locale(asked.locale)
        )
        try:
            return await self._reports.make(who.account, wanted)
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
    )
