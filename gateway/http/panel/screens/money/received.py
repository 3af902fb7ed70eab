"""What came in by Pix, what was given back, and giving money back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, Final

from gateway.domain.accounts.credentials import Action
from gateway.domain.identity.errors import NOT_FOUND
from gateway.domain.identity.rights import Area, Right
from gateway.domain.kernel import errors
from gateway.domain.kernel.clocks import Now
from gateway.domain.kernel.errors import ServiceError
from gateway.http.panel.pages.calls import RowCalls, Section
from gateway.http.panel.pages.formats import typed_money
from gateway.http.panel.pages.page import Page, Redirect, Result, Shown
from gateway.http.panel.pages.visit import Visit, address
from gateway.http.panel.screens.money.statements import Days, days_of, typed_day
from gateway.http.panel.screens.operations.accounts import (
    ACCOUNT,
    account_of,
    account_path,
    account_rights,
    every_account,
)

_READ: Final = Right(Area.TRANSACTION, Action.READ)
_REFUND: Final = Right(Area.REFUND, Action.WRITE)
_SHOWN: Final = {
    "payments": "backoffice.pix_transactions",
    "refunds": "backoffice.pix_refunds",
}


def _(word: str) -> str:
    """Mark a word for the catalogue."""
    return word


_STATES: Final = {
    "payments": (
        ("paid", _("not given back")),
        ("partly_refunded", _("given back in part")),
        ("refunded", _("given back")),
    ),
    "refunds": (
        ("processing", _("under way")),
        ("paid", _("given back")),
        ("failed", _("failed")),
    ),
}
_WAITS: Final = 202
_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class ReceivedPages:
    """Payments received and refunds of one account."""

    rows: RowCalls
    now: Now

    async def list(self, visit: Visit) -> Result:
        """Show what came in, or what was given back; the bank is read after the page."""
        accounts = await every_account(self.rows, visit)
        chosen = visit.query("account_id") or (accounts[0]["id"] if len(accounts) == 1 else "")
        show = visit.query("show") if visit.query("show") in _SHOWN else "payments"
        days = days_of(visit, self.now)
        data: dict[str, object] = {
            "accounts": accounts,
            "account_id": chosen,
            "show": show,
            "states": _STATES[show],
            "days": days,
            "found": None,
            "may_refund": visit.may(_REFUND),
        }
        if chosen and visit.reads_bank:
            data["found"] = await self._found(visit, chosen, show, days)
        return Shown(template="received/list.html", part="received/_list.html", data=data)

    async def _found(self, visit: Visit, account_id: str, show: str, days: Days) -> Section:
        """Ask for a page of what came in, or was given back, on local days."""
        name, body = _SHOWN[show], _on(days.init, days.ends)
        if visit.query("status"):
            body["status"] = visit.query("status")
        body |= {"page": _page(visit), "limit": 100}
        try:
            return await self.rows.ask(visit, name, path={"account_id": account_id}, body=body)
        except ServiceError as problem:
            return Section(status=problem.error.status, headers={}, problem=problem)

    async def refund(self, visit: Visit) -> Result:
        """Show a payment, read after the page, and the form that gives it back or a part of it."""
        data: dict[str, object] = {
            "account": await account_of(self.rows, visit),
            "payment": None,
            "refused": None,
            "day": visit.query("day") or visit.form["day"],
            **account_rights(visit),
        }
        if visit.reads_bank or visit.problem:
            try:
                payment = await self._payment(visit)
            except ServiceError as problem:
                if not visit.is_partial:
                    raise
                data["refused"] = problem
            else:
                data |= {"payment": payment, "rest": payment["value"] - payment["refunded"]}
        return Shown(template="received/refund.html", part="received/_refund.html", data=data)

    async def give_back(self, visit: Visit) -> Result:
        """Order a refund; it may wait for another person, and then says so."""
        payment, value = await self._payment(visit), typed_money(visit.form["value"], "value")
        if Decimal(value.centavos) / 100 > payment["value"] - payment["refunded"]:
            raise ServiceError(errors.PAYLOAD_INVALID, "out_of_range", field="value")
        form = visit.form
        said = await self.rows.ask(
            visit,
            "backoffice.pix_refund_create",
            path={**account_path(visit), "reference": visit.parameter("e2e_id")},
            body={
                "reference": form["reference"],
                "value": value,
                "description": form["description"],
            },
        )
        if said.status == _WAITS:
            return Redirect(address("/panel/approvals/{id}", id=said.data["id"]))
        asked = f"account_id={visit.parameter('account_id')}&show=refunds&read=1"
        return Redirect(f"/panel/received?{asked}")

    async def _payment(self, visit: Visit) -> Mapping[str, Any]:
        """Find the payment on its day; raises ``NOT_FOUND`` for none of this id."""
        today = self.now().date()
        day = typed_day(visit.query("day") or visit.form["day"], today)
        before = day - _DAY if day > date.min else day
        body = {**_on(before, day), "limit": 100}
        wanted, page = visit.parameter("e2e_id"), 1
        while True:
            said = await self.rows.ask(
                visit,
                "backoffice.pix_transactions",
                path=account_path(visit),
                body={**body, "page": page},
            )
            for each in said.data["data"]:
                if each["e2e_id"] == wanted:
                    found: Mapping[str, Any] = each
                    return found
            if page * 100 >= said.data["meta"]["total"]:
                raise ServiceError(NOT_FOUND, "transaction")
            page += 1


def _on(init: date, ends: date) -> dict[str, object]:
    """Return what asks for local days, both included."""
    return {"init": init.isoformat(), "ends": ends.isoformat(), "days": "local"}


def _page(visit: Visit) -> int:
    """Read the number of a page; anything else is the first."""
    text = visit.query("page")
    return int(text) if text.isascii() and text.isdigit() and 0 < len(text) < len("1000000") else 1


def pages(rows: RowCalls) -> Sequence[Page]:
    """Return the pages of what came in."""
    made, one = ReceivedPages(rows, rows.now), f"{ACCOUNT}/received/{{e2e_id}}/refund"
    return (
        Page(
            path="/received",
            name="received",
            summary="Show what came in and what was given back.",
            needs=_READ,
            shows=made.list,
        ),
        Page(
            path=one,
            name="refund",
            summary="Show a payment that is to be given back.",
            needs=_REFUND,
            shows=made.refund,
        ),
        Page(
            path=one,
            name="refund_order",
            summary="Give money back.",
            needs=_REFUND,
            shows=made.refund,
            does=made.give_back,
        ),
    )
