"""Payouts that users order and read (contract 4.3)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Final, NotRequired, TypedDict, TypeVar

from msgspec import Meta

from gateway.approvals.model import Approval, ApprovalDocument
from gateway.approvals.service import Approvals
from gateway.domain.bank.payout_orders import NamedOwnerDocument, PayoutMethod, hidden_destination
from gateway.domain.bank.providers import NotFound, ProviderError
from gateway.domain.bank.refunds import Refund
from gateway.domain.identity.rights import Area
from gateway.domain.kernel import errors
from gateway.domain.kernel.money import Money
from gateway.domain.payouts.payouts import KeyPayout, Payout, PayoutRequest, PayoutState
from gateway.domain.requests.calls import Input
from gateway.domain.requests.schemas import one_of
from gateway.http.backoffice.callers import READS, AccountCaller, as_caller
from gateway.http.backoffice.cells import (
    NO_BODY,
    WAITS,
    WITH_BODY,
    BackOfficeOperations,
    reading,
    waiting,
    writing,
)
from gateway.http.common import STORE_FAILS
from gateway.http.rendering import Amount, instant
from gateway.http.resources import represent as resources
from gateway.http.resources.documents import (
    BankAccountPayoutDocument,
    Instant,
    PayoutDocument,
    PayoutList,
    PixPayoutDocument,
)
from gateway.http.route import Answer, Row, route
from gateway.operations.payouts.answers import CERTAINLY_NOT_SENT
from gateway.operations.payouts.payouts import PayoutPage
from gateway.operations.payouts.records import PayoutWithReturns
from gateway.pix_keys.service import KeyOwners
from policies.validation.backoffice.orders import KEY_PAYOUT
from policies.validation.backoffice.searches import WITHDRAWS
from policies.validation.inputs import NOTHING, REFERENCE, withdraw_input

Ordered = TypeVar("Ordered")


class PayoutReturnDocument(TypedDict):
    """Money of a paid payout that came back; its id begins with ``D``."""

    id: Annotated[str, Meta(examples=["D9999999920261122134011ABCDEFGHIJK"])]
    value: Amount
    at: Instant


class SinceFields(TypedDict):
    """
    What only users are shown: until when the bank holds it, and what came back since.

    ``owner`` is absent where no bank was asked who owns the key. ``moved`` is what the bank moved
    where that is not the ``value`` ordered, and ``difference`` that less ``value``.
    """

    held_until: Instant
    returns: list[PayoutReturnDocument]
    owner: NotRequired[NamedOwnerDocument]
    moved: NotRequired[Amount]
    difference: NotRequired[Amount]


class PixPayoutRecord(PixPayoutDocument, SinceFields):
    """A payout to a PIX key, as users read it."""


class BankAccountPayoutRecord(BankAccountPayoutDocument, SinceFields):
    """A payout to a bank account, as users read it."""


@one_of(PixPayoutRecord, BankAccountPayoutRecord, told_by="method")
class PayoutRecord(PayoutDocument, SinceFields):
    """
    A payout as users read it; one that is paid stays so, whatever comes back.

    A person's tax number and key are hidden in it.
    """


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
            shows=payouts,
            fails=STORE_FAILS,
            raises=(),
        ),
    )


def payout(found: PayoutWithReturns, who: AccountCaller) -> PayoutRecord:
    """Show a payout, the bank's deadline while it holds it, and what came back."""
    about = found.payout
    held = about.held_until if about.state is PayoutState.ACCEPTED else None
    since: SinceFields = {
        "held_until": instant(held),
        "returns": [
            {"id": each.id, "value": each.value, "at": instant(each.at)} for each in found.returns
        ],
    }
    if about.owner is not None:
        since["owner"] = about.owner.document(about.destination)
    if about.moved is not None:
        since["moved"] = about.moved
        since["difference"] = difference(about.moved, about)
    return {**hidden(resources.payout(about, who)), **since}


def difference(moved: Money, about: Payout) -> Amount:
    """Write how much more than ordered the bank moved; negative for less."""
    return Money(moved.centavos - about.value.centavos)


def payouts(found: PayoutPage, who: AccountCaller) -> PayoutList:
    """Show a page of payouts, with people's tax numbers and keys hidden."""
    shown = resources.payouts(found, who)
    return {**shown, "data": [hidden(each) for each in shown["data"]]}


def hidden(shown: PayoutDocument) -> PayoutDocument:
    """Hide a person's tax number and key in a payout."""
    return {**shown, "destination": hidden_destination(shown["destination"])}


def withdraw_acting_rows(does: BackOfficeOperations) -> Sequence[Row[AccountCaller]]:
    """Return the rows that pay out, and the one that never takes a payout back."""
    paying = _Paying(does.approvals, does.key_owners)
    to_account = withdraw_input(PayoutMethod.BANK_ACCOUNT)
    return (
        _ordering("/bank-account", "backoffice.withdraw_bank", to_account, paying.order),
        _ordering("/pix", "backoffice.withdraw_pix", KEY_PAYOUT, paying.order_by_key),
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
    path: str,
    name: str,
    takes: Input[Ordered],
    runs: Callable[[AccountCaller, Ordered], Awaitable[Payout | Approval]],
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
        runs=runs,
        shows=ordered_payout,
        fails={
            **STORE_FAILS,
            ProviderError: errors.PROVIDER_UNREACHABLE,
            NotFound: errors.PIX_KEY_NOT_FOUND,
        },
        raises=_RAISES,
        also={WAITS: ApprovalDocument},
    )


class _Paying:
    """Orders payouts for people."""

    def __init__(self, approvals: Approvals, owners: KeyOwners) -> None:
        self._approvals = approvals
        self._owners = owners

    async def order_by_key(self, who: AccountCaller, order: KeyPayout) -> Payout | Approval:
        """Ask the bank who owns the key; then as ``order``."""
        return await self.order(who, await self._owners.named(who.acting, who.account, order))

    async def order(self, who: AccountCaller, request: PayoutRequest) -> Payout | Approval:
        """Pay out, or let the order wait."""
        found = await self._approvals.order(who.staff, who.account, request)
        if isinstance(found, Refund):
            raise TypeError(found)
        return found


def ordered_payout(
    found: Payout | Approval, who: AccountCaller
) -> Answer[PayoutDocument] | Answer[ApprovalDocument]:
    """Show the payout that was made, or that it waits."""
    if isinstance(found, Approval):
        return waiting(found, who)
    return Answer(content=resources.payout_created(found, who))
