"""Lists of a bank are read whole, and cut into pages."""

from __future__ import annotations

import pytest

from gateway.banks.lists import every, listed
from gateway.banks.port.providers import BadReply, Page
from gateway.core.windows import Paging


async def test_every_page_is_read_with_the_cursor_of_the_one_before():
    asked: list[str | None] = []

    async def read(cursor: str | None) -> Page[int]:
        asked.append(cursor)
        number = int(cursor or 0)
        return Page(items=[number], next_cursor=str(number + 1) if number < 2 else None)

    assert await every(read) == [0, 1, 2]
    assert asked == [None, "1", "2"]


async def test_an_endless_list_is_a_bad_reply():
    async def read(_cursor: str | None) -> Page[int]:
        return Page(items=[], next_cursor="again")

    with pytest.raises(BadReply, match="endless_list"):
        await every(read)


@pytest.mark.parametrize(("page", "items"), [(1, [1, 2]), (2, [3]), (3, []), (10**18 - 1, [])])
def test_a_list_is_cut_into_pages_and_keeps_its_total(page: int, items: list[int]):
    cut = listed([1, 2, 3], Paging(page, 2))

    assert (cut.items, cut.total, cut.paging) == (items, 3, Paging(page, 2))
