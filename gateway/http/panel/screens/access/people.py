"""People: invited, given roles and companies, disabled, signed out; their second factor reset."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from aiohttp import hdrs

from gateway.domain.accounts.credentials import Action
from gateway.domain.identity.errors import VALIDATION_FAILED
from gateway.domain.identity.rights import Area, Right, Role
from gateway.domain.kernel.errors import ServiceError
from gateway.http.panel.pages.calls import RowCalls, Section
from gateway.http.panel.pages.page import Page, Redirect, Result, Shown
from gateway.http.panel.pages.visit import HOME, Visit

READS: Final = Right(Area.USER, Action.READ)
MANAGES: Final = Right(Area.USER, Action.MANAGE)
ENDS_SESSIONS: Final = Right(Area.SESSION, Action.WRITE)
ROLES: Final = tuple(each.value for each in Role)
_MOST: Final = "100"
_WAITS: Final = 202
Act = Callable[["PeoplePages", Visit], Awaitable[Section]]


@dataclass(frozen=True, slots=True)
class PeoplePages:
    """The pages of people."""

    rows: RowCalls

    async def list(self, visit: Visit) -> Result:
        """List people, oldest first."""
        found = await self.rows.section(visit, "backoffice.users", page=visit.query("page"))
        data = {"found": found, "may_manage": visit.may(MANAGES)}
        return Shown(template="access/people.html", data=data)

    async def read(self, visit: Visit) -> Result:
        """Show one: how they stand, what they may do, where they are signed in."""
        found = await self.rows.ask(visit, "backoffice.user", path=_named(visit))
        roles = await self.rows.section(visit, "backoffice.roles")
        sessions = await self.rows.section(visit, "backoffice.user_sessions", _named(visit))
        companies = await self.rows.section(visit, "backoffice.companies", limit=_MOST)
        data = {
            "person": found.data,
            "version": _seen_version(visit) or found.headers.get(hdrs.ETAG, ""),
            "roles": _rights(roles),
            "sessions": sessions,
            "companies": companies,
            "is_own": visit.person is not None and visit.person.user_id == found.data["id"],
            "may_manage": visit.may(MANAGES),
            "may_end": visit.may(ENDS_SESSIONS),
        }
        return Shown(template="access/person.html", data=data)

    async def new(self, visit: Visit) -> Result:
        """Show the form of an invitation."""
        roles = await self.rows.section(visit, "backoffice.roles")
        companies = await self.rows.section(visit, "backoffice.companies", limit=_MOST)
        data = {"roles": _rights(roles), "companies": companies}
        return Shown(template="access/person_new.html", data=data)

    async def invite(self, visit: Visit) -> Result:
        """Invite somebody; whoever may write waits for a second person."""
        body = {
            "email": visit.form["email"],
            "name": visit.form["name"],
            "roles": _roles(visit),
            "companies": _companies(visit),
        }
        made = await self.rows.ask(visit, "backoffice.user_invite", body=body)
        return _done(made, f"{HOME}/people")

    async def rename(self, visit: Visit) -> Section:
        """Give somebody another name."""
        return await self._change(visit, "user_rename", {"name": visit.form["name"]})

    async def set_roles(self, visit: Visit) -> Section:
        """Give exactly these roles; taking is at once, giving one that writes waits."""
        return await self._change(visit, "user_roles", {"roles": _roles(visit)})

    async def set_companies(self, visit: Visit) -> Section:
        """Show these companies alone, or every one; more to who may write waits."""
        return await self._change(visit, "user_companies", {"companies": _companies(visit)})

    async def disable(self, visit: Visit) -> Section:
        """Keep somebody out, with a reason, if their address was typed."""
        await self._typed_address(visit)
        return await self._change(visit, "user_disable", {"reason": _reason(visit)})

    async def enable(self, visit: Visit) -> Section:
        """Let somebody in again; who may write waits."""
        return await self._change(visit, "user_enable")

    async def unlock(self, visit: Visit) -> Section:
        """Let somebody in who was wrong too often."""
        return await self.rows.ask(visit, "backoffice.user_unlock", path=_named(visit))

    async def reset_factor(self, visit: Visit) -> Section:
        """Take the second factor away, if the address was typed."""
        await self._typed_address(visit)
        return await self._change(visit, "user_reset_mfa")

    async def invite_again(self, visit: Visit) -> Section:
        """Send a new link."""
        return await self.rows.ask(visit, "backoffice.user_invite_again", path=_named(visit))

    async def end_sessions(self, visit: Visit) -> Section:
        """End all of somebody's sign-ins."""
        return await self.rows.ask(visit, "backoffice.user_sessions_end", path=_named(visit))

    async def _typed_address(self, visit: Visit) -> None:
        """Demand the person's address, so that nobody is kept out by mistake."""
        found = await self.rows.ask(visit, "backoffice.user", path=_named(visit))
        if visit.form["words"] != found.data["email"]:
            raise ServiceError(VALIDATION_FAILED, "not_the_name", field="words")

    async def _change(
        self, visit: Visit, name: str, body: Mapping[str, object] | None = None
    ) -> Section:
        """Change the person as they were seen."""
        return await self.rows.ask(
            visit,
            f"backoffice.{name}",
            path=_named(visit),
            body=body,
            version=visit.form["version"],
        )


