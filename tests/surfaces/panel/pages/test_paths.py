"""Page addresses with parameters that cannot come from a link or a form."""

from __future__ import annotations

import re

import pytest

from gateway.http.table import Table
from tests.surfaces.panel.pages.person import Person
from tests.world.surfaces import surface_named

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAGES = [each for each in Table([surface_named("panel_pages")]).places() if "{" in each.template]
NOT_UTF_8 = ["%FF", "%ED%A0%80", "a%C3"]


async def test_a_path_that_is_not_utf_8_is_404(everybody: Person):
    assert len(PAGES) > 20

    wrong = {}
    for number, place in enumerate(PAGES):
        path = re.sub(r"\{\w+\}", NOT_UTF_8[number % len(NOT_UTF_8)], place.template)
        seen = await (everybody.open(path) if place.route.method == "GET" else everybody.send(path))
        if (seen.status, seen.headers["Content-Type"]) != (404, "text/html; charset=utf-8"):
            wrong[place.route.method, path] = seen.status

    assert wrong == {}
