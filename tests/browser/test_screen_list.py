"""The list of screens and the pages that there are: neither without the other."""

from __future__ import annotations

import re

import pytest

from gateway.http.panel.pages.surface import NAME
from gateway.http.table import Table
from tests.browser.screens import SCREENS
from tests.world.surfaces import surface_named

SURFACE = surface_named(NAME)
TABLE = Table([SURFACE])
PAGES = {
    row.name
    for gate in SURFACE.gates
    for row in gate.rows
    if row.method == "GET" and tuple(row.media) == ("text/html",)
}

SWAGGER = f"{NAME}.reference_try"
"""Somebody else's page, in the sandbox alone: exempt from what our pages have to be."""


def page_of(path: str) -> str:
    """Name the page at a screen's path; empty for none."""
    found = TABLE.find(re.sub(r"\{\w+\}", "x", path.partition("?")[0]))
    place = found.places.get("GET") if found else None
    return place.row.name if place else ""


def test_every_page_is_a_screen():
    """A page without an entry is looked at by nobody; files are no pages."""
    shown = {page_of(each.path) for each in SCREENS}

    assert sorted(PAGES - shown - {SWAGGER}) == []


@pytest.mark.parametrize("path", [each.path for each in SCREENS])
def test_every_screen_is_a_page(path: str):
    assert page_of(path) in PAGES


def test_every_screen_has_a_name_of_its_own():
    names = [each.name for each in SCREENS]

    assert sorted(set(names)) == sorted(names)
