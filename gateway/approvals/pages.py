"""Pages of orders that wait for another user: reading, approval and rejection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from gateway.approvals.searches import APPROVALS
from gateway.approvals.service import Approvals, ApprovedSecrets
from gateway.banks.failures import REFUND_FAILS
from gateway.core.access import Staff
from gateway.core.approvals import (
    NEEDED,
    Approval,
    ApprovalState,
    OrderDocument,
    RejectionBody,
    WaitingMoney,
)
from gateway.core.errors import ServiceError
from gateway.core.money import Sum
from gateway.core.priority import Priority
from gateway.core.user_access import has_fresh_factor
from gateway.core.user_errors import VALIDATION_FAILED
from gateway.http.panel.pages.formats import typed_money
from gateway.http.panel.pages.kit import KnownAccount, PageContext, Pages, called, part, shown
from gateway.http.panel.pages.page import Page, Redirect, Result, Shown
from gateway.http.panel.pages.shown_once import shown_once
from gateway.http.panel.pages.visit import HOME, Visit
from gateway.payouts.model import Certainty
from gateway.payouts.search import FOUND_AT_MOST
from policies.validation.backoffice import inputs
from policies.validation.bodies import of_form

STATES: Final = tuple(each.value for each in ApprovalState)
_ID: Final = inputs.of_path("approval_id")
_WENT: Final = frozenset({Certainty.SENT_UNKNOWN, Certainty.CONFIRMED_ACCEPTED, Certainty.SETTLED})
"""Payouts that were paid, or may be; what was not sent or was refused paid nobody."""
_JUST_NOW: Final = timedelta(seconds=30)
"""A balance that is older was not read for this page: the bank did not answer."""


def pages(approvals: Approvals, secrets: ApprovedSecrets, context: PageContext) -> Sequence[Page]:
    """Return the pages; their forms call the same services as the API."""
    panel = Pages("/approvals", context)

    @panel.view("", "approvals", approvals.page)
    async def listed(visit: Visit) -> Result:
        """List orders of one state, newest first."""
        who = panel.staff(visit)
        found = await panel.find(visit, approvals.page, APPROVALS, _asks(visit))
        people = await part(approvals.people(who, found.data.items if found.data else ()))
        data = {
            "found": replace(found, data=shown(found.data, who)),
            "people": called(people.data or ()),
            "state": _state(visit),
            "states": STATES,
            "me": _me(visit),
            "now": who.acting.now(),
            "secrets": [shown(each, who) for each in await approvals.to_collect(who)],
            "decides": panel.may(visit, approvals.approve),
        }
        return Shown(template="approvals/approvals.html", part="approvals/_list.html", data=data)

    @panel.view("/{approval_id}", "approval", approvals.get)
    async def read(visit: Visit) -> Result:
        """Show an order in full, and the user's possible actions."""
        who = panel.staff(visit)
        found = await approvals.get(who, _named(visit))
        approval, order = found.approval, found.order
        facts = await _facts(approvals, visit, who, approval)
        others = facts["waiting"].oldest if facts else ()
        is_own = approval.orderer == _me(visit)
        data = {
            "approval": shown(approval, who),
            "people": called(
                await approvals.people(who, [approval, *others], _in_an_outage(order))
            ),
            "facts": facts,
            "now": who.acting.now(),
            "order": order,
            "bank": await panel.bank(visit, order.get("destination", {}).get("bank_number", "")),
            "names": await panel.names(visit, _named_by(approval, order)),
            "reach": await _account(panel, visit, order.get("account_id")),
            "is_own": is_own,
            "is_fresh": who.person is not None and has_fresh_factor(who.person, who.acting.now()),
            "may_withdraw": is_own and approval.state is ApprovalState.WAITING,
            "may_decide": panel.may(visit, approvals.approve) and not is_own,
            "may_collect": is_own
            and approval.collected_until is not None
            and visit.may(NEEDED[approval.kind]),
        }
        swapped = "approvals/_facts.html" if facts else ""
        return Shown(template="approvals/approval.html", part=swapped, data=data)

    @panel.form(
        "/{approval_id}/approve",
        "approval_approve",
        approvals.approve,
        shows=read,
        fails=REFUND_FAILS,
        priority=Priority.PAYOUTS,
    )
    async def approve(visit: Visit) -> Result:
        """Approve an order; for money the amount must be typed."""
        who, approval_id = panel.staff(visit), _named(visit)
        approval = await approvals.find(who, approval_id)
        if approval.moves_money and typed_money(visit.form["value"], "value") != approval.value:
            raise ServiceError(VALIDATION_FAILED, "not_the_amount", field="value")
        await approvals.approve(who, approval_id)
        return _back(approval_id)

    @panel.form("/{approval_id}/reject", "approval_reject", approvals.reject, shows=read)
    async def reject(visit: Visit) -> Result:
        """Reject an order, with a reason."""
        await approvals.reject(panel.staff(visit), _named(visit), _why(visit))
        return _back(_named(visit))

    @panel.form("/{approval_id}/withdraw", "approval_withdraw", approvals.withdraw, shows=read)
    async def withdraw(visit: Visit) -> Result:
        """Withdraw an own order, with a reason."""
        await approvals.withdraw(panel.staff(visit), _named(visit), _why(visit))
        return _back(_named(visit))

    @panel.form("/{approval_id}/secret", "approval_secret", secrets.collect, shows=read)
    async def collect(visit: Visit) -> Result:
        """Create and show the secret of the user's own approved order."""
        who = panel.staff(visit)
        made = await secrets.collect(who, _named(visit))
        return shown_once(shown(made, who), who.acting.now())

    @panel.form(
        "/{approval_id}/endpoint-secret",
        "approval_endpoint_secret",
        secrets.collect_of_endpoint,
        shows=read,
    )
    async def collect_of_endpoint(visit: Visit) -> Result:
        """Create and show the secret of the user's own approved order of an endpoint."""
        who = panel.staff(visit)
        made = await secrets.collect_of_endpoint(who, _named(visit))
        return shown_once(shown(made, who), who.acting.now(), "endpoints/secret.html")

    return panel.pages


