"""Pages of orders that wait for another user: read with everything they say, approved, rejected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any, Final

from gateway.approvals.model import Approval, ApprovalState, OrderDocument, RejectionBody
from gateway.approvals.service import Approvals, ApprovedSecrets
from gateway.domain.identity.errors import VALIDATION_FAILED
from gateway.domain.kernel.errors import ServiceError
from gateway.http.backoffice.callers import REFUND_FAILS
from gateway.http.panel.pages.bank_names import bank_named
from gateway.http.panel.pages.calls import RowCalls
from gateway.http.panel.pages.formats import moment, typed_money
from gateway.http.panel.pages.kit import PageContext, Pages, shown
from gateway.http.panel.pages.page import Page, Redirect, Result, Shown
from gateway.http.panel.pages.shown_once import shown_once
from gateway.http.panel.pages.visit import HOME, Visit
from policies.validation.backoffice import inputs
from policies.validation.backoffice.searches import APPROVALS
from policies.validation.bodies import of_form

STATES: Final = tuple(each.value for each in ApprovalState)
_ID: Final = inputs.of_path("approval_id")
_MOST: Final = "100"
_FRESH: Final = timedelta(minutes=1)
"""A balance this young is not asked for again."""


def pages(approvals: Approvals, secrets: ApprovedSecrets, context: PageContext) -> Sequence[Page]:
    """Return the pages; their forms call the same services as the API."""
    panel, rows = Pages("/approvals", context), context.rows

    @panel.list(
        "",
        "approvals",
        approvals.page,
        takes=APPROVALS,
        asks=_asks,
        template="approvals/approvals.html",
        part="approvals/_list.html",
    )
    async def listed(visit: Visit) -> Mapping[str, object]:
        """List orders of one state, newest first."""
        return {"state": _state(visit), "states": STATES, "me": _me(visit), "now": rows.now()}

    @panel.view("/{approval_id}", "approval", approvals.get)
    async def read(visit: Visit) -> Result:
        """Show an order with everything it says, and what the user may do about it."""
        who = panel.staff(visit)
        found = await approvals.get(who, _named(visit))
        approval, order = found.approval, found.order
        accounts = await rows.section(visit, "backoffice.accounts", limit=_MOST)
        facts = await _facts(rows, visit, approval)
        is_own = approval.orderer == _me(visit)
        data = {
            "approval": shown(approval, who),
            "facts": facts,
            "now": rows.now(),
            "order": order,
            "bank": await bank_named(
                rows, visit, order.get("destination", {}).get("bank_number", "")
            ),
            "names": {**_names(accounts.data), **await _companies(panel, visit, order)},
            "reach": _account(accounts.data, order.get("account_id")),
            "is_own": is_own,
            "may_decide": panel.may(visit, approvals.approve) and not is_own,
            "may_collect": panel.may(visit, secrets.collect)
            and is_own
            and approval.collected_until is not None,
        }
        part = "approvals/_facts.html" if facts else ""
        return Shown(template="approvals/approval.html", part=part, data=data)

    @panel.form(
        "/{approval_id}/approve",
        "approval_approve",
        approvals.approve,
        shows=read,
        fails=REFUND_FAILS,
    )
    async def approve(visit: Visit) -> Result:
        """Approve an order; of money the amount was typed."""
        who, approval_id = panel.staff(visit), _named(visit)
        approval = await approvals.find(who, approval_id)
        if approval.moves_money and typed_money(visit.form["value"], "value") != approval.value:
            raise ServiceError(VALIDATION_FAILED, "not_the_amount", field="value")
        await approvals.approve(who, approval_id)
        return _back(approval_id)

    @panel.form("/{approval_id}/reject", "approval_reject", approvals.reject, shows=read)
    async def reject(visit: Visit) -> Result:
        """Reject an order, with a reason."""
        if not visit.form["reason"]:
            raise ServiceError(VALIDATION_FAILED, "missing", field="reason")
        why = of_form(visit.form, RejectionBody)
        await approvals.reject(panel.staff(visit), _named(visit), why)
        return _back(_named(visit))

    @panel.form("/{approval_id}/secret", "approval_secret", secrets.collect, shows=read)
    async def collect(visit: Visit) -> Result:
        """Make and show the secret of an own order that was approved."""
        who = panel.staff(visit)
        return shown_once(shown(await secrets.collect(who, _named(visit)), who), rows.now())

    return panel.pages


def _state(visit: Visit) -> str:
    """Return the state that is asked for; empty for all."""
    asked = visit.query("status") or ApprovalState.WAITING.value
    return asked if asked in STATES else ""


def _asks(visit: Visit) -> Mapping[str, str]:
    return {"status": _state(visit), "page": visit.query("page")}


def _named(visit: Visit) -> str:
    return _ID.read(visit.call.asked)


def _me(visit: Visit) -> str:
    """Name who looks as orders name whoever ordered them."""
    return "" if visit.person is None else visit.person.actor


def _back(approval_id: str) -> Redirect:
    """Show what became of the order."""
    return Redirect(f"{HOME}/approvals/{approval_id}")


async def _companies(panel: Pages, visit: Visit, order: OrderDocument) -> Mapping[str, str]:
    """Return what the companies are called that an order about a person names."""
    named = [*order.get("companies", ()), *order.get("companies_before", ())]
    return await panel.names(visit, named) if named else {}


async def _facts(rows: RowCalls, visit: Visit, approval: Approval) -> Mapping[str, Any] | None:
    """Return what helps to decide on money that is not decided on yet; None for the rest."""
    if not approval.moves_money or approval.state is not ApprovalState.WAITING:
        return None
    named = {"approval_id": approval.id}
    found = await rows.section(visit, "backoffice.approval_facts", named)
    if found.data is None:
        return {"problem": found.problem}
    reading = found.data.get("reading", {})
    balance, read_at = reading.get("balance"), reading.get("read_at")
    is_fresh = bool(read_at) and rows.now() - moment(read_at) < _FRESH
    return {
        "problem": None,
        **found.data,
        "sum": sum((each["value"] for each in found.data["to_recipient"]), Decimal(0)),
        "balance": balance,
        "left": None if balance is None else balance - Decimal(str(approval.value)),
        "read_at": read_at,
        "is_asked": bool(reading) and not is_fresh,
    }


def _account(
    accounts: Mapping[str, Any] | None, account_id: str | None
) -> Mapping[str, Any] | None:
    """Return the account that a credential is ordered for; None for a whole company."""
    found = accounts["data"] if accounts else ()
    return next((each for each in found if each["id"] == account_id), None)


def _names(accounts: Mapping[str, Any] | None) -> Mapping[str, str]:
    """Return names of accounts and companies by id."""
    found = accounts["data"] if accounts else ()
    companies = {each["company"]["id"]: each["company"]["name"] for each in found}
    return companies | {each["id"]: each["name"] for each in found}
