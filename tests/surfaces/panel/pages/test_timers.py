"""Requests by a page's own timer do not keep a user signed in."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from html import unescape
from pathlib import Path

import pytest
import pytest_asyncio
from sqlalchemy import update

from gateway.store.tables.identity import panel_sessions
from tests.surfaces.panel.pages.person import Person
from tests.world.backoffice.watching import in_review
from tests.world.gateway.world import World

pytestmark = pytest.mark.asyncio(loop_scope="module")

TEMPLATES = Path("gateway/panel/templates")
TIMED = re.compile(r"""hx-get="([^"]+)" hx-trigger="panel:[^"]*" hx-headers="([^"]+)\"""")
BY_ITSELF = re.compile(r"every \d|panel:")
MARK = """'hx-headers': '{"X-Asked-By": "timer"}'"""


async def age(world: World, minutes: int) -> None:
    """Let every browser have asked for something so long ago, and for nothing since."""
    database = world.gateway.kernel.store.database
    then = world.gateway.kernel.now() - timedelta(minutes=minutes)
    async with database.writing() as connection:
        await connection.execute(update(panel_sessions).values(seen_at=then))


def asks(text: str) -> tuple[str, dict[str, str]]:
    """Return what the part of a page asks for by itself, and with which headers."""
    found = TIMED.search(text)
    assert found is not None
    return unescape(found[1]), json.loads(unescape(found[2]))


async def balances(_world: World) -> str:
    return "/panel/overview/balances"


async def payout(world: World) -> str:
    """Return the page of a payout that is not settled."""
    return (
        f"/panel/accounts/{world.demo['accounts']['main']['id']}/payouts/{await in_review(world)}"
    )


@pytest_asyncio.fixture(loop_scope="module")
async def viewer(world: World) -> Person:
    person = Person(world)
    await person.sign_in("viewer@panel.example")
    return person


@pytest.mark.parametrize("page", [balances, payout])
async def test_a_timer_does_not_extend_the_session_and_a_user_does(
    world: World, viewer: Person, page
):
    path, marked = asks((await viewer.open(await page(world))).text)
    ours = {"HX-Request": "true", "HX-Request-Type": "partial"}
    await age(world, 10)

    by_timer = [await viewer.open(path, **ours, **marked) for _ in range(2)]
    by_person = await viewer.open(path, **ours)

    ends = [int(seen.headers["X-Idle-Ends"]) for seen in (*by_timer, by_person)]
    assert [seen.status for seen in by_timer] == [200, 200]
    assert ends[0] == ends[1]
    assert 9 * 60_000 < ends[2] - ends[1] < 12 * 60_000


@pytest.mark.parametrize("page", [balances, payout])
async def test_an_idle_open_page_requires_a_sign_in(world: World, viewer: Person, page):
    path, marked = asks((await viewer.open(await page(world))).text)
    await age(world, 14)
    kept = await viewer.open(path, **{"HX-Request-Type": "partial"}, **marked)
    await age(world, 15)

    ended = await viewer.open(path, **{"HX-Request-Type": "partial"}, **marked)

    assert (kept.status, ended.status) == (200, 401)
    assert ended.headers["HX-Redirect"].startswith("/panel/login")


async def test_every_timer_in_a_template_is_marked():
    """An unmarked one would keep an absent user signed in; all come from one macro."""
    macros = (TEMPLATES / "_macros.html").read_text()
    by_hand = [
        path.relative_to(TEMPLATES).as_posix()
        for path in sorted(TEMPLATES.rglob("*.html"))
        for line in path.read_text().splitlines()
        if BY_ITSELF.search("".join(re.findall(r'hx-trigger="([^"]*)', line)))
    ]

    assert [line for line in macros.splitlines() if "macro again" in line and MARK in line] != []
    assert by_hand == []
