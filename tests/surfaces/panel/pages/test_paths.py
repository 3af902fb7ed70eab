"""Addresses of pages with parameters that nobody can have typed."""

from __future__ import annotations

import re

import pytest
import pytest_asyncio

from gateway.domain.identity.rights import Role
from gateway.http.table import RoutedRow, Table
from tests.surfaces.panel.pages.person import Person, signed_in
from tests.world.gateway.world import World
from tests.world.surfaces import surface_named

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAGES = [each for each in Table([surface_named("panel_pages")]).places() if "{" in each.template]
NOT_UTF_8 = ["%FF", "%ED%A0%80", "a%C3"]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def everybody(world: World) -> Person:
    """Somebody who may open every page."""
    return await signed_in(world, *Role)


async def test_there_are_such_pages():
    assert len(PAGES) > 20


@pytest.mark.parametrize("place", PAGES, ids=lambda place: f"{place.row.method} {place.template}")
@pytest.mark.parametrize("value", NOT_UTF_8)
async def test_bytes_that_are_not_utf_8_are_no_page(
    everybody: Person, place: RoutedRow, value: str
):
    path = re.sub(r"\{\w+\}", value, place.template)

    seen = await (everybody.open(path) if place.row.method == "GET" else everybody.send(path))

    assert seen.status == 404
    assert seen.headers["Content-Type"] == "text/html; charset=utf-8"
