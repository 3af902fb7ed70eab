"""Pages of the days of all accounts: exceptions, one signature for the others, and packages."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Final

from gateway.banks.failures import bank_fails
from gateway.closings.days import EXCEPTIONS, ClosingDays, last_of_month
from gateway.closings.packages import ZIP, ClosingPackages, OpenDay
from gateway.closings.searches import PACKAGE
from gateway.core import errors
from gateway.core.calls import RawRequest
from gateway.core.priority import Priority
from gateway.http.panel.pages.formats import day_of
from gateway.http.panel.pages.kit import PageContext, Pages, part
from gateway.http.panel.pages.page import HTML, Download, Page, Redirect, Result, Shown
from gateway.http.panel.pages.visit import HOME, Visit
from gateway.statements.model import local_day

_FAILS: Final = bank_fails(errors.STATEMENT_UNAVAILABLE)
_OLDEST: Final = timedelta(days=3660)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)
_DIGITS: Final = 13
"""Of an instant in milliseconds, until the year 2286."""


def pages(days: ClosingDays, packages: ClosingPackages, context: PageContext) -> Sequence[Page]:
    """Return the pages."""
    panel = Pages("/closings", context, priority=Priority.HEAVY)

    def day_asked(visit: Visit) -> date:
        """Read the day of the address or the form; yesterday where none that is over is named."""
        today = local_day(panel.staff(visit).acting.now())
        asked = day_of(visit.query("day") or visit.form["day"])
        is_over = asked is not None and today - _OLDEST < asked < today
        return asked if asked is not None and is_over else today - timedelta(days=1)

    @panel.view("", "closings", days.of)
    async def shown(visit: Visit) -> Result:
        """Show what differs in the days of all accounts, and sign all that do not."""
        day, who = day_asked(visit), panel.staff(visit)
        first, yesterday = day.replace(day=1), local_day(who.acting.now()) - timedelta(days=1)
        month = await part(days.month(who, first))
        since = _instant(visit.query("done"))
        done = await part(days.done(who, day, since)) if since else None
        data = {
            "day": day,
            "found": await part(days.of(who, day)),
            "month": month,
            "done": done.data if done else None,
            "exceptions": EXCEPTIONS,
            "one_signature": days.one_signature,
            "may_sign": panel.may(visit, days.sign),
            "may_export": panel.may(visit, packages.make),
            "month_ends": min(last_of_month(first), yesterday),
            "month_is_over": last_of_month(first) <= yesterday,
        }
        return Shown(template="accounts/closings.html", data=data)

    @panel.form("/sign", "closings_sign", days.sign, shows=shown)
    async def sign(visit: Visit) -> Result:
        """Sign all days that differ in nothing, as they were shown."""
        day, who = day_asked(visit), panel.staff(visit)
        since = who.acting.now()
        await days.sign(who, day, visit.form["digest"])
        return _back(day, since)

    @panel.form("/lock", "closings_lock", days.lock, shows=shown)
    async def lock(visit: Visit) -> Result:
        """Lock all days that others have signed and that differ in nothing."""
        day, who = day_asked(visit), panel.staff(visit)
        since = who.acting.now()
        await days.lock(who, day, visit.form["digest"])
        return _back(day, since)

    @panel.view(
        "/package",
        "closing_package",
        packages.make,
        fails=_FAILS,
        media=(*HTML, ZIP),
    )
    async def package(visit: Visit) -> Result:
        """Return the sealed package of a day or a month, or show the first day that is open."""
        asked = {
            name: visit.queries(name) for name in ("period", "account_id") if visit.query(name)
        }
        wanted = PACKAGE.read(RawRequest(path={}, query=asked))
        try:
            made = await packages.make(panel.staff(visit), wanted)
        except OpenDay as problem:
            return Redirect(f"{HOME}/closings?day={problem.day.isoformat()}&open=1")
        return Download(content=made.content, content_type=ZIP, filename=made.file_name)

    return panel.pages


def _back(day: date, since: datetime) -> Redirect:
    """Return to the page, which shows what was done since an instant."""
    done = (since - _EPOCH) // _MILLISECOND
    return Redirect(f"{HOME}/closings?day={day.isoformat()}&done={done}")


def _instant(text: str) -> datetime | None:
    """Read an instant in milliseconds; None for anything else."""
    is_one = text.isascii() and text.isdecimal() and len(text) <= _DIGITS
    return _EPOCH + int(text) * _MILLISECOND if is_one else None
