"""Whether the bank behind an account accepts us."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict

from gateway.domain.identity.rights import Area
from gateway.http.backoffice.callers import AccountCaller, as_actor
from gateway.http.backoffice.cells import NO_BODY, BackOfficeOperations, writing
from gateway.http.common import STORE_FAILS
from gateway.http.route import Row, route
from gateway.operations.backoffice.bank_connections import SENTENCES, Connected
from policies.validation.inputs import NOTHING


class ConnectionDocument(TypedDict):
    """What came of asking an account's bank; ``works`` is true for the outcome of that name."""

    works: bool
    outcome: Literal[
        "works",
        "no_provider",
        "no_credentials",
        "no_certificate",
        "credentials_refused",
        "account_unknown",
        "refused",
        "not_offered",
        "busy",
        "unreachable",
        "no_answer",
        "not_understood",
    ]
    message: str


def connection_rows(does: BackOfficeOperations) -> Sequence[Row[AccountCaller]]:
    """Return the row that asks the bank."""
    return (
        route(
            "POST",
            "/accounts/{account_id}/provider/test",
            name="backoffice.account_provider_test",
            summary="Ask the account's bank whether it accepts us; nothing moves.",
            needs=writing(Area.PROVIDER),
            limits=NO_BODY,
            takes=NOTHING,
            runs=as_actor(does.connections.test),
            shows=connection,
            fails=STORE_FAILS,
            raises=(),
        ),
    )


def connection(came: Connected, _who: AccountCaller) -> ConnectionDocument:
    """Show what came of asking a bank."""
    return {
        "works": came is Connected.WORKS,
        "outcome": came.value,
        "message": SENTENCES[came],
    }
