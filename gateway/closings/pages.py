"""Pages of a day's closing: bank and book, and the forms that sign and lock it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Final

from gateway.banks.failures import bank_fails
from gateway.closings.foreign_debits import ForeignDebits
from gateway.closings.service import Closings
from gateway.core import errors
from gateway.core.account import Account
from gateway.core.errors import ServiceError
from gateway.core.priority import Priority
from gateway.core.user_errors import VALIDATION_FAILED
from gateway.http.panel.pages.formats import day_of
from gateway.http.panel.pages.kit import PageContext, Pages, called, part
from gateway.http.panel.pages.page import Page, Redirect, Result, Shown
from gateway.http.panel.pages.visit import Visit, address
from gateway.reports.formats import offered
from gateway.statements.model import local_day

_FAILS: Final = bank_fails(errors.STATEMENT_UNAVAILABLE)


def pages(closings: Closings, foreign: ForeignDebits, context: PageContext) -> Sequence[Page]:
    """Return the pages."""
    panel = Pages("/accounts/{account_id}/closing", context, priority=Priority.HEAVY)

    def day_asked(visit: Visit) -> date:
        """Read the day of the address or the form; yesterday where none is named."""
        yesterday = local_day(panel.staff(visit).acting.now()) - timedelta(days=1)
        return day_of(visit.query("day") or visit.form["day"]) or yesterday

    @panel.view("", "closing", closings.read)
    async def shown(visit: Visit) -> Result:
        """Show an account's day; the bank is queried after the page, or on request."""
        account, day, who = await panel.account(visit), day_asked(visit), panel.staff(visit)
        kept = await closings.signed(who, account, day)
        debits = await foreign.of(who, account, day)
        signed = [name for each in kept for name in (each.signed_by, each.locked_by)]
        actors = {*signed, *(each.settled_by for each in debits)}
        data: dict[str, object] = {
            **await panel.account_data(visit),
            "day": day,
            "found": None,
            "closing": next((each for each in kept if each.day == day), None),
            "latest": kept,
            "debits": debits,
            "may_explain": panel.may(visit, foreign.explain),
            "own": who.acting.actor,
            "people": called((await part(closings.people(who, actors))).data or ()),
            "may_sign": panel.may(visit, closings.sign),
            "may_export": panel.may(visit, closings.statements.report),
            "formats": offered(),
        }
        if visit.reads_bank or visit.problem:
            data["found"] = await part(closings.read(who, account, day), _FAILS)
        template, swapped = "accounts/closing.html", "accounts/_closing.html"
        return Shown(template=template, part=swapped, data=data)

    @panel.form("/sign", "closing_sign", closings.sign, shows=shown, fails=_FAILS)
    async def sign(visit: Visit) -> Result:
        """Sign a day as it was shown."""
        account, day = await panel.account(visit), day_asked(visit)
        await closings.sign(panel.staff(visit), account, day, visit.form["digest"])
        return _back(account, day, "signed")

    @panel.form("/lock", "closing_lock", closings.lock, shows=shown, fails=_FAILS)
    async def lock(visit: Visit) -> Result:
        """Lock a day that another user has signed."""
        account, day = await panel.account(visit), day_asked(visit)
        await closings.lock(panel.staff(visit), account, day, visit.form["digest"])
        return _back(account, day, "locked")

    @panel.form("/explain", "foreign_debit_explain", foreign.explain, shows=shown, fails=_FAILS)
    async def explain(visit: Visit) -> Result:
        """Explain a foreign debit."""
        account, form = await panel.account(visit), visit.form
        if not form["line_id"]:
            raise ServiceError(VALIDATION_FAILED, "not_chosen", field="line_id")
        await foreign.explain(panel.staff(visit), account, form["line_id"], form["reason"])
        return _back(account, day_asked(visit))

    return panel.pages


def _back(account: Account, day: date, done: str = "") -> Redirect:
    here = address("/panel/accounts/{account_id}/closing", account_id=account.id)
    said = f"&done={done}" if done else ""
    return Redirect(f"{here}?day={day.isoformat()}&read=1{said}")
