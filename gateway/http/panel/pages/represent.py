"""Responses of pages: HTML under a strict policy, redirects, files."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from html import escape
from typing import Final
from urllib.parse import quote, urlsplit

from gateway.core.account import Environment
from gateway.core.calls import Call, RawRequest
from gateway.core.errors import METHOD_NOT_ALLOWED, OVERLOADED, ServiceError
from gateway.core.trace import current_trace_id
from gateway.core.user_errors import SESSION_REQUIRED
from gateway.http.documents import takes_gzip
from gateway.http.panel.pages.badges import Badges
from gateway.http.panel.pages.kept import KeptForms
from gateway.http.panel.pages.navigation import Navigation
from gateway.http.panel.pages.page import Download, Redirect, Result
from gateway.http.panel.pages.refusals import mark
from gateway.http.panel.pages.templates import Templates, Uncompiled
from gateway.http.panel.pages.visit import HOME, Language, Visit, admit_visitor, own_path
from gateway.http.rendering import message_of
from gateway.http.route import Answer, RefusedPath
from gateway.security.secrets import Random
from policies.traffic.csrf import Origin
from policies.traffic.quota import PERSON

SEE_OTHER: Final = 303
_HTML: Final = "text/html; charset=utf-8"
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none';"
    " frame-ancestors 'none'"
)
HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": _POLICY,
    "Strict-Transport-Security": "max-age=63072000; includeSubDomains",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=()",
    "Cache-Control": "no-store",
    "Vary": "HX-Request-Type, Accept-Encoding",
}
_SHORT: Final = 1000
"""Bytes that fit into one packet anyway."""
_LEVEL: Final = 4
"""1 ms for a long page; 6 takes twice as long for a twentieth less."""
_IDLE_ENDS: Final = "X-Idle-Ends"
_NOWHERE: Final = "-"
"""No entry of the side column: a form's own address is no page."""
_DOOR: Final = f"{HOME}/login"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageResponses:
    """
    Renders pages and their refusals.

    Attributes:
        holders: The page that holds a form, by the form's address.
        idle: Without a page or a call, a session ends after it.
        origin: Where pages and the interface of partners are served.
        reports: Where browsers report violations of the policy, https; empty for nowhere.
        random: Masks the tokens of pages.
    """

    templates: Templates
    navigation: Navigation
    badges: Badges
    holders: Mapping[str, str]
    environment: Environment
    idle: timedelta
    kept: KeptForms
    origin: Origin
    reports: str = ""
    random: Random = os.urandom

    async def answer(self, result: Result, visit: Visit) -> Answer[bytes]:
        """Return a page's response; ``templates`` must have been loaded."""
        return self._reporting(await self._answer(result, visit))

    def refuse(self, refusal: ServiceError, call: Call | None, at: RefusedPath) -> Answer[bytes]:
        """Return a page for a refusal; without a session, the way to sign in."""
        return self._reporting(self._refuse(refusal, call, at))

    def _reporting(self, answer: Answer[bytes]) -> Answer[bytes]:
        """Name the address for browsers' reports; ``report-uri`` is for older browsers."""
        if not self.reports:
            return answer
        told = {
            "Content-Security-Policy": f"{_POLICY}; report-to csp; report-uri {self.reports}",
            "Reporting-Endpoints": f'csp="{self.reports}"',
        }
        return replace(answer, headers={**answer.headers, **told})

    async def _answer(self, result: Result, visit: Visit) -> Answer[bytes]:
        if isinstance(result, Redirect):
            return _answer(visit, b"", {**HEADERS, "Location": own_path(result.to)}, SEE_OTHER)
        if isinstance(result, Download):
            return _file(visit, result)
        template = result.part if visit.is_partial and result.part else result.template
        given = self._given(visit, result.data)
        content = mark(await self.templates.render(template, visit.language, given), visit)
        added = visit.problem.headers if visit.problem else {}
        headers = {**HEADERS, **added, _IDLE_ENDS: str(self._idle_ends(visit))}
        if result.is_secret:
            return _answer(visit, content, headers, result.status)
        return _answer(visit, *_compressed(content, headers, visit), result.status)

    def _refuse(self, refusal: ServiceError, call: Call | None, at: RefusedPath) -> Answer[bytes]:
        visit = admit_visitor(call or _nobody(at))
        if refusal.error is OVERLOADED:
            return Answer(
                content=_busy(visit.language, at.trace_id),
                content_type=_HTML,
                headers={**HEADERS, **refusal.headers},
                status=refusal.error.status,
            )
        if refusal.error is SESSION_REQUIRED:
            if call is not None and not at.is_read:
                return self._keep(visit, call, at)
            return _to_sign_in(visit, at)
        if refusal.error is METHOD_NOT_ALLOWED and at.is_read:
            held = self._held(at.target.partition("?")[0])
            if held:
                return _answer(visit, b"", {**HEADERS, "Location": own_path(held)}, SEE_OTHER)
        visit.counts = self.badges.last(visit)
        data = {"refusal": refusal, "message": message_of(refusal), "trace_id": at.trace_id}
        if at.is_read:
            visit.address = own_path(at.target)
        else:
            data["section"] = _NOWHERE
        given = self._given(visit, data)
        try:
            page = self.templates.render_compiled("problem.html", visit.language, given)
        except Uncompiled:
            return Answer(content=_plain(refusal), content_type=_HTML, headers=HEADERS)
        status = refusal.error.status
        headers = {**HEADERS, **refusal.headers}
        return _answer(visit, *_compressed(mark(page, visit), headers, visit), status)

    def _keep(self, visit: Visit, call: Call, at: RefusedPath) -> Answer[bytes]:
        """Redirect a form's sender to the sign-in, which leads back to the form's page."""
        path, _, _ = at.target.partition("?")
        page = self._held(path) or path
        typed = self.kept.keep(call, page, path)
        visit.cookies += [typed] if typed else []
        where = (
            f"{_door(page)}&done={'kept' if typed else 'over'}" if call.quota == PERSON else _DOOR
        )
        return _answer(visit, b"", {**HEADERS, "Location": where}, SEE_OTHER)

    def _given(self, visit: Visit, data: Mapping[str, object]) -> Mapping[str, object]:
        """Return the data of every template; its forms get a token unique to the response."""
        if visit.browser is not None:
            visit.mask = self.random(len(visit.browser.panel.csrf))
        return {
            "visit": visit,
            "groups": self.navigation.of(visit) if visit.person else [],
            "finds": self.navigation.holds("/search"),
            "finds_own": self.navigation.holds("/me"),
            "environment": self.environment.value,
            "origin": self.origin(),
            "trace_id": current_trace_id(),
            "idle_ends": self._idle_ends(visit),
            "asks_code": visit.asks_code,
            **data,
        }

    def _held(self, path: str) -> str:
        """Return the page of a form requested by its own address; empty for none."""
        for act, held in self.holders.items():
            found = re.fullmatch(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", HOME + act), path)
            if found:
                return HOME + held.format_map(found.groupdict())
        return ""

    def _idle_ends(self, visit: Visit) -> int:
        """Return when the session ends without another call, in ms since 1970; 0 without one."""
        if visit.person is None or visit.browser is None:
            return 0
        panel = visit.browser.panel
        return int(min(panel.seen_at + self.idle, panel.ends_at).timestamp() * 1000)


_BUSY: Final[Mapping[Language, tuple[str, str, str]]] = {
    Language.PORTUGUESE: (
        "pt-BR",
        "Muitas requisições agora",
        "Nada foi feito. Aguarde alguns segundos e recarregue a página.",
    ),
    Language.ENGLISH: (
        "en",
        "Too many requests now",
        "Nothing was done. Wait some seconds, then load the page again.",
    ),
}


def _compressed(
    content: bytes, headers: Mapping[str, str], visit: Visit
) -> tuple[bytes, Mapping[str, str]]:
    """Compress a page as its browser accepts; not short pages, nor pages of a link's token."""
    accepted = visit.call.asked.headers.get("Accept-Encoding") or ""
    if len(content) < _SHORT or visit.query("token") or not takes_gzip(accepted):
        return content, headers
    return gzip.compress(content, _LEVEL, mtime=0), {**headers, "Content-Encoding": "gzip"}


def _answer(visit: Visit, content: bytes, headers: Mapping[str, str], status: int) -> Answer[bytes]:
    return Answer(
        content=content, content_type=_HTML, headers=headers, cookies=visit.cookies, status=status
    )


def _file(visit: Visit, file: Download) -> Answer[bytes]:
    """Answer with a file; its name is ours."""
    headers = {**HEADERS, "Content-Disposition": f'attachment; filename="{file.filename}"'}
    return Answer(
        content=file.content,
        content_type=file.content_type,
        headers=headers,
        cookies=visit.cookies,
        rest=file.rest,
    )


def _to_sign_in(visit: Visit, at: RefusedPath) -> Answer[bytes]:
    """Redirect a browser to the sign-in; a script gets the address."""
    if visit.is_partial:
        headers = {**HEADERS, "HX-Redirect": _door(_page_around(at))}
        return _answer(visit, b"", headers, SESSION_REQUIRED.status)
    return _answer(visit, b"", {**HEADERS, "Location": _door(at.target)}, SEE_OTHER)


def _door(back: str) -> str:
    """Return the address of the sign-in that leads back to a page of ours."""
    return f"{_DOOR}?next={quote(own_path(back), safe='')}"


def _page_around(at: RefusedPath) -> str:
    """Return the page around a part that a script requests, as the browser names it."""
    try:
        page = urlsplit(at.headers.get("HX-Current-URL") or "")
    except ValueError:
        return HOME
    return f"{page.path}?{page.query}" if page.query else page.path


def _nobody(at: RefusedPath) -> Call:
    """Return the call of a request without a route."""
    return Call(asked=RawRequest(path={}, headers=at.headers), needs=None, quota="")


def _busy(language: Language, trace_id: str) -> bytes:
    """Write the refusal of an overloaded process: a template would cost as much as a page."""
    lang, title, says = _BUSY[language]
    head = f'<html lang="{lang}"><title>{title}</title><link rel="icon" href="data:,">'
    says = (
        f"<h1>{title}</h1><p>{says}</p><p><small>{OVERLOADED.code} · {escape(trace_id)}</small></p>"
    )
    return f"<!doctype html>{head}<main>{says}</main></html>".encode()


def _plain(refusal: ServiceError) -> bytes:
    """Write a refusal without a template, from the code's message."""
    error = refusal.error
    head = f'<html lang="en"><title>{error.code}</title><link rel="icon" href="data:,">'
    return f"<!doctype html>{head}<main><h1>{error.message}</h1></main></html>".encode()
