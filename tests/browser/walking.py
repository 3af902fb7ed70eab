"""Walking through the pages as a person without script: links are followed, forms collected."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import quote, urljoin, urlsplit

import aiohttp
from yarl import URL

from gateway.core.rights import Role
from gateway.http.panel.pages.surface import NAME
from gateway.http.table import Table
from tests.browser import seeds
from tests.browser.panel_site import PanelSite
from tests.browser.screens import SCREENS
from tests.world.surfaces import surface_named

NAVIGATION = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "navigate", "Accept": "text/html"}
EACH = 3
"""Addresses of one row that a walk follows: lists lead to details, and details to others."""

TABLE = Table([surface_named(NAME)])


@dataclass(frozen=True, slots=True)
class Form:
    """
    A form that writes, as a page holds it.

    Attributes:
        page: Where it was found.
        action: Where it goes, with its query.
        fields: What it would send untouched.
    """

    page: str
    action: str
    fields: tuple[tuple[str, str], ...]

    @property
    def kind(self) -> tuple[str, frozenset[str]]:
        """Its address without ids, and its fields: one of each kind is enough."""
        path = urlsplit(self.action).path
        words = [each if each.isalpha() or not each else "*" for each in path.split("/")]
        return "/".join(words), frozenset(name for name, _ in self.fields)


@dataclass(slots=True)
class Read(HTMLParser):
    page: str
    links: list[str] = field(default_factory=list)
    forms: list[Form] = field(default_factory=list)
    _action: str | None = None
    _fields: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        HTMLParser.__init__(self, convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "a" and "href" in given and "download" not in given:
            self.links.append(given["href"])
        elif tag == "form" and given.get("method", "").lower() == "post":
            self._action, self._fields = given.get("action") or self.page, []
        elif self._action is not None and given.get("name") and _sends(tag, given):
            self._fields.append((given["name"], given.get("value", "")))

    def handle_endtag(self, tag: str) -> None:
        if tag == "form" and self._action is not None:
            self.forms.append(Form(self.page, self._action, tuple(self._fields)))
            self._action = None


@dataclass(frozen=True, slots=True)
class Seen:
    """
    An answer.

    Attributes:
        kept: What caches are told.
    """

    path: str
    status: int
    location: str
    kind: str
    text: str
    kept: str


@dataclass(slots=True)
class Visitor:
    """
    A browser without script.

    Attributes:
        session: Keeps the cookies.
    """

    origin: str
    session: aiohttp.ClientSession

    async def open(self, path: str, **headers: str) -> Seen:
        """Open a page; follows nothing."""
        return await self.ask("GET", path, headers={**NAVIGATION, **headers})

    async def send(
        self, action: str, fields: Mapping[str, str] | Sequence[tuple[str, str]], **headers: str
    ) -> Seen:
        sent = {**NAVIGATION, "Origin": self.origin, **headers}
        return await self.ask("POST", action, headers=sent, data=aiohttp.FormData(fields))

    async def ask(self, method: str, path: str, **details: object) -> Seen:
        """Ask for anything; empty headers are left out."""
        headers = {name: each for name, each in dict(details.pop("headers", {})).items() if each}  # type: ignore[call-overload]
        url = URL(self.origin + path, encoded=True)
        async with self.session.request(
            method, url, headers=headers, allow_redirects=False, **details
        ) as said:
            text = (await said.read()).decode("utf-8", "replace")
            where = said.headers.get("Location", "")
            kept = said.headers.get("Cache-Control", "")
            return Seen(path, said.status, where, said.content_type, text, kept)

    async def token(self, path: str = "/panel") -> str:
        """Return the token of a page's forms; empty where it has none."""
        forms = read(await self.open(path)).forms
        return next((value for form in forms for name, value in form.fields if name == TOKEN), "")


TOKEN = "csrf_token"


@asynccontextmanager
async def visiting(site: PanelSite, cookies: Mapping[str, str]) -> AsyncIterator[Visitor]:
    jar = aiohttp.CookieJar(unsafe=True)
    jar.update_cookies(dict(cookies), URL(site.origin))
    async with aiohttp.ClientSession(cookie_jar=jar) as session:
        yield Visitor(site.origin, session)


def _sends(tag: str, given: Mapping[str, str]) -> bool:
    return tag in {"input", "textarea", "select"} or (tag == "button" and "value" in given)


def read(seen: Seen) -> Read:
    page = Read(seen.path)
    page.feed(seen.text)
    return page


@dataclass(frozen=True, slots=True)
class Walk:
    """
    The pages that a user reaches.

    Attributes:
        linked: Reached by links from the first page.
        listed: The other screens, and what they lead to.
    """

    linked: Sequence[Seen]
    listed: Sequence[Seen]

    @property
    def pages(self) -> list[Seen]:
        return [*self.linked, *self.listed]


async def walk_of(site: PanelSite, who: str) -> Walk:
    """Follow the links as one user through every page of the site, once for all tests."""
    if who not in site.walks:
        hostile = f"/panel/accounts/{{main}}/payouts/{quote(seeds.HOSTILE, safe='')}"
        starts = [each.at(site.seeds) for each in SCREENS if each.by == who or who in set(Role)]
        met = dict[str, int]()
        async with visiting(site, await site.people.cookies_of(who)) as visitor:
            linked = await walk(visitor, ["/panel"], met) if who in set(Role) else []
            listed = await walk(visitor, [*starts, hostile.format_map(site.seeds)], met)
        site.walks[who] = Walk(linked, listed)
    found: Walk = site.walks[who]
    return found


def row_at(path: str) -> str:
    """Name the row that a path leads to; empty for none."""
    found = TABLE.find(path.partition("?")[0])
    place = found.places.get("GET") if found else None
    return place.route.name if place else ""


async def walk(
    visitor: Visitor, starts: Sequence[str], met: dict[str, int] | None = None
) -> list[Seen]:
    """
    Open pages and what they lead to, a few addresses of each row.

    ``met`` counts paths and rows, also those of walks before this one.
    """
    met = {} if met is None else met
    waiting, seen = deque(each for each in starts if each not in met), list[Seen]()
    met.update(dict.fromkeys(waiting, 1))
    while waiting:
        one = await visitor.open(waiting.popleft())
        if one.location:
            leads = [one.location]
        elif one.kind == "text/html":
            seen.append(one)
            leads = read(one).links
        else:
            continue
        for link in leads:
            path = _ours(one.path, link)
            row = row_at(path)
            if path and path not in met and met.get(row, 0) < EACH:
                met[path], met[row] = 1, met.get(row, 0) + 1
                waiting.append(path)
    return seen


def _ours(page: str, link: str) -> str:
    """Return a link to another page of ours; sorting and paging the same list is no other page."""
    where = urlsplit(urljoin(page, link))
    if where.netloc or not where.path.startswith("/panel") or where.query:
        return ""
    return "" if where.path.startswith("/panel/static") else where.path
