"""Stops: payouts of a bank, a company, an account or a credential are refused for a while."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from gateway.domain.accounts.credentials import Action
from gateway.domain.identity.errors import NOT_FOUND, VALIDATION_FAILED
from gateway.domain.identity.rights import Area, Right
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.payouts.stops import StopScope
from gateway.http.panel.pages.calls import RowCalls, Section
from gateway.http.panel.pages.page import Page, Redirect, Result, Shown
from gateway.http.panel.pages.visit import HOME, Language, Visit
from gateway.http.panel.screens.operations.accounts import every_account

_READ: Final = Right(Area.STOP, Action.READ)
_WRITE: Final = Right(Area.STOP, Action.WRITE)
_LIMIT: Final = "100"
"""Stops in force are few: one page holds them."""
_WORDS: Final = {Language.PORTUGUESE: "parar", Language.ENGLISH: "stop"}
_BY_ID: Final = (StopScope.COMPANY, StopScope.ACCOUNT)
"""What has a UUID; a bank and a credential have names of other forms."""

MINUTES: Final = (15, 60, 240, 1440, 10080, 43200)
"""For how long: from a quarter of an hour to 30 days, the most there is."""


@dataclass(frozen=True, slots=True)
class StopPages:
    """The stops in force, and the forms that pull and lift one."""

    rows: RowCalls

    async def list(self, visit: Visit) -> Result:
        """Show the stops in force."""
        found = await self.rows.ask(visit, "backoffice.stops", query={"limit": _LIMIT})
        return Shown(
            template="operations/stops.html",
            data={
                "stops": found.data["data"],
                "total": found.data["meta"]["total"],
                "may_write": visit.may(_WRITE),
                "names": await self._names(visit, found.data["data"]),
            },
        )

    async def form(self, visit: Visit) -> Result:
        """Show the form of a new stop; the address may name what is to be stopped."""
        scope = visit.form["scope"] or visit.query("scope")
        subject = visit.form["subject"] or visit.query("subject")
        chosen = scope if scope in set(StopScope) else StopScope.ACCOUNT.value
        return Shown(
            template="operations/stop_new.html",
            data={
                "scope": chosen,
                "scopes": [each.value for each in StopScope],
                "subject": subject,
                "minutes": MINUTES,
                "word": _WORDS[visit.language],
                "choices": await self._choices(visit),
            },
        )

    async def pull(self, visit: Visit) -> Result:
        """Stop payouts, if the word was typed: the bank's name, or that it is to be stopped."""
        form = visit.form
        if not form["subject"] or (form["scope"] in _BY_ID and not _is_id(form["subject"])):
            raise ServiceError(VALIDATION_FAILED, "not_chosen", field="subject")
        wanted = form["subject"] if form["scope"] == StopScope.PROVIDER else _WORDS[visit.language]
        if not wanted or form["words"].casefold() != wanted.casefold():
            raise ServiceError(VALIDATION_FAILED, "not_the_name", field="words")
        body = {"scope": form["scope"], "subject": form["subject"], "reason": form["reason"]}
        minutes = form["minutes"]
        asked = int(minutes) if minutes in set(map(str, MINUTES)) else 0
        await self.rows.ask(visit, "backoffice.stop_pull", body={**body, "minutes": asked})
        return Redirect(f"{HOME}/stops")

    async def ending(self, visit: Visit) -> Result:
        """Show a stop that is to be lifted."""
        stop = await self._stop(visit)
        data = {"stop": stop, "names": await self._names(visit, [stop])}
        return Shown(template="operations/stop_lift.html", data=data)

    async def lift(self, visit: Visit) -> Result:
        """Let payouts go again."""
        path = {"stop_id": visit.parameter("stop_id")}
        await self.rows.ask(visit, "backoffice.stop_lift", path=path)
        return Redirect(f"{HOME}/stops")

    async def _choices(self, visit: Visit) -> Sequence[tuple[str, str, str]]:
        """Return what a stop can name: the scope, the subject, and what people call it."""
        banks = await self.rows.section(visit, "backoffice.providers")
        companies = await self.rows.section(visit, "backoffice.companies", limit=_LIMIT)
        accounts = await every_account(self.rows, visit)
        return [
            *(("provider", each["name"], each["name"]) for each in _listed(banks)),
            *(("company", each["id"], each["name"]) for each in _listed(companies)),
            *(("account", each["id"], _told(each)) for each in accounts),
        ]

    async def _names(self, visit: Visit, stops: Sequence[Mapping[str, Any]]) -> Mapping[str, str]:
        """Return what is called what; the subject of a bank is its name."""
        return await self.rows.names(visit, [each["subject"] for each in stops])

    async def _stop(self, visit: Visit) -> Any:  # noqa: ANN401 - a document
        """Return the stop of the path; NOT_FOUND for one that does not hold, or is not shown."""
        found = await self.rows.ask(visit, "backoffice.stops", query={"limit": _LIMIT})
        stop_id = visit.parameter("stop_id")
        stop = next((each for each in found.data["data"] if each["id"] == stop_id), None)
        if stop is None:
            raise ServiceError(NOT_FOUND, "stop")
        return stop


def _is_id(text: str) -> bool:
    """Say whether a text is an id as we write them."""
    try:
        return str(UUID(text)) == text.casefold()
    except ValueError:
        return False


def _listed(found: Section) -> Sequence[Mapping[str, Any]]:
    """Return the lines of a list; none of one that cannot be read."""
    return found.data["data"] if found.data else ()


def _told(account: Mapping[str, Any]) -> str:
    """Tell an account from others of its name."""
    return " · ".join(filter(None, (account["name"], account["branch"], account["account"])))


def pages(rows: RowCalls) -> Sequence[Page]:
    """Return the pages of stops."""
    return (*_shown(StopPages(rows)), *_acts(StopPages(rows)))


def _shown(stops: StopPages) -> Sequence[Page]:
    return (
        Page(
            path="/stops",
            name="stops",
            summary="Show the stops in force.",
            shows=stops.list,
            needs=_READ,
        ),
        Page(
            path="/stops/new",
            name="stop_new",
            summary="Ask what is to be stopped.",
            shows=stops.form,
            needs=_WRITE,
        ),
        Page(
            path="/stops/{stop_id}/lift",
            name="stop_ending",
            summary="Ask whether a stop is to be lifted.",
            shows=stops.ending,
            needs=_WRITE,
        ),
    )


def _acts(stops: StopPages) -> Sequence[Page]:
    return (
        Page(
            path="/stops/new",
            name="stop_pull",
            summary="Stop payouts for a while.",
            shows=stops.form,
            does=stops.pull,
            needs=_WRITE,
        ),
        Page(
            path="/stops/{stop_id}/lift",
            name="stop_lift",
            summary="Let payouts go again.",
            shows=stops.ending,
            does=stops.lift,
            needs=_WRITE,
        ),
    )
