"""The payout list: newest first, whole UTC days, true totals."""

from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from gateway.app.store import Store
from gateway.payouts.model import PayoutState
from tests.contract.stores.databases import both
from tests.world.stores.samples import ACCOUNT, NOW, SISTER, attempt, change, payout, search

DAY = datetime(2026, 3, 10, tzinfo=UTC)
TICK = timedelta(microseconds=1)


async def stored(store: Store, *times: datetime) -> None:
    """One payout for each time, named by its place."""
    for place, created_at in enumerate(times):
        await store.payouts.add(payout(f"o-{place}", created_at=created_at), attempt())


async def references(store: Store, init: str, ends: str, **paging: int) -> list[str]:
    page, _ = await store.payouts.search(ACCOUNT, search(init, ends, **paging))
    return [each.reference for each in page]


@pytest.mark.parametrize(
    ("created_at", "inside"),
    [
        (DAY - TICK, False),
        (DAY, True),
        (DAY + timedelta(days=2) - TICK, True),
        (DAY + timedelta(days=2), False),
    ],
    ids=["just before", "first instant", "last instant", "just after"],
)
async def test_the_search_window_includes_both_days(
    store: Store, created_at: datetime, inside: bool
) -> None:
    """Contract part 8."""
    await stored(store, created_at)

    page, total = await store.payouts.search(ACCOUNT, search("2026-03-10", "2026-03-11"))

    assert (len(page), total) == (int(inside), int(inside))


async def test_the_list_is_newest_created_first(store: Store) -> None:
    await stored(store, DAY + TICK, DAY, DAY + 2 * TICK)

    listed = await references(store, "2026-03-10", "2026-03-10")

    assert listed == ["o-2", "o-0", "o-1"]


async def test_pages_of_payouts_of_one_instant_neither_repeat_nor_skip(store: Store) -> None:
    """Equal times neither repeat nor skip a payout."""
    for place in (3, 6, 0, 5, 1, 4, 2):
        await store.payouts.add(payout(f"o-{place}", created_at=DAY), attempt())

    pages = [
        await references(store, "2026-03-10", "2026-03-10", page=page, limit=3)
        for page in (1, 2, 3)
    ]

    assert pages == [["o-6", "o-5", "o-4"], ["o-3", "o-2", "o-1"], ["o-0"]]


@pytest.mark.parametrize("page", [2, 10**18 - 1], ids=["next", "largest"])
async def test_a_page_past_the_end_is_empty_with_the_true_total(store: Store, page: int) -> None:
    await stored(store, DAY, DAY)

    listed, total = await store.payouts.search(
        ACCOUNT, search("2026-03-10", "2026-03-10", page=page, limit=100)
    )

    assert (listed, total) == ([], 2)


async def test_the_list_holds_payouts_of_its_account_alone(store: Store) -> None:
    await stored(store, DAY)
    await store.payouts.add(payout("theirs", account_id=SISTER, created_at=DAY), attempt())

    listed = await references(store, "2026-03-10", "2026-03-10")

    assert listed == ["o-0"]


@both
@pytest.mark.parametrize(
    "states",
    [
        {PayoutState.PAID},
        {PayoutState.REJECTED, PayoutState.FAILED},
        set(PayoutState) - {PayoutState.PAID},
        set(PayoutState),
    ],
    ids=["one", "two", "all but one", "all"],
)
async def test_a_list_filtered_by_state_has_the_same_order_and_its_own_total(
    store: Store, states: Collection[PayoutState]
) -> None:
    """Nothing is on two pages."""
    for place in range(4 * len(PayoutState)):
        state = list(PayoutState)[place % len(PayoutState)]
        made = payout(f"o-{place:02}", created_at=DAY + place // 3 * TICK)
        await store.payouts.add(replace(made, state=state), attempt())
    day = "2026-03-10"
    whole, _ = await store.payouts.search(ACCOUNT, search(day, day, limit=100))

    pages = [
        await store.payouts.search(ACCOUNT, search(day, day, page=page, limit=5), states)
        for page in range(1, 8)
    ]

    expected = [each for each in whole if each.state in states]
    assert [each for page, _ in pages for each in page] == expected
    assert {total for _, total in pages} == {len(expected)}


async def test_a_payout_that_moved_on_is_listed_in_its_new_state(store: Store) -> None:
    await stored(store, NOW)
    sending = {PayoutState.SENDING}
    today = NOW.date().isoformat()

    before = await store.payouts.search(ACCOUNT, search(today, today), sending)
    await store.payouts.record(change(PayoutState.SENDING, PayoutState.PAID, reference="o-0"))
    after = await store.payouts.search(ACCOUNT, search(today, today), sending)

    assert (before[1], after) == (1, ([], 0))


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
async def test_the_first_and_last_dates_of_the_calendar_can_be_searched(
    store: Store, day: str
) -> None:
    await stored(store, DAY)

    found = await store.payouts.search(ACCOUNT, search(day, day))

    assert found == ([], 0)