def _state(visit: Visit) -> str:
    """Return the requested state; empty for all."""
    asked = visit.query("status") or ApprovalState.WAITING.value
    return asked if asked in STATES else ""


def _asks(visit: Visit) -> Mapping[str, str]:
    return {"status": _state(visit), "page": visit.query("page")}


def _named(visit: Visit) -> str:
    return _ID.read(visit.call.asked)


def _why(visit: Visit) -> RejectionBody:
    """Read the reason; VALIDATION_FAILED where there is none."""
    if not visit.form["reason"]:
        raise ServiceError(VALIDATION_FAILED, "missing", field="reason")
    return of_form(visit.form, RejectionBody)


def _me(visit: Visit) -> str:
    """Return the reader's id in the form of ``ordered_by``."""
    return "" if visit.person is None else visit.person.actor


def _back(approval_id: str) -> Redirect:
    """Show the order after the action."""
    return Redirect(f"{HOME}/approvals/{approval_id}")


def _named_by(approval: Approval, order: OrderDocument) -> Sequence[str]:
    """Return the ids of accounts and companies in an order."""
    one = (approval.account_id or "", approval.company_id or "")
    companies = (*order.get("companies", ()), *order.get("companies_before", ()))
    accounts = (*order.get("account_ids", ()), *order.get("account_ids_before", ()))
    return [*one, *companies, *accounts]


def _in_an_outage(order: OrderDocument) -> Sequence[str]:
    """Return the ids of users whom an order lets sign in while a company's provider is down."""
    providers = (order.get("single_sign_on", {}), order.get("single_sign_on_before", {}))
    return [each for provider in providers for each in provider.get("break_glass", ())]


async def _facts(
    approvals: Approvals, visit: Visit, who: Staff, approval: Approval
) -> Mapping[str, Any] | None:
    """Return the facts for an order of money that is still undecided; None for other orders."""
    if not approval.moves_money or not approval.is_open:
        return None
    found = await part(approvals.facts_around(who, approval, asks_bank=visit.reads_bank))
    if found.data is None:
        return {"problem": found.problem, "waiting": WaitingMoney()}
    alike, waiting, left = found.data.alike, found.data.waiting, found.data.left(approval.value)
    to_recipient = [each.to_document(who) for each in alike.to_recipient]
    went = [each for each in to_recipient if each.certainty in _WENT]
    reading = found.data.reading
    return {
        "problem": None,
        # those that are counted and added up stand first
        "to_recipient": sorted(to_recipient, key=lambda each: each.certainty not in _WENT),
        "same_value": [each.to_document(who) for each in alike.same_value],
        "sum": Sum(sum(each.amount.centavos - each.returned.centavos for each in went)),
        "is_net": any(each.returned.centavos for each in went),
        "went": len(went),
        # the order's own payout may have been one of those that were found
        "is_cut": len(to_recipient) >= FOUND_AT_MOST - 1,
        "reading": reading,
        "was_not_read": visit.reads_bank
        and not (reading and reading.read_at and who.acting.now() - reading.read_at < _JUST_NOW),
        "left": left,
        "waiting": waiting,
        "others": [shown(each, who) for each in waiting.oldest],
        "is_live": visit.reads_bank,
    }


async def _account(panel: Pages, visit: Visit, account_id: str | None) -> KnownAccount | None:
    """Return the account of an ordered credential; None for a company's credential."""
    found = await panel.accounts(visit) if account_id else ()
    return next((each for each in found if each.id == account_id), None)