def _named(visit: Visit) -> Mapping[str, str]:
    return {"user_id": visit.parameter("user_id")}


def _seen_version(visit: Visit) -> str:
    """Return the version that was looked at before the code was asked for; else none."""
    return visit.form["version"] if visit.asks_code else ""


def _roles(visit: Visit) -> Sequence[str]:
    """Read the ticked roles; what is no role of ours is left to the row to refuse."""
    return list(visit.form.all("role"))


def _companies(visit: Visit) -> Sequence[str]:
    """Read the ticked companies."""
    return list(visit.form.all("company"))


def _reason(visit: Visit) -> str:
    """Demand a reason."""
    if not visit.form["reason"]:
        raise ServiceError(VALIDATION_FAILED, "missing", field="reason")
    return visit.form["reason"]


def _rights(roles: Section) -> Sequence[Mapping[str, Any]]:
    """Return each role with its rights; without them where they cannot be read."""
    if roles.data is None:
        return [{"name": each, "rights": []} for each in ROLES]
    return list(roles.data["data"])


def _done(made: Section, to: str) -> Redirect:
    """Go on: to the order where a second person has to agree."""
    return Redirect(f"{HOME}/approvals/{made.data['id']}" if made.status == _WAITS else to)


_ACTS: Final[Sequence[tuple[str, Act, Right, str]]] = (
    ("name", PeoplePages.rename, MANAGES, "Give somebody another name."),
    ("roles", PeoplePages.set_roles, MANAGES, "Give exactly these roles."),
    ("companies", PeoplePages.set_companies, MANAGES, "Show these companies alone."),
    ("disable", PeoplePages.disable, MANAGES, "Keep somebody out."),
    ("enable", PeoplePages.enable, MANAGES, "Let somebody in again."),
    ("unlock", PeoplePages.unlock, MANAGES, "Let somebody in who was wrong too often."),
    ("reset-factor", PeoplePages.reset_factor, MANAGES, "Take a second factor away."),
    ("invitation", PeoplePages.invite_again, MANAGES, "Send a new link."),
    ("sessions", PeoplePages.end_sessions, ENDS_SESSIONS, "End somebody's sign-ins."),
)


def _form(does: PeoplePages, word: str, act: Act, needs: Right, summary: str) -> Page:
    """Return the page of one form of a person's page."""

    async def run(visit: Visit) -> Result:
        """Act, and show the person, or the order that waits."""
        made = await act(does, visit)
        return _done(made, f"{HOME}/people/{visit.parameter('user_id')}")

    return Page(
        path=f"/people/{{user_id}}/{word}",
        name=f"person_{word.replace('-', '_')}",
        summary=summary,
        needs=needs,
        shows=does.read,
        does=run,
    )


def pages(rows: RowCalls) -> Sequence[Page]:
    """Return the pages."""
    does = PeoplePages(rows)
    listed = Page(
        path="/people", name="people", summary="List people.", needs=READS, shows=does.list
    )
    form = Page(
        path="/people/new",
        name="person_new",
        summary="Show the form of an invitation.",
        needs=MANAGES,
        shows=does.new,
    )
    invite = Page(
        path="/people/new",
        name="person_invite",
        summary="Invite somebody.",
        needs=MANAGES,
        shows=does.new,
        does=does.invite,
    )
    one = Page(
        path="/people/{user_id}",
        name="person",
        summary="Show one person.",
        needs=READS,
        shows=does.read,
    )
    return (listed, form, invite, one, *(_form(does, *each) for each in _ACTS))
