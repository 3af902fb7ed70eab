"""Lists of banks, walked to their end."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.banks.port.providers import BadReply, Page
from gateway.core.windows import Window
from provider_adapters.kit import paging
from provider_adapters.kit.paging import ReadPage
from tests.world.tables import cases

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
SAO_PAULO = ZoneInfo("America/Sao_Paulo")


async def walked(read: ReadPage[int]) -> list[int]:
    """Read every page, as the gateway does."""
    found: list[int] = []
    cursor: str | None = None
    for _ in range(1000):
        page = await read(cursor)
        found += page.items
        cursor = page.next_cursor
        if cursor is None:
            return found
    pytest.fail("the list never ends")


def by_skipping(items: Sequence[int], cap: int, *, tells: bool) -> ReadPage[int]:
    async def read(cursor: str | None) -> Page[int]:
        skip = paging.number_of(cursor)
        some = items[skip : skip + cap]
        more = skip + len(some) < len(items) if tells else None
        return paging.skipped(some, cursor, more=more)

    return read


def by_number(items: Sequence[int], cap: int) -> ReadPage[int]:
    async def read(cursor: str | None) -> Page[int]:
        number = paging.number_of(cursor)
        some = items[number * cap : (number + 1) * cap]
        return paging.numbered(some, cursor, pages=-(-len(items) // cap))

    return read


@given(st.integers(0, 20), st.integers(1, 7), st.sampled_from([True, False]))
async def test_a_list_is_read_completely_with_any_page_size(many: int, cap: int, tells: bool):
    items = range(many)

    assert await walked(by_skipping(items, cap, tells=tells)) == [*items]
    assert await walked(by_number(items, cap)) == [*items]


def test_a_repeated_cursor_is_a_bad_reply():
    with pytest.raises(BadReply):
        paging.continued([1], "a", "a")


@cases("following", [None, ""])
def test_a_missing_cursor_ends_the_list(following: str | None):
    assert paging.continued([1], "a", following).next_cursor is None


def test_local_days_cover_the_window_of_utc_days():
    """Brasília is three hours behind: the first instant is in the previous day there."""
    days = paging.days(Window(date(2026, 11, 20), date(2026, 11, 21)), SAO_PAULO)

    assert days == (date(2026, 11, 19), date(2026, 11, 21))


def test_the_first_representable_day_has_no_day_before():
    days = paging.days(Window(date.min, date.min), SAO_PAULO)

    assert days == (date.min, date.min)


def test_items_outside_the_window_are_left_out_and_the_list_continues():
    window = Window(date(2026, 11, 20), date(2026, 11, 20))
    hours = [-13, -12, 0, 11, 12]
    page = Page(items=[NOON + timedelta(hours=each) for each in hours], next_cursor="more")

    kept = paging.within(page, window, lambda moment: moment)

    assert [(each - NOON).total_seconds() / 3600 for each in kept.items] == [-12, 0, 11]
    assert kept.next_cursor == "more"


MOMENTS = st.lists(st.integers(0, 9), max_size=15).map(lambda them: sorted(them, reverse=True))


@given(MOMENTS, MOMENTS, st.integers(1, 4), st.integers(1, 4))
async def test_two_lists_are_merged_newest_first(
    ours: list[int], theirs: list[int], cap: int, other_cap: int
):
    """Without duplicates or gaps, for all page sizes."""
    lists = by_skipping(ours, cap, tells=True), by_number(theirs, other_cap)

    async def read(cursor: str | None) -> Page[int]:
        return await paging.merged(lists, cursor, lambda item: NOON + timedelta(minutes=item))

    assert await walked(read) == sorted(ours + theirs, reverse=True)


@given(
    st.lists(st.integers(0, 9), max_size=15),
    st.lists(st.integers(0, 9), max_size=15),
    st.integers(1, 5),
)
async def test_a_merged_page_is_no_longer_than_requested(
    ours: list[int], theirs: list[int], most: int
):
    """And nothing is lost from unsorted lists."""
    lists = by_skipping(ours, 3, tells=True), by_number(theirs, 2)

    async def read(cursor: str | None) -> Page[int]:
        page = await paging.merged(
            lists, cursor, lambda item: NOON + timedelta(minutes=item), most=most
        )
        assert len(page.items) <= most
        return page

    assert sorted(await walked(read)) == sorted(ours + theirs)


@given(st.lists(st.integers(0, 9), max_size=15), st.lists(st.integers(0, 9), max_size=15))
async def test_unsorted_lists_are_still_merged_completely(ours: list[int], theirs: list[int]):
    lists = by_skipping(ours, 2, tells=False), by_number(theirs, 3)

    async def read(cursor: str | None) -> Page[int]:
        return await paging.merged(lists, cursor, lambda item: NOON + timedelta(minutes=item))

    assert sorted(await walked(read)) == sorted(ours + theirs)


def growing(cap: int, inserted: Sequence[int], *, numbered: bool) -> ReadPage[int]:
    """A bank with 20 items by position, where before each further page some come in at the top."""
    items = [*range(100, 120)]
    come = iter(inserted)

    async def read(cursor: str | None) -> Page[int]:
        if cursor is not None:
            items[:0] = [1000 + len(items) + each for each in range(next(come, 0))]
        number = paging.number_of(cursor)
        if numbered:
            some = items[number * cap : (number + 1) * cap]
            page = paging.numbered(some, cursor, pages=-(-len(items) // cap))
        else:
            some = items[number : number + cap]
            page = paging.skipped(some, cursor, more=number + cap < len(items))
        return paging.unrepeated(page, cursor, str)

    return read


@given(st.lists(st.integers(0, 3), max_size=9), st.sampled_from([True, False]))
async def test_items_inserted_while_paging_hide_and_repeat_nothing(
    inserted: list[int], numbered: bool
):
    found = await walked(growing(3, inserted, numbered=numbered))

    assert [item for item in found if item < 1000] == [*range(100, 120)]


async def test_a_cursor_that_remembers_a_full_page_can_be_stored():
    """The gateway accepts cursors of 4,096 characters."""
    page = paging.skipped(range(10**6, 10**6 + 1000), "7000", more=True)

    cursor = paging.unrepeated(page, "7000", str).next_cursor

    assert paging.number_of(cursor) == 8000
    assert cursor is not None
    assert len(cursor) < 4096
    assert cursor.isprintable()


async def test_a_short_list_is_read_completely():
    items = list(range(7))

    assert await paging.whole(by_skipping(items, 3, tells=False)) == items


async def test_an_endless_list_is_a_bad_reply():
    async def again(cursor: str | None) -> Page[int]:
        return Page(items=[1] * 100, next_cursor=str(paging.number_of(cursor) + 100))

    async def stuck(_cursor: str | None) -> Page[int]:
        return Page(items=[], next_cursor="x")

    for read in (again, stuck):
        with pytest.raises(BadReply):
            await paging.whole(read)
