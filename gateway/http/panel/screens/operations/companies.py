"""Companies: the owners of accounts and credentials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gateway.domain.accounts.credentials import Action
from gateway.domain.identity.rights import Area, Right
from gateway.http.panel.pages.calls import RowCalls
from gateway.http.panel.pages.page import Page, Redirect, Result, Shown
from gateway.http.panel.pages.visit import Visit

_READ: Final = Right(Area.COMPANY, Action.READ)
_MANAGE: Final = Right(Area.COMPANY, Action.MANAGE)
_STOP: Final = Right(Area.STOP, Action.WRITE)


@dataclass(frozen=True, slots=True)
class CompanyPages:
    """The pages of companies."""

    rows: RowCalls

    async def list(self, visit: Visit) -> Result:
        """Show companies, and the form of a new one to whoever may add it."""
        page = visit.query("page")
        found = await self.rows.section(visit, "backoffice.companies", page=page, limit="50")
        data = {"companies": found, "may_add": visit.may(_MANAGE), "may_stop": visit.may(_STOP)}
        return Shown(template="companies/list.html", data=data)

    async def create(self, visit: Visit) -> Result:
        """Add a company."""
        body = {"name": visit.form["name"]}
        await self.rows.ask(visit, "backoffice.company_create", body=body)
        return Redirect("/panel/companies")


def pages(rows: RowCalls) -> Sequence[Page]:
    """Return the pages of companies."""
    made = CompanyPages(rows)
    return (
        Page(
            path="/companies",
            name="companies",
            summary="List companies.",
            needs=_READ,
            shows=made.list,
        ),
        Page(
            path="/companies",
            name="company_create",
            summary="Add a company.",
            needs=_MANAGE,
            shows=made.list,
            does=made.create,
        ),
    )
