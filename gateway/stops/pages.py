"""Pages of kill switches: in force and ended ones, and the forms that create and lift one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from gateway.banks.service import BankReports
from gateway.companies.service import Companies
from gateway.core.company_scope import StopScope
from gateway.core.errors import ServiceError
from gateway.core.priority import Priority
from gateway.core.user_errors import VALIDATION_FAILED
from gateway.credentials.model import CredentialSearch, CredentialState
from gateway.credentials.service import Credentials
from gateway.http.panel.pages.kit import CHOICES, KnownAccount, PageContext, Pages, Part, part
from gateway.http.panel.pages.page import Page, Redirect, Result, Shown
from gateway.http.panel.pages.visit import HOME, Language, Visit
from gateway.stops.model import LONGEST_MIN, StopRequest
from gateway.stops.service import Stops
from policies.validation.backoffice.inputs import PAGE
from policies.validation.bodies import of_form
from policies.validation.forms import Form

_ENDED: Final = "25"
_WORDS: Final = {Language.PORTUGUESE: "bloquear", Language.ENGLISH: "stop"}
_ALL_WORDS: Final = {Language.PORTUGUESE: "bloquear tudo", Language.ENGLISH: "stop everything"}
MINUTES: Final = (15, 60, 240, 1440, 10080, LONGEST_MIN)


def pages(
    stops: Stops,
    companies: Companies,
    credentials: Credentials,
    banks: BankReports,
    context: PageContext,
) -> Sequence[Page]:
    """Return the pages; their forms call the same service as the API."""
    panel = Pages("/stops", context, priority=Priority.STOPS)

    @panel.view("", "stops", stops.page)
    async def listed(visit: Visit) -> Result:
        """Show the stops in force, and ended ones."""
        who = panel.staff(visit)
        held = await stops.page(who, CHOICES)
        asked = {"page": visit.query("page"), "limit": _ENDED}
        ended = await panel.find(visit, stops.ended, PAGE, asked)
        shown = [*held.items, *(ended.data.items if ended.data else ())]
        data = {
            "stops": held.items,
            "total": held.total,
            "ended": ended,
            "may_write": panel.may(visit, stops.create),
            "names": await panel.names(visit, [each.subject for each in shown]),
        }
        return Shown(template="operations/stops.html", data=data)

    @panel.view("/new", "stop_new", stops.create)
    async def new(visit: Visit) -> Result:
        """Show the form of a new stop; the address may name its subject."""
        chosen = visit.form["subject"] or f"{visit.query('scope')}:{visit.query('subject')}"
        data = {
            "target": chosen,
            "targets": await targets(visit, *_parted(chosen)),
            "minutes": MINUTES,
            "word": _WORDS[visit.language],
            "word_for_all": _ALL_WORDS[visit.language],
        }
        return Shown(template="operations/stop_new.html", data=data)

    async def targets(visit: Visit, scope: str, subject: str) -> Mapping[str, Mapping[str, str]]:
        """Return the possible subjects by scope, the chosen one included."""
        who, live = panel.staff(visit), CredentialSearch(paging=CHOICES, state=CredentialState.LIVE)
        owners = await part(companies.page(who, CHOICES))
        issued = await part(credentials.page(who, live))
        found: dict[str, dict[str, str]] = {
            StopScope.COMPANY: {each.id: each.name for each in _items(owners)},
            StopScope.ACCOUNT: {each.id: _told(each) for each in await panel.accounts(visit)},
            StopScope.CREDENTIAL: {each.client_id: each.name for each in _items(issued)},
        }
        if who.scope.everything:
            known = await part(banks.providers(who))
            found[StopScope.PROVIDER] = {each.name: each.name for each in known.data or ()}
            found[StopScope.EVERYTHING] = {"": ""}
        if subject and scope in found and subject not in found[scope]:
            found[scope] |= await panel.names(visit, [subject])
        return found

    @panel.form("/new", "stop_create", stops.create, shows=new)
    async def create(visit: Visit) -> Result:
        """Stop payouts for a while, if the word was typed: of a bank, its name."""
        form = visit.form
        scope, subject = _parted(form["subject"])
        if not scope:
            raise ServiceError(VALIDATION_FAILED, "not_chosen", field="subject")
        words: dict[str, str] = {
            StopScope.PROVIDER: subject,
            StopScope.EVERYTHING: _ALL_WORDS[visit.language],
        }
        if form["words"].casefold() != words.get(scope, _WORDS[visit.language]).casefold():
            raise ServiceError(VALIDATION_FAILED, "not_the_name", field="words")
        wanted = Form({**form.values, "scope": (scope,), "subject": (subject,)})
        await stops.create(panel.staff(visit), of_form(wanted, StopRequest))
        return Redirect(f"{HOME}/stops")

    @panel.view("/{stop_id}/lift", "stop_ending", stops.get)
    async def ending(visit: Visit) -> Result:
        """Show the confirmation of lifting a stop."""
        stop = await stops.get(panel.staff(visit), visit.parameter("stop_id"))
        data = {"stop": stop, "names": await panel.names(visit, [stop.subject])}
        return Shown(template="operations/stop_lift.html", data=data)

    @panel.form("/{stop_id}/lift", "stop_lift", stops.lift, shows=ending)
    async def lift(visit: Visit) -> Result:
        """Lift a stop."""
        await stops.lift(panel.staff(visit), visit.parameter("stop_id"))
        return Redirect(f"{HOME}/stops")

    return panel.pages


def _parted(target: str) -> tuple[str, str]:
    """Return scope and subject of the choice; both empty for an invalid one."""
    scope, _, subject = target.partition(":")
    return (scope, subject) if scope in set(StopScope) else ("", "")


def _items(found: Part[Any]) -> Sequence[Any]:
    return found.data.items if found.data else ()


def _told(account: KnownAccount) -> str:
    """Return an account's label, distinct from others of its name."""
    return " · ".join(filter(None, (account.name, account.branch, account.account)))
