"""What a page shows of its payouts, and pages requested at the same time."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from gateway.app.store import Store
from gateway.banks.port.payout_orders import FailureCode
from gateway.core.storage import StoreUnavailable
from gateway.payouts.model import Failure, ListedPayout, Payout, PayoutState
from tests.contract.stores.databases import both
from tests.world.stores.samples import ACCOUNT, SISTER, attempt, change, payout, search

DAY = datetime(2026, 3, 10, tzinfo=UTC)
HOUR = timedelta(hours=1)
FIRST, LAST = "2026-03-10", "2026-03-12"
ENDINGS = (None, Failure(FailureCode.RETURNED), Failure(FailureCode.LIMIT_EXCEEDED, forbidden=True))


def differing(place: int) -> Payout:
    """A payout whose every listed field is another one than its neighbours'."""
    made = payout(f"o-{place:02}", created_at=DAY + place * HOUR)
    return replace(
        made,
        state=list(PayoutState)[place % len(PayoutState)],
        description=f"pão {place}",
        destination_sent={"tax_number": "529.982.247-25", "key": f"{place}@example.com"},
        updated_at=made.created_at + timedelta(seconds=place),
        settled_at=made.created_at + place * HOUR if place % 2 else None,
        e2e_id=f"E{place}",
        provider_id=f"p-{place}",
        failure=ENDINGS[place % len(ENDINGS)],
    )


@pytest.fixture
async def stored(store: Store) -> Sequence[Payout]:
    """Payouts of three days, newest first."""
    made = [differing(place) for place in range(48, 0, -1)]
    for each in made:
        await store.payouts.add(each, attempt())
    return made


async def test_a_list_shows_stored_fields_of_a_payout(
    store: Store, stored: Sequence[Payout]
) -> None:
    """Every field of a listed payout equals that of the stored one."""
    listed, _ = await store.payouts.search(ACCOUNT, search(FIRST, LAST, limit=100))
    found = [await store.payouts.find(ACCOUNT, each.reference) for each in stored]

    fields = ListedPayout.__struct_fields__
    assert [[getattr(each, name) for name in fields] for each in listed] == [
        [getattr(each, name) for name in fields] for each in found
    ]


@both
@pytest.mark.parametrize("page", [1, 2, 10, 11])
async def test_a_page_of_complete_payouts_matches_the_listed_page(
    store: Store, stored: Sequence[Payout], page: int
) -> None:
    """Same payouts, order and length; past the end there are none."""
    asked = search(FIRST, LAST, page=page, limit=5)

    whole = await store.payouts.whole(ACCOUNT, asked)

    shown = stored[(page - 1) * 5 : page * 5]
    assert whole == ([await store.payouts.find(ACCOUNT, each.reference) for each in shown], 48)
    listed, total = await store.payouts.search(ACCOUNT, asked)
    assert ([each.reference for each in listed], total) == ([each.reference for each in shown], 48)


@pytest.mark.usefixtures("stored")
async def test_concurrent_reads_of_pages_each_return_their_own_page(store: Store) -> None:
    """The reads share connections but differ in account, window, page and size."""
    await store.payouts.add(payout("theirs", account_id=SISTER, created_at=DAY), attempt())
    asked = [
        (account, search(day, LAST, page=page, limit=limit))
        for account in (ACCOUNT, SISTER)
        for day in (FIRST, "2026-03-11", LAST)
        for page in (1, 2, 9)
        for limit in (1, 7)
    ]
    alone = [await store.payouts.search(*each) for each in asked]

    together = await asyncio.gather(*(store.payouts.search(*each) for each in asked))

    assert together == alone


@pytest.mark.usefixtures("stored")
async def test_an_unreadable_page_fails_alone(store: Store) -> None:
    """Concurrent pages are answered."""
    day = search(FIRST, LAST, limit=1)

    first, wrong, last = await asyncio.gather(
        *(store.payouts.search(account, day) for account in (ACCOUNT, "\ud800", ACCOUNT)),
        return_exceptions=True,
    )

    assert isinstance(wrong, StoreUnavailable)
    assert first == last == await store.payouts.search(ACCOUNT, day)


@pytest.mark.usefixtures("stored")
async def test_a_cancelled_page_does_not_delay_other_pages(store: Store) -> None:
    """Only the page of the cancelled caller is dropped."""
    day = search(FIRST, LAST, limit=1)
    asking = [asyncio.ensure_future(store.payouts.search(ACCOUNT, day)) for _ in range(5)]
    await asyncio.sleep(0)

    asking[1].cancel()
    _, given_up, *others = await asyncio.gather(*asking, return_exceptions=True)

    assert isinstance(given_up, asyncio.CancelledError)
    assert others == [await store.payouts.search(ACCOUNT, day)] * 3


@both
async def test_the_length_of_a_list_counts_late_payouts_and_each_state(store: Store) -> None:
    """Payouts stored by another process with an earlier time are counted at once."""
    for place in (1, 2):
        await store.payouts.add(payout(f"o-{place}", created_at=DAY + place * HOUR), attempt())
    before = await store.payouts.search(ACCOUNT, search(FIRST, LAST, limit=1))
    await store.payouts.add(payout("late", created_at=DAY), attempt())
    await store.payouts.add(payout("next", created_at=DAY + 24 * HOUR), attempt())
    await store.payouts.record(change(PayoutState.SENDING, PayoutState.PAID, reference="late"))
    await store.payouts.add(payout("theirs", account_id=SISTER, created_at=DAY), attempt())

    first = await store.payouts.search(ACCOUNT, search(FIRST, LAST, limit=1))
    later = await store.payouts.search(ACCOUNT, search(FIRST, LAST, page=2, limit=1))
    day = await store.payouts.search(ACCOUNT, search(FIRST, FIRST, limit=1))
    paid = await store.payouts.search(ACCOUNT, search(FIRST, LAST), [PayoutState.PAID])

    totals = [each[1] for each in (before, first, later, day, paid)]
    assert totals == [2, 4, 4, 3, 1]
