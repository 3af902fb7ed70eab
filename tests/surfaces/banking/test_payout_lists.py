"""The list of payouts: newest first, in pages, by the day they were created."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import pytest_asyncio

from tests.world.gateway.world import World, order

pytestmark = pytest.mark.asyncio(loop_scope="module")

REFERENCES = [f"list-{number}" for number in range(7)]


@pytest_asyncio.fixture(scope="module", loop_scope="module", autouse=True)
async def _seven(world: World) -> None:
    for number, reference in enumerate(REFERENCES):
        sent = order(reference, world.today(), value=777.03 if number == 3 else 1.0)
        await world.pay(sent)


async def listed(world: World, query: str = "", first: str = "", last: str = "") -> Any:
    window = f"?init={first or world.today()}&ends={last or world.today()}"
    return (await world.ask("GET", world.at(f"/withdraws{window}{query}"))).document


async def test_every_reference_is_listed_newest_first(world: World):
    """Failed ones too (contract 2.6)."""
    page = await listed(world)

    assert [each["reference"] for each in page["data"]] == REFERENCES[::-1]
    assert page["meta"] == {"page": 1, "limit": 25, "total": 7}
    assert page["data"][3]["status"] == "failed"


async def test_pages_are_pieces_of_one_list(world: World):
    pages = [await listed(world, f"&page={number}&limit=3") for number in (1, 2, 3)]

    found = [each["reference"] for page in pages for each in page["data"]]
    assert found == REFERENCES[::-1]
    assert [len(page["data"]) for page in pages] == [3, 3, 1]


async def test_a_page_beyond_the_end_is_empty(world: World):
    page = await listed(world, "&page=9&limit=3")

    assert page == {"data": [], "meta": {"page": 9, "limit": 3, "total": 7}}


@pytest.mark.parametrize(
    ("first", "last", "total"), [(-1, 0, 7), (0, 1, 7), (-3, -1, 0), (1, 3, 0)]
)
async def test_both_days_of_the_window_count(world: World, first: int, last: int, total: int):
    """UTC days of creation."""
    today = world.gateway.kernel.now().date()
    days = [(today + timedelta(days=number)).isoformat() for number in (first, last)]

    page = await listed(world, "", *days)

    assert page["meta"]["total"] == total


async def test_a_listed_payout_is_as_it_is_read(world: World):
    for reference in REFERENCES:
        await world.settled(reference)
    page = await listed(world)

    read = await world.ask("GET", world.at(f"/withdraw/{REFERENCES[0]}"))

    assert page["data"][-1] == read.document
