"""Pages of statements: balance, sums and movements, linked to our records, and exports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from gateway.banks.failures import bank_fails
from gateway.banks.readings import Readings
from gateway.core import errors
from gateway.core.account import Account
from gateway.core.calls import RawRequest
from gateway.core.errors import ServiceError
from gateway.core.priority import Priority
from gateway.core.windows import LocalWindow
from gateway.http.panel.pages.days import Days, days_of
from gateway.http.panel.pages.kit import PageContext, Pages, Part, part
from gateway.http.panel.pages.page import HTML, Download, Page, Result, Shown
from gateway.http.panel.pages.visit import Visit
from gateway.reports.formats import offered
from gateway.reports.texts import Locale
from gateway.statements.model import LinkedStatement, ReportRequest, local_day
from gateway.statements.searches import STATEMENT
from gateway.statements.service import Statements
from policies.validation.search import days as window_of

_BALANCE_FAILS: Final = bank_fails(errors.BALANCE_UNAVAILABLE)
_FAILS: Final = bank_fails(errors.STATEMENT_UNAVAILABLE)
_TYPES: Final[Mapping[str, str]] = {
    "csv": "text/csv; charset=utf-8; header=present",
    "ofx": "application/x-ofx",
    "pdf": "application/pdf",
}


def pages(statements: Statements, readings: Readings, context: PageContext) -> Sequence[Page]:
    """Return the pages."""
    panel, now = Pages("/accounts/{account_id}/statement", context), context.staff.now

    async def linked(visit: Visit, account: Account, days: Days) -> LinkedStatement:
        """Read the movements of the address."""
        names = ("direction", "text", "tied", "page", "limit")
        asked = {**days.asked, **{name: visit.query(name) for name in names}}
        query = {name: [text] for name, text in asked.items() if text}
        wanted = STATEMENT.read(RawRequest(path={}, query=query))
        return await statements.linked(panel.staff(visit), account, wanted)

    @panel.view("", "statement", statements.linked)
    async def statement(visit: Visit) -> Result:
        """Show the statement of an account; the bank is queried after the page, or on request."""
        account, days = await panel.account(visit), days_of(visit, now)
        # of past days all that moved since is read too
        asks_bounds = days.ends >= local_day(now()) or visit.query("balances") == "1"
        data: dict[str, object] = {
            **await panel.account_data(visit),
            "days": days,
            "direction": visit.query("direction"),
            "balance": None,
            "bounds": None,
            "asks_bounds": asks_bounds,
            "last": None,
            "movements": None,
            "may_export": panel.may(visit, statements.report),
            "formats": offered(),
        }
        if visit.reads_bank:
            balance = await part(statements.balance(panel.staff(visit), account), _BALANCE_FAILS)
            movements = await part(linked(visit, account, days), _FAILS)
            data |= {"balance": balance, "movements": movements, "by_day": _by_day(movements)}
            if balance.problem:
                data["last"] = (await part(readings.last(panel.staff(visit), account))).data
            if balance.data and movements.data and movements.data.read_at and asks_bounds:
                who, window = panel.staff(visit), LocalWindow(days.init, days.ends)
                reading = statements.bounds(who, account, window, movements.data, balance.data)
                data["bounds"] = await part(reading, _FAILS)
        template, swapped = "accounts/statement.html", "accounts/_statement.html"
        return Shown(template=template, part=swapped, data=data)

    media = (*HTML, *(each.partition(";")[0] for each in _TYPES.values()))

    @panel.view(
        "/export",
        "statement_export",
        statements.report,
        fails=_FAILS,
        media=media,
        priority=Priority.HEAVY,
    )
    async def export(visit: Visit) -> Result:
        """Return the statement as a file, of the days that the page shows."""
        form, days = visit.query("format"), days_of(visit, now)
        if form not in _TYPES:
            error, words = errors.PAYLOAD_INVALID, list(_TYPES)
            raise ServiceError(error, "not_one_of", field="format", words=words)
        window = window_of(days.init, days.ends)
        wanted = ReportRequest(
            window=LocalWindow(window.init, window.ends),
            format=form,
            locale=Locale.PT_BR if form == "csv" else Locale.PLAIN,
            hides_people=True,
        )
        made = await statements.report(panel.staff(visit), await panel.account(visit), wanted)
        name = f"{visit.parameter('account_id')}_{days.init}_{days.ends}.{form}"
        return Download(
            content=made.content,
            content_type=_TYPES[form],
            filename=f"statement_{name}",
            rest=made.rest,
        )

    return panel.pages


def _by_day(movements: Part[LinkedStatement]) -> Sequence[Mapping[str, object]]:
    """Group the movements of a page by day, with each day's sums."""
    if movements.data is None:
        return ()
    found, days = movements.data.entries, movements.data.days
    return [
        {"day": day, "sums": days[day], "entries": [each for each in found if each.day == day]}
        for day in sorted(days, reverse=True)
    ]
