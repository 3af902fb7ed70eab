"""Back-office routes of approvals."""

from __future__ import annotations

from typing import Annotated, Final, NotRequired, TypedDict

from gateway.approvals.facts import DecisionFacts
from gateway.approvals.searches import APPROVALS
from gateway.approvals.service import Approvals, ApprovedSecrets
from gateway.banks.failures import REFUND_FAILS
from gateway.banks.model import Reading
from gateway.core import errors
from gateway.core.approvals import ApprovalDocument
from gateway.core.fields import meaning
from gateway.core.money import Sum
from gateway.core.priority import Priority
from gateway.core.user_errors import FORBIDDEN
from gateway.http.gates import StaffCaller
from gateway.http.route import OK
from gateway.http.routing import ABSENT, CHANGED, Routes
from gateway.payouts.create import CERTAINLY_NOT_SENT
from gateway.payouts.documents import FoundPayoutDocument

_DECIDING: Final = (*CHANGED, FORBIDDEN)
_MOVING: Final = (
    errors.ACCOUNT_NOT_FOUND,
    errors.ACCOUNT_INACTIVE,
    errors.ACCOUNT_UNVERIFIED,
    errors.PROVIDER_NOT_CONFIGURED,
    errors.PROVIDER_READ_ONLY,
    errors.PAYOUT_DATE_NOT_TODAY,
    errors.PAYOUT_REJECTED,
    errors.PAYOUT_REFERENCE_IN_USE,
    errors.PAYOUT_NOT_ALLOWED,
    errors.PAYOUTS_STOPPED,
    errors.PAYOUT_UNKNOWN,
    *CERTAINLY_NOT_SENT,
    errors.BANK_REFUSED,
    errors.ALREADY_IN_USE,
)


class DecisionFactsDocument(TypedDict):
    """
    Facts for deciding on an order, from the companies that you see.

    ``to_recipient`` are payouts to the same tax number of the last 30 days, at most 25, and
    ``same_value`` payouts of the same amount and account today, in Brasilia's days; newest first,
    without the order's own payout; ``to_recipient`` is empty for the user who ordered it.
    ``waiting`` are the other payouts and refunds
    of the account that wait, the oldest 25; ``waiting_count`` and ``waiting_value`` are of all of
    them. All is empty for orders that move no money; both lists of payouts are empty for a refund.
    ``reading`` is absent where the account's bank is not queried.
    """

    to_recipient: Annotated[
        list[FoundPayoutDocument], meaning("Payouts to the same recipient, of the last days.")
    ]
    same_value: Annotated[
        list[FoundPayoutDocument],
        meaning("Payouts of the same amount to others, of the last days."),
    ]
    waiting: Annotated[
        list[ApprovalDocument],
        meaning("Other orders of money of the account that wait for a decision, at most a few."),
    ]
    waiting_count: Annotated[
        int, meaning("Number of other orders of money of the account that wait.")
    ]
    waiting_value: Sum
    reading: NotRequired[Reading]


def routes(approvals: Approvals, secrets: ApprovedSecrets) -> Routes:
    """Return the routes."""
    office, one = Routes(), "/approvals/{approval_id}"
    office.get("/approvals", "approvals", approvals.page, takes={"wanted": APPROVALS})
    office.get(one, "approval", approvals.get, raises=ABSENT)
    office.get(f"{one}/facts", "approval_facts", approvals.facts, shows=facts, raises=ABSENT)
    office.post(
        f"{one}/approve",
        "approval_approve",
        approvals.approve,
        status=OK,
        priority=Priority.PAYOUTS,
        fails=REFUND_FAILS,
        raises=(*_DECIDING, *_MOVING),
    )
    office.post(f"{one}/reject", "approval_reject", approvals.reject, status=OK, raises=_DECIDING)
    office.post(
        f"{one}/withdraw", "approval_withdraw", approvals.withdraw, status=OK, raises=_DECIDING
    )
    office.post(
        f"{one}/secret",
        "approval_secret",
        secrets.collect,
        raises=(*CHANGED, errors.ALREADY_IN_USE),
    )
    office.post(
        f"{one}/endpoint-secret",
        "approval_endpoint_secret",
        secrets.collect_of_endpoint,
        raises=CHANGED,
    )
    return office


def facts(found: DecisionFacts, who: StaffCaller) -> DecisionFactsDocument:
    """Return the facts around an order."""
    document: DecisionFactsDocument = {
        "to_recipient": [each.to_document(who.staff) for each in found.alike.to_recipient],
        "same_value": [each.to_document(who.staff) for each in found.alike.same_value],
        "waiting": [each.to_document(who.staff) for each in found.waiting.oldest],
        "waiting_count": found.waiting.count,
        "waiting_value": found.waiting.value,
    }
    if found.reading is not None:
        document["reading"] = found.reading
    return document
