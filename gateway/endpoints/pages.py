"""Pages of endpoints: the list, one endpoint, and the forms that add and change one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from yarl import URL

from gateway.companies.service import Companies
from gateway.core.access import Staff
from gateway.core.approvals import Approval
from gateway.core.errors import ServiceError
from gateway.core.user_errors import VALIDATION_FAILED
from gateway.endpoints.model import (
    Endpoint,
    EndpointChange,
    EndpointRotation,
    EndpointSecret,
    EndpointState,
    NewEndpoint,
)
from gateway.endpoints.searches import ENDPOINTS
from gateway.endpoints.service import Endpoints
from gateway.events.model import EventType
from gateway.http.panel.pages.kit import (
    CHOICES,
    PageContext,
    Pages,
    Part,
    go_on,
    part,
    shown,
)
from gateway.http.panel.pages.page import Page, Redirect, Result, Shown
from gateway.http.panel.pages.shown_once import shown_once
from gateway.http.panel.pages.visit import HOME, Visit
from policies.validation.backoffice.inputs import of_path
from policies.validation.bodies import read_fields

Held = Callable[[Staff, str], Awaitable[Any]]
"""Lists what belongs to the record of an id."""

STATES: Final = tuple(each.value for each in EndpointState)
TYPES: Final = tuple(each.value for each in EventType)
_ID: Final = of_path("endpoint_id")


def pages(
    endpoints: Endpoints,
    companies: Companies,
    accounts: Held,
    context: PageContext,
    deliveries: Held | None = None,
) -> Sequence[Page]:
    """
    Return the pages; their forms call the same service as the API.

    Args:
        endpoints: The service.
        companies: Whose endpoints they are.
        accounts: Lists the accounts of a company.
        context: See ``PageContext``.
        deliveries: Lists the last deliveries to an endpoint, which its page shows then.
    """
    panel = Pages("/endpoints", context)

    @panel.list(
        "",
        "endpoints",
        endpoints.page,
        takes=ENDPOINTS,
        asks=_asks,
        template="endpoints/list.html",
    )
    async def listed(visit: Visit) -> Mapping[str, object]:
        """List endpoints."""
        found = await part(companies.page(panel.staff(visit), CHOICES))
        return {
            "state": _state(visit),
            "states": STATES,
            "names": {each.id: each.name for each in found.data.items} if found.data else {},
            "may_write": panel.may(visit, endpoints.add),
        }

    @panel.view("/new", "endpoint_new", endpoints.add)
    async def new(visit: Visit) -> Result:
        """Show the form of a new endpoint, once its company is chosen."""
        who = panel.staff(visit)
        company_id = visit.form["company_id"] or visit.query("company_id")
        data = {
            **await _of_company(who, company_id),
            "choices": None if company_id else await part(companies.page(who, CHOICES)),
            "types": TYPES,
        }
        return Shown(template="endpoints/new.html", data=data)

    @panel.form("/new", "endpoint_add", endpoints.add, shows=new)
    async def add(visit: Visit) -> Result:
        """Add an endpoint; it may wait for a second person."""
        given = {"company_id": visit.form["company_id"], **_typed(visit)}
        return made(visit, await endpoints.add(panel.staff(visit), read_fields(NewEndpoint, given)))

    @panel.view("/{endpoint_id}", "endpoint", endpoints.get)
    async def read(visit: Visit) -> Result:
        """Show an endpoint, and the acts on it."""
        found, who = await one(visit), panel.staff(visit)
        former = found.former_secret_ends_at
        data = {
            "found": found,
            **await _of_company(who, found.company_id),
            "names": await panel.names(visit, found.account_ids),
            "host": _host(found),
            "signs_with_former": former is not None and former > who.acting.now(),
            "types": TYPES,
            "may_write": panel.may(visit, endpoints.change),
            "deliveries": await part(deliveries(who, found.id)) if deliveries else None,
        }
        return Shown(template="endpoints/endpoint.html", data=data)

    @panel.form("/{endpoint_id}/change", "endpoint_change", endpoints.change, shows=read)
    async def change(visit: Visit) -> Result:
        """Set address, types and accounts; it may wait for a second person."""
        wanted = read_fields(EndpointChange, _typed(visit))
        done = await endpoints.change(panel.staff(visit), _named(visit), wanted)
        return go_on(done, _page(visit))

    @panel.form("/{endpoint_id}/rotate", "endpoint_rotate", endpoints.rotate, shows=read)
    async def rotate(visit: Visit) -> Result:
        """Make a new secret; it may wait for a second person."""
        wanted = EndpointRotation(0) if visit.form["ends"] == "now" else EndpointRotation()
        return made(visit, await endpoints.rotate(panel.staff(visit), _named(visit), wanted))

    @panel.form("/{endpoint_id}/pause", "endpoint_pause", endpoints.pause, shows=read)
    async def pause(visit: Visit) -> Result:
        """Pause an endpoint: nothing is sent to it until it is resumed."""
        await endpoints.pause(panel.staff(visit), _named(visit))
        return Redirect(_page(visit))

    @panel.form("/{endpoint_id}/resume", "endpoint_resume", endpoints.resume, shows=read)
    async def resume(visit: Visit) -> Result:
        """Resume a paused endpoint, once it has answered a ping."""
        await endpoints.resume(panel.staff(visit), _named(visit))
        return Redirect(_page(visit))

    @panel.form("/{endpoint_id}/remove", "endpoint_remove", endpoints.remove, shows=read)
    async def remove(visit: Visit) -> Result:
        """Delete an endpoint, if its host was typed."""
        if visit.form["words"] != _host(await one(visit)):
            raise ServiceError(VALIDATION_FAILED, "not_the_name", field="words")
        await endpoints.remove(panel.staff(visit), _named(visit))
        return Redirect(f"{HOME}/endpoints")

    async def one(visit: Visit) -> Endpoint:
        """Read the endpoint of the path."""
        return await endpoints.get(panel.staff(visit), _named(visit))

    async def _of_company(who: Staff, company_id: str) -> Mapping[str, object]:
        """Return a company, and its accounts to choose from."""
        if not company_id:
            return {"company": Part(), "accounts": None}
        held = await part(accounts(who, company_id))
        return {
            "company": await part(companies.get(who, company_id)),
            "accounts": replace(held, data=shown(held.data, who)),
        }

    def made(visit: Visit, done: EndpointSecret | Approval) -> Result:
        """Show the secret, or the waiting order."""
        if isinstance(done, Approval):
            return Redirect(f"{HOME}/approvals/{done.id}")
        who = panel.staff(visit)
        return shown_once(shown(done, who), who.acting.now(), "endpoints/secret.html")

    return panel.pages


def _state(visit: Visit) -> str:
    return visit.chosen("state", STATES)


def _asks(visit: Visit) -> Mapping[str, str]:
    return {
        "state": _state(visit),
        "company_id": visit.query("company_id"),
        "page": visit.query("page"),
    }


def _named(visit: Visit) -> str:
    return _ID.read(visit.call.asked)


def _page(visit: Visit) -> str:
    return f"{HOME}/endpoints/{_named(visit)}"


def _typed(visit: Visit) -> Mapping[str, object]:
    """Read what the form of an endpoint says of it."""
    form = visit.form
    return {
        "url": form["url"],
        "types": [*form.all("types")],
        "account_ids": [*form.all("account_ids")],
    }


def _host(endpoint: Endpoint) -> str:
    """Return the name that is typed to remove it."""
    return URL(endpoint.url).host or ""
