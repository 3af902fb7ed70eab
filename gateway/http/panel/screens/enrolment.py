"""Enrolling an authenticator app: password once more, QR code, first code, recovery codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.http.panel.pages.calls import RowCalls
from gateway.http.panel.pages.page import Page, Redirect, Result, Shown
from gateway.http.panel.pages.visit import HOME, Visit, own_path
from policies.authentication.session import SET_COOKIE


@dataclass(frozen=True, slots=True)
class EnrolmentPages:
    """One's own second factor."""

    rows: RowCalls

    async def ask(self, visit: Visit) -> Result:
        """Ask for the password once more; who has a factor has nothing to enrol."""
        if visit.person is not None and visit.person.has_factor:
            return Redirect(HOME)
        wanted = visit.query("next")
        data = {"later": own_path(wanted) if wanted else ""}
        return Shown(template="session/factor.html", data=data)

    async def begin(self, visit: Visit) -> Result:
        """Show what an app scans; shown this once."""
        body = {"password": visit.form.exactly("password")}
        begun = await self.rows.ask(visit, "panel.totp_begin", body=body)
        return Shown(template="session/factor_scan.html", data={"begun": begun.data})

    async def ask_code(self, visit: Visit) -> Result:
        """Ask for the first code of an app that was scanned already."""
        if visit.person is not None and visit.person.has_factor:
            return Redirect(HOME)
        return Shown(template="session/factor_scan.html", data={"begun": None})

    async def confirm(self, visit: Visit) -> Result:
        """Finish by the app's first code; the codes are shown once, and every session ends."""
        body = {"code": visit.form["app_code"]}
        made = await self.rows.ask(visit, "panel.totp_confirm", body=body)
        visit.cookies.append(made.headers[SET_COOKIE])
        visit.browser = visit.person = None
        codes = made.data["recovery_codes"]
        return Shown(template="session/recovery_codes.html", data={"codes": codes})

    async def stay(self, visit: Visit) -> Result:
        """Say that the session goes on: any page of ours has that effect."""
        return Shown(template="session/stay.html")


def pages(rows: RowCalls) -> Sequence[Page]:
    """Return the pages."""
    enrolment = EnrolmentPages(rows)
    stay = Page(path="/stay", name="stay", summary="Keep the session alive.", shows=enrolment.stay)
    return (*_password(enrolment), *_code(enrolment), stay)


def _password(enrolment: EnrolmentPages) -> Sequence[Page]:
    """Return the first step."""
    return (
        Page(
            path="/factor",
            name="factor",
            summary="Ask for the password before an authenticator app is enrolled.",
            shows=enrolment.ask,
        ),
        Page(
            path="/factor",
            name="factor_begin",
            summary="Start to enrol an authenticator app.",
            shows=enrolment.ask,
            does=enrolment.begin,
        ),
    )


def _code(enrolment: EnrolmentPages) -> Sequence[Page]:
    """Return the second step."""
    return (
        Page(
            path="/factor/code",
            name="factor_code",
            summary="Ask for the first code of an authenticator app.",
            shows=enrolment.ask_code,
        ),
        Page(
            path="/factor/code",
            name="factor_confirm",
            summary="Finish to enrol an authenticator app.",
            shows=enrolment.ask_code,
            does=enrolment.confirm,
        ),
    )
