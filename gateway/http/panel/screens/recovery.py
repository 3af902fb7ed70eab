"""Who cannot sign in yet: a forgotten password, and the links of mails that set one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.http.panel.pages.calls import RowCalls
from gateway.http.panel.pages.page import Page, Redirect, Result, Shown
from gateway.http.panel.pages.visit import HOME, Visit, own_path
from gateway.http.panel.screens.session import SessionPages


@dataclass(frozen=True, slots=True)
class ForgottenPages:
    """Asking for a link; nothing tells whether an address belongs to anybody."""

    rows: RowCalls
    session: SessionPages

    async def ask(self, visit: Visit) -> Result:
        """Ask for the address; afterwards say the same whoever it belongs to."""
        await self.session.begin(visit)
        return Shown(template="session/forgotten.html", data={"sent": visit.query("sent") == "1"})

    async def send(self, visit: Visit) -> Result:
        """Have a link sent."""
        await self.rows.ask(visit, "panel.password_forgot", body={"email": visit.form["email"]})
        return Redirect(f"{HOME}/forgotten?sent=1")


@dataclass(frozen=True, slots=True)
class LinkPages:
    """
    A link of a mail: it sets a password, once.

    Attributes:
        row: Uses the link up.
        done: What the sign-in says then.
    """

    rows: RowCalls
    session: SessionPages
    row: str
    done: str

    async def ask(self, visit: Visit) -> Result:
        """Ask for the password to be; who comes from their mail follows a link of ours first."""
        if visit.is_foreign:
            return Shown(template="session/continue.html", data={"next": own_path(visit.address)})
        await self.session.begin(visit)
        token = visit.query("token") or visit.form["token"]
        return Shown(template="session/new_password.html", data={"token": token, "for": self.done})

    async def set(self, visit: Visit) -> Result:
        """Set the password and lead to the sign-in."""
        body = {
            "token": visit.form["token"],
            "password": visit.form.exactly("new_password"),
        }
        await self.rows.ask(visit, self.row, body=body)
        return Redirect(f"{HOME}/login?done={self.done}")


def recovery_pages(rows: RowCalls, session: SessionPages) -> Sequence[Page]:
    """Return the pages; all of them stand before the sign-in."""
    forgotten = ForgottenPages(rows, session)
    reset = LinkPages(rows, session, "panel.password_reset", "reset")
    invitation = LinkPages(rows, session, "panel.invitation_accept", "invitation")
    return (
        Page(
            path="/forgotten",
            name="forgotten",
            summary="Ask for a link that sets a new password.",
            shows=forgotten.ask,
            is_open=True,
        ),
        Page(
            path="/forgotten",
            name="forgotten_send",
            summary="Have a link sent that sets a new password.",
            shows=forgotten.ask,
            does=forgotten.send,
            is_open=True,
        ),
        *_of_link("/reset", "reset", "a new password", reset),
        *_of_link("/invitation", "invitation", "the first password", invitation),
    )


def _of_link(path: str, name: str, what: str, link: LinkPages) -> Sequence[Page]:
    """Return the page of a link and its form."""
    return (
        Page(path=path, name=name, summary=f"Ask for {what}.", shows=link.ask, is_open=True),
        Page(
            path=path,
            name=f"{name}_set",
            summary=f"Set {what} by a link of a mail.",
            shows=link.ask,
            does=link.set,
            is_open=True,
        ),
    )
