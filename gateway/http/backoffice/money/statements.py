"""The statement of an account for a window of days."""

from __future__ import annotations

from collections.abc import Sequence

from gateway.domain.identity.rights import Area
from gateway.domain.kernel import errors
from gateway.http.backoffice.callers import AccountCaller, as_caller
from gateway.http.backoffice.cells import NO_BODY, reading
from gateway.http.backoffice.failures import READS, bank_fails
from gateway.http.backoffice.operations import BackOfficeOperations
from gateway.http.resources import represent as resources
from gateway.http.route import Row, route
from policies.validation.inputs import SEARCH


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
            runs=as_caller(does.statements.read),
            shows=resources.statement,
            fails=bank_fails(errors.STATEMENT_UNAVAILABLE),
            raises=READS,
        ),
    )
