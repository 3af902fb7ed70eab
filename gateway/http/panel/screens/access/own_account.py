"""One's own account: password, second factor, recovery codes, where one is signed in, the look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gateway.domain.identity.errors import VALIDATION_FAILED
from gateway.domain.kernel.errors import ServiceError
from gateway.http.panel.pages.calls import RowCalls, Section
from gateway.http.panel.pages.page import Page, Redirect, Result, Shown
from gateway.http.panel.pages.visit import HOME, Language, Visit
from policies.authentication.session import SET_COOKIE

_ME: Final = f"{HOME}/me"
_DOOR: Final = f"{HOME}/login"
_REMOVE: Final = {Language.PORTUGUESE: "remover", Language.ENGLISH: "remove"}


@dataclass(frozen=True, slots=True)
class OwnAccountPages:
    """The page of one's own account, and its forms."""

    rows: RowCalls

    async def read(self, visit: Visit) -> Result:
        """Show everything; the sessions may fail apart."""
        sessions = await self.rows.section(visit, "panel.sessions")
        data = {
            "sessions": sessions,
            "word": _REMOVE[visit.language],
        }
        return Shown(template="access/own_account.html", data=data)

    async def change_password(self, visit: Visit) -> Result:
        """Change the password; every session ends."""
        current, new = visit.form.exactly("current_password"), visit.form.exactly("new_password")
        if new != visit.form.exactly("new_again"):
            raise ServiceError(VALIDATION_FAILED, "not_the_same", field="new_again")
        body = {"current_password": current, "new_password": new}
        done = await self.rows.ask(visit, "panel.password_change", body=body)
        return _left(visit, done)

    async def new_codes(self, visit: Visit) -> Result:
        """Replace the recovery codes; the new ones are shown once."""
        made = await self.rows.ask(visit, "panel.recovery_codes")
        codes = made.data["recovery_codes"]
        return Shown(template="access/own_codes.html", data={"codes": codes})

    async def remove_factor(self, visit: Visit) -> Result:
        """Take the app away, if the word for that was typed; every session ends."""
        if visit.form["words"].casefold() != _REMOVE[visit.language]:
            raise ServiceError(VALIDATION_FAILED, "not_the_name", field="words")
        return _left(visit, await self.rows.ask(visit, "panel.totp_remove"))

    async def end_session(self, visit: Visit) -> Result:
        """End one of one's sessions."""
        path = {"session_id": visit.parameter("session_id")}
        await self.rows.ask(visit, "panel.session_end", path=path)
        return Redirect(_ME)

    async def end_others(self, visit: Visit) -> Result:
        """End every session but this one."""
        await self.rows.ask(visit, "panel.sessions_end")
        return Redirect(_ME)


def _left(visit: Visit, done: Section) -> Redirect:
    """Go to the sign-in: this session has ended too."""
    visit.cookies.append(done.headers[SET_COOKIE])
    return Redirect(_DOOR)


def pages(rows: RowCalls) -> Sequence[Page]:
    """Return the pages."""
    does = OwnAccountPages(rows)
    forms = (
        ("/me/password", "own_password", "Change the password.", does.change_password),
        ("/me/recovery-codes", "own_codes", "Replace the recovery codes.", does.new_codes),
        ("/me/factor/remove", "own_factor_remove", "Take the app away.", does.remove_factor),
        ("/me/sessions/end", "own_sessions_end", "End the other sessions.", does.end_others),
        (
            "/me/sessions/{session_id}/end",
            "own_session_end",
            "End one session.",
            does.end_session,
        ),
    )
    return (
        Page(path="/me", name="own_account", summary="Show one's own account.", shows=does.read),
        *(
            Page(path=path, name=name, summary=summary, shows=does.read, does=act)
            for path, name, summary, act in forms
        ),
    )
