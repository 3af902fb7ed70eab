"""Payouts that users order and read (contract 4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final, TypedDict

from msgspec import Meta

from gateway.domain.backoffice.approvals import Approval
from gateway.domain.bank.payout_orders import PayoutMethod
from gateway.domain.bank.providers import ProviderError
from gateway.domain.bank.refunds import Refund
from gateway.domain.identity.rights import Area
from gateway.domain.kernel import errors
from gateway.domain.payouts.payouts import Payout, PayoutRequest, PayoutState
from gateway.domain.requests.calls import Input
from gateway.domain.requests.schemas import one_of
from gateway.http.backoffice.callers import READS, AccountCaller, as_caller
from gateway.http.backoffice.cells import (
    NO_BODY,
    WAITS,
    WITH_BODY,
    BackOfficeOperations,
    reading,
    writing,
)
from gateway.http.backoffice.decisions.approvals import ApprovalDocument, waiting
from gateway.http.common import STORE_FAILS
from gateway.http.rendering import Amount, amount, instant
from gateway.http.resources import represent as resources
from gateway.http.resources.documents import (
    BankAccountPayoutDocument,
    Instant,
    PayoutDocument,
    PixPayoutDocument,
)
from gateway.http.route import Answer, Row, route
from gateway.operations.backoffice.approvals import Approvals
from gateway.operations.payouts.answers import CERTAINLY_NOT_SENT
from gateway.operations.payouts.records import PayoutWithReturns
from policies.validation.backoffice.searches import WITHDRAWS
from policies.validation.inputs import NOTHING, REFERENCE, withdraw_input


class PayoutReturnDocument(TypedDict):
    """Money of a paid payout that came back; its id begins with ``D``."""

    id: Annotated[str, Meta(examples=["D9999999920261122134011ABCDEFGHIJK"])]
    value: Amount
    at: Instant


class SinceFields(TypedDict):
    """What only users are shown: until when the bank holds it, and what came back since."""

    held_until: Instant
    returns: list[PayoutReturnDocument]


class PixPayoutRecord(PixPayoutDocument, SinceFields):
    """A payout to a PIX key, as users read it."""


class BankAccountPayoutRecord(BankAccountPayoutDocument, SinceFields):
    """A payout to a bank account, as users read it."""


@one_of(PixPayoutRecord, BankAccountPayoutRecord, told_by="method")
class PayoutRecord(PayoutDocument, SinceFields):
    """A payout as users read it; one that is paid stays so, whatever comes back."""


_RAISES: Final = (
    *READS,
    errors.ALREADY_IN_USE,
    errors.PAYOUT_DATE_NOT_TODAY,
    errors.PROVIDER_READ_ONLY,
    *CERTAINLY_NOT_SENT,
    errors.PAYOUT_REJECTED,
    errors.PAYOUT_REFERENCE_IN_USE,
    errors.PAYOUT_NOT_ALLOWED,
    errors.PAYOUTS_STOPPED,
    errors.PAYOUT_UNKNOWN,
)


def withdraw_reading_rows(does: BackOfficeOperations) -> Sequence[Row[AccountCaller]]:
    """Return the rows that read payouts."""
    return (
        route(
            "GET",
            "/accounts/{account_id}/withdraw/{reference}",
            name="backoffice.withdraw",
            summary="Read a payout by its reference.",
            needs=reading(Area.PAYOUT),
            limits=NO_BODY,
            takes=REFERENCE,
            runs=as_caller(does.payout_reads.read),
            shows=payout,
            fails=STORE_FAILS,
            raises=(errors.PAYOUT_NOT_FOUND,),
        ),
        route(
            "POST",
            "/accounts/{account_id}/withdraws/search",
            name="backoffice.withdraws",
            summary="Search payouts created within a window of days.",
            needs=reading(Area.PAYOUT),
            limits=WITH_BODY,
            takes=WITHDRAWS,
            runs=as_caller(does.payout_lists.search),
            shows=resources.payouts,
            fails=STORE_FAILS,
            raises=(),
        ),
    )


def payout(found: PayoutWithReturns, who: AccountCaller) -> PayoutRecord:
    """Show a payout, the bank's deadline while it holds it, and what came back."""
    held = found.payout.held_until if found.payout.state is PayoutState.ACCEPTED else None
    return {
        **resources.payout(found.payout, who),
        "held_until": instant(held),
        "returns": [
            {"id": each.id, "value": amount(each.value), "at": instant(each.at)}
            for each in found.returns
        ],
    }


def withdraw_acting_rows(does: BackOfficeOperations) -> Sequence[Row[AccountCaller]]:
    """Return the rows that pay out, and the one that never takes a payout back."""

    def takes(method: PayoutMethod) -> Input[PayoutRequest]:
        return withdraw_input(method, alphanumeric_cnpj=does.alphanumeric_cnpj)

    return (
        _ordering(
            does, "/bank-account", "backoffice.withdraw_bank", takes(PayoutMethod.BANK_ACCOUNT)
        ),
        _ordering(does, "/pix", "backoffice.withdraw_pix", takes(PayoutMethod.PIX)),
        route(
            "DELETE",
            "/accounts/{account_id}/withdraw/{reference}",
            name="backoffice.withdraw_cancel",
            summary="Always refused: a submitted payout is final.",
            needs=writing(Area.PAYOUT),
            limits=NO_BODY,
            takes=NOTHING,
            runs=as_caller(does.payouts.cancel),
            shows=resources.nothing,
            fails=STORE_FAILS,
            raises=(errors.CANCEL_NOT_IMPLEMENTED,),
        ),
    )


def _ordering(
    does: BackOfficeOperations, path: str, name: str, takes: Input[PayoutRequest]
) -> Row[AccountCaller]:
    """Return the row of one method."""
    return route(
        "POST",
        f"/accounts/{{account_id}}/withdraw{path}",
        name=name,
        summary="Pay out; the order may wait for another user.",
        needs=writing(Area.PAYOUT),
        limits=WITH_BODY,
        takes=takes,
        runs=_Paying(does.approvals).order,
        shows=ordered_payout,
        fails={**STORE_FAILS, ProviderError: errors.PROVIDER_UNREACHABLE},
        raises=_RAISES,
        also={WAITS: ApprovalDocument},
    )


class _Paying:
    """Orders payouts for people."""

    def __init__(self, approvals: Approvals) -> None:
        self._approvals = approvals

    async def order(self, who: AccountCaller, request: PayoutRequest) -> Payout | Approval:
        """Pay out, or let the order wait."""
        found = await self._approvals.order(who.person, who.account, request)
        if isinstance(found, Refund):
            raise TypeError(found)
        return found


def ordered_payout(
    found: Payout | Approval, who: AccountCaller
) -> Answer[PayoutDocument] | Answer[ApprovalDocument]:
    """Show the payout that was made, or that it waits."""
    if isinstance(found, Approval):
        return waiting(found)
    return Answer(content=resources.payout_created(found, who))
