"""The statement of an account: balance, sums and movements, tied to what we know, and its files."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Final

from gateway.domain.accounts.credentials import Action
from gateway.domain.identity.rights import Area, Right
from gateway.domain.kernel import errors
from gateway.domain.kernel.clocks import Now
from gateway.domain.kernel.errors import ServiceError
from gateway.http.panel.pages.calls import RowCalls, Section
from gateway.http.panel.pages.formats import DAY_FORM, ZONE, day_of
from gateway.http.panel.pages.page import Download, Page, Result, Shown
from gateway.http.panel.pages.visit import Visit
from gateway.http.panel.screens.operations.accounts import (
    ACCOUNT,
    account_of,
    account_path,
    account_rights,
)

_READ: Final = Right(Area.TRANSACTION, Action.READ)
_EXPORT: Final = Right(Area.REPORT, Action.READ)
_FORMATS: Final = ("csv", "ofx", "pdf")


def typed_day(text: str, otherwise: date) -> date:
    """Read a day as it is typed; what is no day counts as ``otherwise``."""
    return day_of(text) or otherwise


@dataclass(frozen=True, slots=True)
class Days:
    """The days that are asked for, both included."""

    init: date
    ends: date

    @property
    def asked(self) -> dict[str, str]:
        """The query of a row."""
        return {"init": self.init.isoformat(), "ends": self.ends.isoformat()}

    @property
    def typed(self) -> tuple[str, str]:
        """Both as the fields of the filter hold them."""
        return f"{self.init:{DAY_FORM}}", f"{self.ends:{DAY_FORM}}"


def days_of(visit: Visit, now: Now) -> Days:
    """Read the days of a page's filter; yesterday and today where none are named."""
    today = now().astimezone(ZONE).date()
    ends = typed_day(visit.query("ends"), today)
    return Days(typed_day(visit.query("init"), ends - timedelta(days=1)), ends)


@dataclass(frozen=True, slots=True)
class StatementPages:
    """The statement of an account."""

    rows: RowCalls
    now: Now

    async def statement(self, visit: Visit) -> Result:
        """Show the statement; what the bank tells is loaded after the page, or when asked for."""
        account, days = await account_of(self.rows, visit), days_of(visit, self.now)
        data: dict[str, object] = {
            "account": account,
            "days": days,
            "direction": visit.query("direction"),
            "balance": None,
            "movements": None,
            "may_export": visit.may(_EXPORT),
            "formats": [each for each in _FORMATS if each != "pdf"],
            **account_rights(visit),
        }
        if visit.reads_bank:
            balance, movements = await self._read(visit, days)
            data |= {"balance": balance, "movements": movements, "by_day": _by_day(movements)}
        template, part = "accounts/statement.html", "accounts/_statement.html"
        return Shown(template=template, part=part, data=data)

    async def _read(self, visit: Visit, days: Days) -> tuple[Section, Section]:
        """Ask the bank for both at once; either may fail alone."""
        path = account_path(visit)
        query = {name: visit.query(name) for name in ("direction", "text", "page", "limit")}
        return await asyncio.gather(
            self.rows.section(visit, "backoffice.balance", path),
            self.rows.section(visit, "backoffice.linked_statement", path, **days.asked, **query),
        )

    async def export(self, visit: Visit) -> Result:
        """Answer with the statement as a file; the spreadsheet is a Brazilian one."""
        form, days = visit.query("format"), days_of(visit, self.now)
        if form not in _FORMATS:
            raise ServiceError(errors.PAYLOAD_INVALID, "not_one_of", field="format")
        query = {**days.asked, "format": form, "locale": "pt-BR" if form == "csv" else ""}
        # the days that the page shows
        query |= {"days": "local", "tax_numbers": "hidden"}
        made = await self.rows.ask(
            visit, "backoffice.report", path=account_path(visit), query=query
        )
        name = f"{visit.parameter('account_id')}_{days.init}_{days.ends}.{form}"
        return Download(
            content=made.data,
            content_type=_TYPES[form],
            filename=f"statement_{name}",
            rest=made.rest,
        )


_TYPES: Final[Mapping[str, str]] = {
    "csv": "text/csv; charset=utf-8; header=present",
    "ofx": "application/x-ofx",
    "pdf": "application/pdf",
}


def _by_day(movements: Section) -> list[dict[str, Any]]:
    """Put the movements of a page below their days, which have sums of their own."""
    if movements.problem is not None:
        return []
    found: dict[str, dict[str, Any]] = {
        each["day"]: {**each, "entries": []} for each in movements.data["days"]
    }
    for entry in movements.data["data"]:
        found[entry["day"]]["entries"].append(entry)
    return list(found.values())


def pages(rows: RowCalls) -> Sequence[Page]:
    """Return the statement and its files."""
    made = StatementPages(rows, rows.now)
    return (
        Page(
            path=f"{ACCOUNT}/statement",
            name="statement",
            summary="Show the statement of an account.",
            needs=_READ,
            shows=made.statement,
        ),
        Page(
            path=f"{ACCOUNT}/statement/export",
            name="statement_export",
            summary="The statement as a file.",
            needs=_EXPORT,
            shows=made.export,
            media=("text/html", *(each.partition(";")[0] for each in _TYPES.values())),
        ),
    )
