"""Static documents, served unchanged."""

from __future__ import annotations

import gzip
from dataclasses import replace
from typing import TypedDict

import pytest

from gateway.http.documents import PAGES, REFERENCE, SITE, Page, openapi_pages, pack
from gateway.http.route import Surface
from tests.world.gateway.listener_client import route, surface


def _today() -> str:
    return "2026-12-01"


def _named(name: str) -> Surface:
    """A surface of one route, under the name of one of ours."""
    return replace(surface(route(path="/a")), name=name)


def test_only_public_surfaces_are_described():
    """The panel is not public."""
    assert openapi_pages([_named("panel"), _named("keys")], _today) == {}


def test_documents_are_made_before_a_listener_opens():
    """Decision 0016: two schemas of one name stop the start, not the first reader."""

    class NoteDocument(TypedDict):
        text: str

    class Note(TypedDict):
        title: str

    both = replace(route(path="/a"), document=NoteDocument, also={202: Note})

    with pytest.raises(ValueError, match="would both be named Note"):
        openapi_pages([replace(surface(both), name="banking")], _today)


def test_every_page_has_a_known_name():
    """Metrics know no other."""
    surfaces = map(_named, ("banking", "events", "sandbox", "identity", "backoffice"))
    pages = openapi_pages(surfaces, _today)

    assert {page.name for page in pages.values()} == set(PAGES) - {REFERENCE, SITE}


@pytest.mark.parametrize(
    ("encodings", "packed"),
    [
        ("gzip", True),
        ("br;q=1.0, GZIP;q=0.5", True),
        ("", False),
        ("br", False),
        ("gzip;q=0", False),
        ("gzip; q=0.000", False),
        ("notgzip", False),
    ],
)
def test_a_page_is_compressed_for_callers_that_accept_it(encodings: str, *, packed: bool):
    page = Page("a", "text/plain", b"a" * 100, packed=pack(b"a" * 100))

    answer = page.reply(encodings)

    assert (gzip.decompress(answer.body) if packed else answer.body) == b"a" * 100
    assert answer.headers.get("Content-Encoding") == ("gzip" if packed else None)
    assert answer.headers["Vary"] == "Accept-Encoding"


def test_dates_of_examples_are_replaced_by_today():
    """So that a payout copied from the examples is not refused for its date."""
    days = iter(["2026-12-01", "2026-12-01", "2026-12-02"])
    page = Page("a", "text/plain", b'{"date": "2026-11-20"}', today=lambda: next(days))

    first, again, next_day = (page.reply("").body for _ in range(3))

    assert (first, next_day) == (b'{"date": "2026-12-01"}', b'{"date": "2026-12-02"}')
    assert again is first, "callers who read slowly share the bytes"


def test_an_uncompressed_page_is_served_unchanged():
    answer = Page("a", "text/plain", b"a").reply("gzip")

    assert answer.body == b"a"
    assert answer.headers == {"Content-Type": "text/plain"}
