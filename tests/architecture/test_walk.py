"""How many files a reader must open to follow a request, and that the page lists them."""

from collections.abc import Mapping

import pytest

from tests.architecture import walk
from tests.architecture.page import PAGE, listed
from tests.architecture.walk import Walk, usual

# The goals. A bound may only become smaller.
MOST_FILES = {"balance": 50, "payout": 75}


TRIES = 3
"""On a machine with other work, timers and threads come into a walk; a new walk is without them."""


@pytest.fixture(scope="module")
def walks() -> Mapping[str, Walk]:
    """Walk until the page is confirmed; a change of the code is one in every try."""
    page = PAGE.read_text(encoding="utf-8")
    for _ in range(TRIES):
        walks = walk.walks()
        if all(sorted(listed(page, name)) == sorted(walks[name].files) for name in MOST_FILES):
            break
    return walks


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
