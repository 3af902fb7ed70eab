"""Rows of money that came in, and of what was given back (contract 4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gateway.domain.accounts.permissions import Action
from gateway.domain.backoffice.approvals import Approval
from gateway.domain.bank.refunds import Refund, RefundRequest
from gateway.domain.identity.rights import Area, Right
from gateway.domain.kernel import errors
from gateway.domain.payouts.payouts import Payout
from gateway.http.backoffice import represent
from gateway.http.backoffice.callers import Office, on_account
from gateway.http.backoffice.documents import ApprovalDocument
from gateway.http.backoffice.failures import (
    CHANGES,
    PLAIN,
    READS,
    REFUND_FAILS,
    WITH_BODY,
    bank_fails,
)
from gateway.http.backoffice.operations import BackOfficeOperations
from gateway.http.backoffice.represent import WAITS
from gateway.http.route import Row, route
from gateway.operations.backoffice.approvals import Approvals
from policies.validation.backoffice.orders import REFUND
from policies.validation.backoffice.searches import INCOMING, REFUNDS
from policies.validation.inputs import REFERENCE

_READ_TRANSACTIONS: Final = Right(Area.TRANSACTION, Action.READ)
_READ_REFUNDS: Final = Right(Area.REFUND, Action.READ)
_REFUND: Final = Right(Area.REFUND, Action.WRITE)

_FAILS: Final = bank_fails(errors.TRANSACTION_UNAVAILABLE)


def received_rows(does: BackOfficeOperations) -> Sequence[Row[Office]]:
    """Return the rows that read payments and refunds."""
    return (
        route(
            "POST",
            "/accounts/{account_id}/pix/transactions/search",
            name="backoffice.pix_transactions",
            summary="Search what came in by Pix.",
            needs=_READ_TRANSACTIONS,
            limits=WITH_BODY,
            takes=INCOMING,
            runs=on_account(does.incoming.search),
            shows=represent.incoming,
            fails=_FAILS,
            raises=READS,
        ),
        route(
            "POST",
            "/accounts/{account_id}/pix/refunds/search",
            name="backoffice.pix_refunds",
            summary="Search what was given back.",
            needs=_READ_REFUNDS,
            limits=WITH_BODY,
            takes=REFUNDS,
            runs=on_account(does.refunds.search),
            shows=represent.refunds,
            fails=_FAILS,
            raises=READS,
        ),
        route(
            "GET",
            "/accounts/{account_id}/pix/refunds/{reference}",
            name="backoffice.pix_refund",
            summary="Read a refund by its own reference.",
            needs=_READ_REFUNDS,
            limits=PLAIN,
            takes=REFERENCE,
            runs=on_account(does.refunds.read),
            shows=represent.refund,
            fails=bank_fails(errors.TRANSACTION_UNAVAILABLE, errors.TRANSACTION_NOT_FOUND),
            raises=READS,
        ),
    )


def refund_rows(does: BackOfficeOperations) -> Sequence[Row[Office]]:
    """Return the row that gives money back."""
    return (
        route(
            "POST",
            "/accounts/{account_id}/pix/transactions/{reference}/refunds",
            name="backoffice.pix_refund_create",
            summary="Give a payment back, wholly or in part; may wait for another person.",
            needs=_REFUND,
            limits=WITH_BODY,
            takes=REFUND,
            runs=_Refunding(does.approvals).order,
            shows=represent.ordered_refund,
            fails=REFUND_FAILS,
            raises=(*CHANGES, errors.PAYOUT_NOT_ALLOWED),
            also={WAITS: ApprovalDocument},
        ),
    )


class _Refunding:
    """Orders refunds for people."""

    def __init__(self, approvals: Approvals) -> None:
        self._approvals = approvals

    async def order(self, who: Office, request: RefundRequest) -> Refund | Approval:
        """Give money back, or let the order wait."""
        found = await self._approvals.order(who.person, who.account, request)
        if isinstance(found, Payout):
            raise TypeError(found)
        return found
