"""How many files a reader must open to follow a request, and that the page lists them."""

import asyncio
import sys
from collections.abc import Mapping

import pytest

from tests.architecture import walk
from tests.architecture.page import PAGE, listed
from tests.architecture.walk import Background, Walk, usual
from tests.world.leaping import leaping

# The goals. A bound becomes smaller, or larger with its reason here.
# A payout enters six more than it did: the digest by which its recipient is found again, its events
# (what they tell, their rows, and the key that seals what was said), and statements that a driver
# runs alone. Both enter two more than before: what bounds a caller's heads, and what lets requests
# in, each outgrew the file that it stood in.
MOST_FILES = {"balance": 52, "payout": 84}


@pytest.fixture(scope="module")
def walks() -> Mapping[str, Walk]:
    return walk.walks()


@pytest.mark.parametrize("name", MOST_FILES)
def test_a_request_enters_no_more_files(walks: Mapping[str, Walk], name: str):
    assert len(walks[name].files) <= MOST_FILES[name]


@pytest.mark.parametrize("name", MOST_FILES)
def test_the_page_lists_the_files_of_a_request(walks: Mapping[str, Walk], name: str):
    """``make architecture`` writes them anew."""
    page = PAGE.read_text(encoding="utf-8")

    assert sorted(listed(page, name)) == sorted(walks[name].files)


def test_what_came_between_is_left_out():
    usually = Walk(["a", "b"], set(), 1)
    disturbed = Walk(["a", "timer", "b"], set(), 2)

    assert usual([disturbed, usually, usually]).files == ["a", "b"]


def test_what_most_walks_entered_is_in():
    assert usual([Walk(["a"]), *[Walk(["a", "b"])] * 3]).files == ["a", "b"]


@leaping
async def test_what_the_background_does_and_begins_is_no_part_of_a_request():
    """A timer that was set before, a task it begins, and what that calls."""
    loop, seen = asyncio.get_running_loop(), list[tuple[str, bool]]()

    def note(name: str) -> None:
        seen.append((name, sys._getframe() in background))

    async def noted(name: str) -> None:
        loop.call_soon(note, f"a callback of {name}")
        await asyncio.sleep(0)
        note(f"a task of {name}")

    def timer(name: str) -> None:
        note(f"a timer of {name}")
        loop.call_later(0, note, f"a later timer of {name}")
        tasks.append(loop.create_task(noted(name)))

    tasks: list[asyncio.Task[None]] = []
    loop.call_later(0.001, timer, "before")
    with Background(loop).followed() as background:
        loop.call_later(0.002, timer, "the request")
        await asyncio.sleep(0.01)
        await asyncio.gather(*tasks)
        await asyncio.sleep(0.01)

    names = {name for name, _ in seen}
    assert len(seen) == len(names) == 8
    assert {name for name, hidden in seen if hidden} == {each for each in names if "before" in each}
