"""Pages of payments received and refunds: lists, and the refund form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Final
from uuid import uuid4

from gateway.banks.failures import REFUND_FAILS, bank_fails
from gateway.banks.port.refunds import IncomingPayment, Refund
from gateway.core import errors
from gateway.core.account import Account
from gateway.core.errors import ServiceError
from gateway.core.permissions import Action
from gateway.core.priority import Priority
from gateway.core.rights import Area, Right
from gateway.core.user_errors import NOT_FOUND
from gateway.core.windows import Listed
from gateway.http.panel.pages.days import Days, days_of
from gateway.http.panel.pages.formats import day_of, typed_money
from gateway.http.panel.pages.kit import PageContext, Pages, Part, go_on, page_asked, part, typed
from gateway.http.panel.pages.page import Download, Page, Result, Shown
from gateway.http.panel.pages.visit import HOME, Visit
from gateway.http.panel.pages.words import _
from gateway.http.routing import CSV
from gateway.refunds.orders import REFUND
from gateway.refunds.searches import INCOMING, REFUNDS
from gateway.refunds.service import Refunds, Totals

_ONE: Final = "/accounts/{account_id}/received/{e2e_id}/refund"
_FAILS: Final = bank_fails(errors.TRANSACTION_UNAVAILABLE)
_BALANCE: Final = Right(Area.BALANCE, Action.READ)
_DAY: Final = timedelta(days=1)
_MOST: Final = 100


_STATES: Final = {
    "payments": (
        ("paid", _("not refunded")),
        ("partly_refunded", _("partly refunded")),
        ("refunded", _("refunded")),
    ),
    "refunds": (
        ("processing", _("under way")),
        ("paid", _("refunded")),
        ("failed", _("failed")),
    ),
}


def pages(refunds: Refunds, context: PageContext) -> Sequence[Page]:
    """Return the pages."""
    panel, now = Pages("", context), context.staff.now

    async def found(
        visit: Visit, account_id: str, show: str, days: Days
    ) -> tuple[Listed[IncomingPayment] | Listed[Refund], Totals]:
        """Search a page of payments or refunds, on local days."""
        who, account = panel.staff(visit), await panel.account(visit, account_id)
        body = _on(days.init, days.ends, page_asked(visit))
        if visit.query("status"):
            body["status"] = visit.query("status")
        if show == "payments":
            incoming = replace(typed(INCOMING, body), text=visit.query("text"))
            return await refunds.received_totals(who, account, incoming)
        wanted = replace(typed(REFUNDS, body), text=visit.query("text"))
        return await refunds.refund_totals(who, account, wanted)

    async def payment_of(visit: Visit, account: Account) -> IncomingPayment:
        """Return the payment of its day; raises ``NOT_FOUND`` for an unknown id."""
        day = day_of(visit.query("day") or visit.form["day"]) or now().date()
        before = day - _DAY if day > date.min else day
        wanted, page = visit.parameter("e2e_id"), 1
        while True:
            body = typed(INCOMING, _on(before, day, page))
            said = await refunds.received(panel.staff(visit), account, body)
            for each in said.items:
                if each.e2e_id == wanted:
                    return each
            if page * _MOST >= said.total:
                raise ServiceError(NOT_FOUND, "transaction")
            page += 1

    @panel.view("/received", "received", refunds.received)
    async def listed(visit: Visit) -> Result:
        """List payments received or refunds; the bank is read after the page."""
        accounts = await panel.accounts(visit)
        chosen = visit.query("account_id") or (accounts[0].id if len(accounts) == 1 else "")
        show = visit.chosen("show", _STATES, "payments")
        days, may_export = days_of(visit, now), panel.may(visit, refunds.export)
        data: dict[str, object] = {
            "accounts": accounts,
            "account_id": chosen,
            "show": show,
            "states": _STATES[show],
            "days": days,
            "found": None,
            "export": _export(visit) if may_export and chosen and show == "payments" else "",
            "may_refund": panel.may(visit, refunds.order),
        }
        if chosen and visit.reads_bank:
            result = await part(found(visit, chosen, show, days), _FAILS)
            page, data["totals"] = result.data or (None, None)
            data["found"] = Part(data=page, problem=result.problem)
        return Shown(template="received/list.html", part="received/_list.html", data=data)

    csv = ("text/csv",)

    @panel.view(
        "/received/export",
        "received_export",
        refunds.export,
        fails=_FAILS,
        media=csv,
        priority=Priority.HEAVY,
    )
    async def export(visit: Visit) -> Result:
        """Download the payments received of the filter as a table."""
        account, days = await panel.account(visit, visit.query("account_id")), days_of(visit, now)
        body = _on(days.init, days.ends, 1)
        if visit.query("status"):
            body["status"] = visit.query("status")
        wanted = replace(typed(INCOMING, body), text=visit.query("text"))
        file = await refunds.export(panel.staff(visit), account, wanted)
        return Download(
            content=file.first, content_type=CSV, filename="received.csv", rest=file.rest
        )

    @panel.view(_ONE, "refund", refunds.order, fails=_FAILS)
    async def refund(visit: Visit) -> Result:
        """Show a payment, loaded after the page, and the refund form."""
        account = await panel.account(visit)
        data: dict[str, object] = {
            **await panel.account_data(visit),
            "payment": None,
            "new_reference": f"panel-{uuid4().hex[:12]}",
            "refused": None,
            "day": visit.query("day") or visit.form["day"],
            "may_balance": visit.may(_BALANCE),
        }
        if visit.reads_bank or visit.problem:
            said = await part(payment_of(visit, account), _FAILS)
            if said.problem and not visit.is_partial:
                raise said.problem
            data["refused"] = said.problem
            if said.data is not None:
                data |= {"payment": said.data, "rest": said.data.kept}
        return Shown(template="received/refund.html", part="received/_refund.html", data=data)

    @panel.form(_ONE, "refund_order", refunds.order, shows=refund, fails=REFUND_FAILS)
    async def give_back(visit: Visit) -> Result:
        """Order a refund, which may wait for another user."""
        account = await panel.account(visit)
        said = await part(payment_of(visit, account), _FAILS)
        if said.data is None:
            raise said.problem or ServiceError(NOT_FOUND, "transaction")
        value = typed_money(visit.form["value"], "value")
        if value.centavos > said.data.kept.centavos:
            raise ServiceError(errors.PAYLOAD_INVALID, "above_rest", field="value")
        texts = {name: visit.form[name] for name in ("reference", "description")}
        path = {"reference": visit.parameter("e2e_id")}
        order = typed(REFUND, {**texts, "value": value}, path)
        made = await refunds.order(panel.staff(visit), account, order)
        asked = f"account_id={visit.parameter('account_id')}&show=refunds&read=1"
        return go_on(made, f"{HOME}/received?{asked}")

    return panel.pages


def _on(init: date, ends: date, page: int) -> dict[str, object]:
    """Return the search for a page of local days, both included."""
    asked = {"init": init.isoformat(), "ends": ends.isoformat(), "days": "local"}
    return {**asked, "page": page, "limit": _MOST}


def _export(visit: Visit) -> str:
    path, _, query = visit.with_query(page="", read="", show="").partition("?")
    return f"{path}/export?{query}" if query else f"{path}/export"
