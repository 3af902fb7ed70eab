"""
Every value that a page's own filters and links offer opens it, and so do odd days typed there.

The pages are those of the route table, their filters those that they show: a new one is tried
without a word here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urlencode

import pytest
import pytest_asyncio

from gateway.http.table import Table
from tests.surfaces.panel.pages.person import Person
from tests.world.gateway.world import World
from tests.world.surfaces import surface_named

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAGES = [
    each.template
    for each in Table([surface_named("panel_pages")]).places()
    if each.route.method == "GET" and "log" not in each.template
]
BROKEN = 500
TYPED = ("01/01/0001", "0001-01-01", "31/12/9999", "9999-12-31", "9999-12-31T23:59:59-12:00")
"""Into each field: the ends of the calendar, and an instant that UTC cannot name."""
DAYS = ("init", "ends", "day", "since", "until", "at")
"""What pages take in their addresses, in a field or not."""


@dataclass(slots=True)
class Offered(HTMLParser):
    """
    What a page offers of itself.

    Attributes:
        here: Its path.
        links: Queries of links to itself.
        values: Those of the filters, by the names of their fields.
        typed: Names of the fields that somebody types into.
    """

    here: str
    links: set[str] = field(default_factory=set)
    values: dict[str, set[str]] = field(default_factory=dict)
    typed: set[str] = field(default_factory=set)
    _inside: bool = False
    _choice: str = ""

    def __post_init__(self) -> None:
        HTMLParser.__init__(self)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = {name: value or "" for name, value in attrs}
        path, _, query = told.get("href", "").partition("?")
        if tag == "a" and query and path in {"", self.here}:
            self.links.add(query)
        elif tag == "form":
            self._inside = told.get("method", "get") == "get"
        elif self._inside and tag == "select":
            self._choice = told.get("name", "")
        elif self._inside and tag == "option":
            self.values.setdefault(self._choice, set()).add(told.get("value", ""))
        elif self._inside and tag == "input" and "name" in told:
            if told.get("type") in {"radio", "checkbox"}:
                self.values.setdefault(told["name"], set()).add(told.get("value", "on"))
            else:
                self.typed.add(told["name"])

    def queries(self) -> Iterator[str]:
        """Yield each query once that can be sent from here."""
        yield from sorted(self.links)
        for name, values in sorted(self.values.items()):
            yield from (urlencode({name: each}) for each in sorted(values))
        for typed in TYPED:
            yield urlencode({**dict.fromkeys({*self.typed, *DAYS}, typed), "read": "1"})
        yield from (urlencode({name: each}) for name in sorted(self.typed) for each in TYPED[:1])
        yield from (urlencode({"ends": each, "day": each, "read": "1"}) for each in TYPED[::2])


def offered(path: str, text: str) -> Offered:
    page = Offered(path)
    page.feed(text)
    return page


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def known(world: World) -> Mapping[str, str]:
    """Return things that are there, by the names that paths give them."""
    demo = world.demo
    return {
        "account_id": demo["accounts"]["main"]["id"],
        "company_id": demo["companies"]["main"]["id"],
        "client_id": demo["credentials"]["full"]["client_id"],
        "reference": demo["charges"]["paid"],
        "provider": "sandbox",
    }


@pytest.mark.parametrize("template", PAGES)
async def test_every_offered_filter_opens_the_page(
    everybody: Person, known: Mapping[str, str], template: str
):
    path = template.format_map({**dict.fromkeys(_parameters(template), "1"), **known})
    seen = await everybody.open(path)

    asked = ["", *offered(path, seen.text).queries()]
    broken = {
        query: said.status
        for query in asked
        if (said := await everybody.open(f"{path}?{query}")).status >= BROKEN
    }

    assert broken == {}


def _parameters(template: str) -> list[str]:
    return [step[1:-1] for step in template.split("/") if step.startswith("{")]
