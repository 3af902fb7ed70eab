"""Pages of companies: one list, with the form that adds one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from gateway.companies.model import CompanyRequest
from gateway.companies.service import Companies
from gateway.domain.accounts.credentials import Action
from gateway.domain.identity.rights import Area, Right
from gateway.http.panel.pages.kit import PageContext, Pages
from gateway.http.panel.pages.page import Page, Redirect, Result
from gateway.http.panel.pages.visit import HOME, Visit
from policies.validation.backoffice.inputs import PAGE
from policies.validation.bodies import of_form

_STOP: Final = Right(Area.STOP, Action.WRITE)
_LIMIT: Final = "50"


def pages(companies: Companies, context: PageContext) -> Sequence[Page]:
    """Return the pages; the form calls the same service as the API."""
    panel = Pages("/companies", context)

    @panel.list(
        "", "companies", companies.page, takes=PAGE, asks=_asks, template="companies/list.html"
    )
    async def listed(visit: Visit) -> Mapping[str, object]:
        """List companies."""
        return {"may_add": panel.may(visit, companies.create), "may_stop": visit.may(_STOP)}

    @panel.form("", "company_create", companies.create, shows=listed)
    async def create(visit: Visit) -> Result:
        """Add a company."""
        await companies.create(panel.staff(visit), of_form(visit.form, CompanyRequest))
        return Redirect(f"{HOME}/companies")

    return panel.pages


def _asks(visit: Visit) -> Mapping[str, str]:
    return {"page": visit.query("page"), "limit": _LIMIT}
