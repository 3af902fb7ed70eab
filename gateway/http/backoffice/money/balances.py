"""The balance of an account, live at its bank."""

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
from policies.validation.inputs import NOTHING


def balance_rows(does: BackOfficeOperations) -> Sequence[Row[AccountCaller]]:
    """Return the row that reads the balance."""
    return (
        route(
            "GET",
            "/accounts/{account_id}/balance",
            name="backoffice.balance",
            summary="Read the account's balance, live.",
            needs=reading(Area.BALANCE),
            limits=NO_BODY,
            takes=NOTHING,
            runs=as_caller(does.balances.read),
            shows=resources.balance,
            fails=bank_fails(errors.BALANCE_UNAVAILABLE),
            raises=READS,
        ),
    )
