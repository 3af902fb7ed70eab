"""Pages of kill switches: those in force, and the forms that create and lift one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from gateway.accounts.model import AccountRecord
from gateway.banks.service import BankReports
from gateway.companies.service import Companies
from gateway.domain.identity.errors import VALIDATION_FAILED
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.kernel.windows import LARGEST_LIMIT, Paging
from gateway.http.panel.pages.kit import PageContext, Pages, part
from gateway.http.panel.pages.page import Page, Redirect, Result, Shown
from gateway.http.panel.pages.visit import HOME, Language, Visit
from gateway.stops.model import LONGEST_MIN, StopRequest, StopScope
from gateway.stops.service import Stops
from policies.validation.bodies import of_form

_ALL: Final = Paging(page=1, limit=LARGEST_LIMIT)
"""Stops in force are few: one page holds them."""
_WORDS: Final = {Language.PORTUGUESE: "parar", Language.ENGLISH: "stop"}
_BY_ID: Final = (StopScope.COMPANY, StopScope.ACCOUNT)
"""What has a UUID; a bank and a credential have names of other forms."""
MINUTES: Final = (15, 60, 240, 1440, 10080, LONGEST_MIN)


def pages(
    stops: Stops, companies: Companies, banks: BankReports, context: PageContext
) -> Sequence[Page]:
    """Return the pages; their forms call the same service as the API."""
    panel = Pages("/stops", context)

    @panel.view("", "stops", stops.page)
    async def listed(visit: Visit) -> Result:
        """Show the stops in force."""
        found = await stops.page(panel.staff(visit), _ALL)
        return Shown(
            template="operations/stops.html",
            data={
                "stops": found.items,
                "total": found.total,
                "may_write": panel.may(visit, stops.create),
                "names": await panel.names(visit, [each.subject for each in found.items]),
            },
        )

    @panel.view("/new", "stop_new", stops.create)
    async def new(visit: Visit) -> Result:
        """Ask what is to be stopped; the address may name it."""
        scope = visit.form["scope"] or visit.query("scope")
        data = {
            "scope": scope if scope in set(StopScope) else StopScope.ACCOUNT.value,
            "scopes": [each.value for each in StopScope],
            "subject": visit.form["subject"] or visit.query("subject"),
            "minutes": MINUTES,
            "word": _WORDS[visit.language],
            "choices": await _choices(panel, companies, banks, visit),
        }
        return Shown(template="operations/stop_new.html", data=data)

    @panel.form("/new", "stop_pull", stops.create, shows=new)
    async def create(visit: Visit) -> Result:
        """Stop payouts for a while, if the word was typed: of a bank, its name."""
        form = visit.form
        if not form["subject"] or (form["scope"] in _BY_ID and not _is_id(form["subject"])):
            raise ServiceError(VALIDATION_FAILED, "not_chosen", field="subject")
        word = form["subject"] if form["scope"] == StopScope.PROVIDER else _WORDS[visit.language]
        if form["words"].casefold() != word.casefold():
            raise ServiceError(VALIDATION_FAILED, "not_the_name", field="words")
        await stops.create(panel.staff(visit), of_form(form, StopRequest))
        return Redirect(f"{HOME}/stops")

    @panel.view("/{stop_id}/lift", "stop_ending", stops.get)
    async def ending(visit: Visit) -> Result:
        """Ask whether a stop is to be lifted."""
        stop = await stops.get(panel.staff(visit), visit.parameter("stop_id"))
        data = {"stop": stop, "names": await panel.names(visit, [stop.subject])}
        return Shown(template="operations/stop_lift.html", data=data)

    @panel.form("/{stop_id}/lift", "stop_lift", stops.lift, shows=ending)
    async def lift(visit: Visit) -> Result:
        """Let payouts go again."""
        await stops.lift(panel.staff(visit), visit.parameter("stop_id"))
        return Redirect(f"{HOME}/stops")

    return panel.pages


async def _choices(
    panel: Pages, companies: Companies, banks: BankReports, visit: Visit
) -> Sequence[tuple[str, str, str]]:
    """Return what a stop can name: the scope, the subject, and what people call it."""
    who = panel.staff(visit)
    known = await part(banks.providers(who))
    found = await part(companies.page(who, _ALL))
    return [
        *(("provider", each.name, each.name) for each in known.data or ()),
        *(("company", each.id, each.name) for each in (found.data.items if found.data else ())),
        *(("account", each.id, _told(each)) for each in await panel.accounts(visit)),
    ]


def _told(account: AccountRecord) -> str:
    """Tell an account from others of its name."""
    return " · ".join(filter(None, (account.name, account.branch, account.account)))


def _is_id(text: str) -> bool:
    """Say whether a text is an id as we write them."""
    try:
        return str(UUID(text)) == text.casefold()
    except ValueError:
        return False
