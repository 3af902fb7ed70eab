"""Pages of companies: the list with its form, and one company with its accounts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from gateway.companies.model import CompanyRequest, ContactRequest
from gateway.companies.service import Companies
from gateway.core.access import Staff
from gateway.core.permissions import Action
from gateway.core.rights import Area, Right
from gateway.http.panel.pages.kit import PageContext, Pages, part, shown
from gateway.http.panel.pages.page import Page, Redirect, Result, Shown
from gateway.http.panel.pages.visit import HOME, Visit
from policies.validation.backoffice.inputs import PAGE, of_path
from policies.validation.bodies import of_form

_ID: Final = of_path("company_id")
Held = Callable[[Staff, str], Awaitable[object]]
"""Lists what belongs to a company, by its id."""

_ADD: Final = Right(Area.ACCOUNT, Action.WRITE)
_ISSUE: Final = Right(Area.CREDENTIAL, Action.WRITE)
_ENDPOINTS: Final = Right(Area.ENDPOINT, Action.READ)
_PEOPLE: Final = Right(Area.USER, Action.READ)
_STOP: Final = Right(Area.STOP, Action.WRITE)
_LIMIT: Final = "50"


def pages(
    companies: Companies, accounts: Held, credentials: Held, context: PageContext
) -> Sequence[Page]:
    """Return the pages; the form calls the same service as the API."""
    panel = Pages("/companies", context)

    @panel.list(
        "", "companies", companies.summaries, takes=PAGE, asks=_asks, template="companies/list.html"
    )
    async def listed(visit: Visit) -> Mapping[str, object]:
        """List companies."""
        return {
            "may_add": panel.may(visit, companies.create),
            "may_stop": visit.may(_STOP),
            "stops": await panel.stops(visit),
        }

    @panel.form("", "company_create", companies.create, shows=listed)
    async def create(visit: Visit) -> Result:
        """Add a company."""
        made = await companies.create(panel.staff(visit), of_form(visit.form, CompanyRequest))
        return Redirect(f"{HOME}/companies/{made.id}")

    @panel.view("/{company_id}", "company", companies.get)
    async def one(visit: Visit) -> Result:
        """Show a company: its accounts, its credentials, and stops of its payouts."""
        who = panel.staff(visit)
        company = await companies.get(who, _ID.read(visit.call.asked))
        held = await part(accounts(who, company.id))
        data = {
            "company": company,
            "accounts": replace(held, data=shown(held.data, who)),
            "credentials": await part(credentials(who, company.id)),
            "stops": await panel.stops(visit),
            "may_add": visit.may(_ADD),
            "may_change": panel.may(visit, companies.set_contact),
            "may_issue": visit.may(_ISSUE),
            "may_see_endpoints": visit.may(_ENDPOINTS),
            "may_see_sign_on": visit.may(_PEOPLE),
            "may_stop": visit.may(_STOP),
        }
        return Shown(template="companies/company.html", data=data)

    @panel.form("/{company_id}/contact", "company_contact", companies.set_contact, shows=one)
    async def contact(visit: Visit) -> Result:
        """Set the company's contact."""
        wanted = of_form(visit.form, ContactRequest)
        changed = await companies.set_contact(
            panel.staff(visit), _ID.read(visit.call.asked), wanted
        )
        return Redirect(f"{HOME}/companies/{changed.id}")

    return panel.pages


def _asks(visit: Visit) -> Mapping[str, str]:
    return {"page": visit.query("page"), "limit": _LIMIT}
