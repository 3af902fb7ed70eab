"""Long lists say which part of how many they show, and lead to both ends."""

from __future__ import annotations

import html
import re
from datetime import timedelta
from uuid import uuid4

import pytest

from gateway.charges.store import StoredCharges
from gateway.request_log.model import LoggedRequest
from gateway.request_log.store import RequestRecords
from tests.surfaces.panel.pages.person import Person, Seen
from tests.world.gateway.world import World
from tests.world.stores.charges import charge

pytestmark = pytest.mark.asyncio(loop_scope="module")


def position(page: Seen) -> str:
    (found,) = re.findall(r'class="pager"><span data-count>(.*?)</span><nav', page.text)
    return re.sub(r"<[^>]*>", "", found)


def way(page: Seen, words: str) -> str:
    """Return where a button of the pager leads; empty where there is none."""
    buttons = re.findall(r'<a class="btn" href="([^"]*)"[^>]*>(.*?)</a>', page.text)
    return next((html.unescape(href) for href, inside in buttons if words in inside), "")


def logged(world: World, number: int, route: str) -> LoggedRequest:
    return LoggedRequest(
        at=world.gateway.kernel.now() - timedelta(seconds=number),
        trace_id=f"{route}-{number}",
        surface="banking",
        route=route,
        status=200,
        code="",
        client_id="",
        user_id="",
        company_id=world.demo["companies"]["main"]["id"],
        line="{}",
        method="GET",
    )


async def test_pages_of_requests_are_not_moved_by_newer_requests(world: World, operator: Person):
    log = RequestRecords(world.gateway.kernel.store.database)
    route = f"paged-{uuid4()}"
    await log.add([logged(world, number, route) for number in range(120)])

    first = await operator.open(f"/panel/requests?route={route}")
    await log.add([logged(world, 0, route)])
    second = await operator.open(way(first, "Próxima"))
    last = await operator.open(way(first, "Última"))
    again = await operator.open(way(second, "Anterior"))

    assert position(first) == "1–50 de 120"
    assert "Página 1 de 3" in first.text
    assert position(second) == "51–100 de 120"
    assert f"{route}-50" in second.text
    assert position(last) == "101–120 de 120"
    assert not way(last, "Próxima")
    assert position(again) == "1–50 de 120"


async def test_charges_are_paged(world: World, operator: Person, monkeypatch: pytest.MonkeyPatch):
    kept, account = world.gateway.kernel.store.database, world.demo["accounts"]["main"]["id"]
    name = f"paged-{uuid4()}"
    for number in range(60):
        one = charge(number, id=str(uuid4()), account_id=account, reference=f"{name}-{number:02}")
        await StoredCharges(kept).begin(one)

    first = await operator.open(f"/panel/charges?text={name}")
    second = await operator.open(way(first, "Próxima"))
    last = await operator.open(way(first, "Última"))
    for module in ("store", "pages"):
        monkeypatch.setattr(f"gateway.charges.{module}.COUNTED_AT_MOST", 50)
    cut = await operator.open(way(first, "Próxima"))
    beyond = await operator.open(way(cut, "Próxima"))

    assert position(first) == "1–25 de 60 · R$630,00 cobrados"
    assert position(second).startswith("26–50 de 60")
    assert f"{name}-34" in second.text
    assert position(last).startswith("51–60 de 60")
    assert not way(last, "Próxima")
    assert position(cut).startswith("26–50 de 50+")
    assert f"{name}-09" in beyond.text
    assert way(beyond, "Anterior") == f"/panel/charges?text={name}"
