"""Rows of accounts, their balance and their movements (contract 4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gateway.domain.accounts.permissions import Action
from gateway.domain.identity import errors as identity_errors
from gateway.domain.identity.rights import Area, Right
from gateway.domain.kernel import errors
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.requests.calls import Input
from gateway.http.backoffice import represent
from gateway.http.backoffice.callers import Office, Staff, as_actor, as_caller, on_account
from gateway.http.backoffice.failures import PLAIN, READS, bank_fails
from gateway.http.backoffice.operations import BackOfficeOperations
from gateway.http.common import STORE_FAILS
from gateway.http.resources import represent as resources
from gateway.http.route import Row, route
from gateway.operations.backoffice.visible_accounts import (
    AccountSearch,
    OwnedAccount,
    VisibleAccounts,
)
from gateway.operations.bank.pages import Listed
from gateway.operations.bank.reports import Report, ReportRequest, Reports
from gateway.operations.kernel.audit_context import RuleViolation
from gateway.reports.formats import FORMATS, Locale
from policies.validation.backoffice.accounts import ACCOUNTS, AccountsAsked
from policies.validation.backoffice.reports import ReportAsked, report_input
from policies.validation.inputs import NOTHING, SEARCH

_READ_ACCOUNT: Final = Right(Area.ACCOUNT, Action.READ)
_TEST_PROVIDER: Final = Right(Area.PROVIDER, Action.WRITE)
_READ_BALANCE: Final = Right(Area.BALANCE, Action.READ)
_READ_TRANSACTIONS: Final = Right(Area.TRANSACTION, Action.READ)
_READ_REPORT: Final = Right(Area.REPORT, Action.READ)

_REPORT: Final[Input[ReportAsked]] = report_input(
    tuple(FORMATS), tuple(each.value for each in Locale if each.value)
)


def account_list_rows(does: BackOfficeOperations) -> Sequence[Row[Staff]]:
    """Return the row that lists accounts."""
    return (
        route(
            "GET",
            "/accounts",
            name="backoffice.accounts",
            summary="List the accounts that are shown to you.",
            needs=_READ_ACCOUNT,
            limits=PLAIN,
            takes=ACCOUNTS,
            runs=_Listing(does.accounts).search,
            shows=represent.accounts,
            fails=STORE_FAILS,
            raises=(),
        ),
    )


def account_rows(does: BackOfficeOperations) -> Sequence[Row[Office]]:
    """Return the rows that read an account."""
    return (
        route(
            "GET",
            "/accounts/{account_id}",
            name="backoffice.account",
            summary="Read an account as registered.",
            needs=_READ_ACCOUNT,
            limits=PLAIN,
            takes=NOTHING,
            runs=on_account(does.accounts.read),
            shows=represent.account,
            fails=STORE_FAILS,
            raises=(),
        ),
        route(
            "POST",
            "/accounts/{account_id}/provider/test",
            name="backoffice.account_provider_test",
            summary="Ask the account's bank whether it accepts us; nothing moves.",
            needs=_TEST_PROVIDER,
            limits=PLAIN,
            takes=NOTHING,
            runs=as_actor(does.connections.test),
            shows=represent.connection,
            fails=STORE_FAILS,
            raises=(),
        ),
        route(
            "GET",
            "/accounts/{account_id}/balance",
            name="backoffice.balance",
            summary="Read the account's balance, live.",
            needs=_READ_BALANCE,
            limits=PLAIN,
            takes=NOTHING,
            runs=as_caller(does.balances.read),
            shows=resources.balance,
            fails=bank_fails(errors.BALANCE_UNAVAILABLE),
            raises=READS,
        ),
        route(
            "GET",
            "/accounts/{account_id}/transactions",
            name="backoffice.statement",
            summary="Read the account's statement for a window of days.",
            needs=_READ_TRANSACTIONS,
            limits=PLAIN,
            takes=SEARCH,
            runs=as_caller(does.statements.read),
            shows=resources.statement,
            fails=bank_fails(errors.STATEMENT_UNAVAILABLE),
            raises=READS,
        ),
        route(
            "GET",
            "/accounts/{account_id}/report",
            name="backoffice.report",
            summary="Read every movement of a window, Pix or not, as a file.",
            needs=_READ_REPORT,
            limits=PLAIN,
            takes=_REPORT,
            runs=_Reporting(does.reports).make,
            shows=represent.report,
            fails=bank_fails(errors.STATEMENT_UNAVAILABLE),
            raises=(*READS, identity_errors.NOT_POSSIBLE),
            media=tuple(each.media_type for each in FORMATS.values()),
        ),
    )


class _Listing:
    """Lists for whoever asks."""

    def __init__(self, accounts: VisibleAccounts) -> None:
        self._accounts = accounts

    async def search(self, who: Staff, asked: AccountsAsked) -> Listed[OwnedAccount]:
        """Return a page of what the person is shown."""
        wanted = AccountSearch(asked.paging, asked.company_id)
        return await self._accounts.search(who.person, wanted)


class _Reporting:
    """Makes reports, and tells what is not possible in its own words."""

    def __init__(self, reports: Reports) -> None:
        self._reports = reports

    async def make(self, who: Office, asked: ReportAsked) -> Report:
        """Make one; ServiceError ``NOT_POSSIBLE`` for too many movements."""
        wanted = ReportRequest(
            window=asked.window, format=asked.format, locale=Locale(asked.locale)
        )
        try:
            return await self._reports.make(who.account, wanted)
        except RuleViolation as problem:
            error = identity_errors.NOT_POSSIBLE
            raise ServiceError(error, problem.reason, detail=str(problem)) from problem
