"""What is remembered of a day is what a plain count says, whoever writes, however late."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from sqlalchemy import func, select, text

from gateway.domain.kernel.windows import Paging, Search, Window
from gateway.domain.payouts.payouts import Intent, PayoutState
from gateway.store.engine import Store
from gateway.store.payouts.totals import PayoutTotals
from gateway.store.payouts.writes import write_batch
from gateway.store.tables.core import payouts
from gateway.store.tables.figures import payout_totals
from tests.contract.stores.databases import both, server_alone
from tests.world.extent import WHOLE
from tests.world.stores.samples import ACCOUNT, SISTER, attempt, change, payout
from tests.world.waiting import settle

DAY = timedelta(days=1)
FIRST = datetime(2026, 3, 8, tzinfo=UTC)
LAST = FIRST + 4 * DAY
NOW = LAST + timedelta(hours=13, minutes=37)
WINDOW = Window(FIRST.date(), LAST.date())
WINDOWS = [
    Window((FIRST + start * DAY).date(), (FIRST + end * DAY).date())
    for start in range(5)
    for end in range(start, 5)
]


def totals(store: Store, now: datetime = NOW) -> PayoutTotals:
    return PayoutTotals(store.database, lambda: now, worth=1)


async def told(store: Store, window: Window = WINDOW, account_id: str = ACCOUNT) -> int:
    """The length of the list as it is told on the first page, and on a later one."""
    first = await store.payouts.search(account_id, Search(window, Paging(1, 2)))
    later = await store.payouts.search(account_id, Search(window, Paging(2, 2)))
    assert first[1] == later[1]
    return first[1]


async def count(store: Store, window: Window = WINDOW, account_id: str = ACCOUNT) -> int:
    """The length of the list, by a plain count."""
    inside = (payouts.c.created_at >= window.start, payouts.c.created_at < window.end)
    asked = select(func.count()).where(payouts.c.account_id == account_id, *inside)
    async with store.database.reading() as connection:
        return int((await connection.execute(asked)).scalar_one())


async def remembered(store: Store) -> int:
    """How many payouts need not be counted again."""
    asked = select(func.coalesce(func.sum(payout_totals.c.total), 0))
    async with store.database.reading() as connection:
        return int((await connection.execute(asked)).scalar_one())


async def add(store: Store, reference: str, created_at: datetime, account: str = ACCOUNT) -> None:
    made = payout(reference, created_at=created_at, account_id=account)
    await store.payouts.add(made, attempt())


@asynccontextmanager
async def storing(store: Store, reference: str, created_at: datetime) -> AsyncIterator[None]:
    """Another process has stored a payout, and commits at the end of the block."""
    intent = Intent(payout(reference, created_at=created_at), attempt())
    async with store.database.writing() as connection:
        assert await write_batch(store.database, connection, [intent]) == [True]
        yield


def instant(chance: Random) -> datetime:
    """Some instant of the days, often at the edge of one or of what is closed."""
    day = FIRST + chance.randrange(5) * DAY
    edges = (timedelta(0), DAY - timedelta(microseconds=1), timedelta(hours=13, minutes=30))
    if chance.random() < 0.3:
        return day + chance.choice(edges)
    return day + timedelta(microseconds=chance.randrange(86_400_000_000))


@both
@pytest.mark.parametrize("seed", range(4 if WHOLE else 2))
async def test_the_length_is_a_plain_count_whatever_happens(
    store: Store, second: Store, seed: int
) -> None:
    """Payouts come late, change, move and go, while two processes remember windows."""
    chance = Random(seed)
    sending = 0
    for step in range(60):
        node, at = chance.choice((store, second)), instant(chance)
        match chance.randrange(8):
            case 0 | 1 | 2:
                await add(node, f"o-{step}", at, chance.choice((ACCOUNT, SISTER)))
            case 3:
                await node.payouts.record(
                    change(PayoutState.SENDING, PayoutState.PAID, reference=f"o-{sending}")
                )
                sending += 1
            case 4:
                await _by_hand(node, at, move=chance.random() < 0.5)
            case 5:
                # A process that ends behind its announcement.
                await totals(node)._announce(ACCOUNT, [(FIRST, FIRST + DAY)])
            case _:
                now = NOW - chance.randrange(3) * DAY
                await totals(node, now).remember(ACCOUNT, chance.choice(WINDOWS))
        window = chance.choice(WINDOWS)
        for account in (ACCOUNT, SISTER):
            assert await told(node, window, account) == await count(node, window, account)
    for window in WINDOWS:
        assert await told(store, window) == await count(store, window)


async def _by_hand(store: Store, at: datetime, *, move: bool) -> None:
    """Somebody moves a payout in time, or deletes it."""
    one = select(payouts.c.reference_sha256).order_by(payouts.c.reference).limit(1)
    async with store.database.writing() as connection:
        if move:
            moved = payouts.update().values(created_at=at)
            await connection.execute(
                moved.where(payouts.c.reference_sha256 == one.scalar_subquery())
            )
            return
        found = (await connection.execute(one)).scalar()
        for table in ("payout_attempts", "payouts"):
            deleted = text(f"DELETE FROM {table} WHERE reference_sha256 = :found")  # noqa: S608 - names of ours
            await connection.execute(deleted, {"found": found})


@both
async def test_days_that_are_past_are_not_counted_again(store: Store) -> None:
    """Today is, from the last full ten minutes that are five minutes away."""
    for number in range(5):
        await add(store, f"o-{number}", FIRST + number * DAY)
    await add(store, "a while ago", NOW - timedelta(minutes=8))
    await add(store, "just now", NOW)

    await totals(store).remember(ACCOUNT, WINDOW)

    assert await remembered(store) == 6
    assert await told(store) == 7


@pytest.mark.parametrize(
    ("after", "closed"), [(timedelta(minutes=4, seconds=59), 0), (timedelta(minutes=5), 1)]
)
async def test_a_day_closes_five_minutes_after_its_end(
    store: Store, after: timedelta, closed: int
) -> None:
    await add(store, "o-1", FIRST + DAY - timedelta(microseconds=1))

    await totals(store, FIRST + DAY + after).remember(ACCOUNT, Window(FIRST.date(), FIRST.date()))

    assert await remembered(store) == closed
    assert await told(store) == 1


async def test_a_payout_that_comes_late_is_counted(store: Store, second: Store) -> None:
    await add(store, "o-1", FIRST)
    await totals(store).remember(ACCOUNT, WINDOW)

    await add(second, "late", FIRST + timedelta(hours=1))

    assert await told(store) == 2
    assert await remembered(store) == 0
    await totals(store).remember(ACCOUNT, WINDOW)
    assert (await remembered(store), await told(store)) == (2, 2)


@both
async def test_nothing_is_announced_while_a_payout_is_being_stored(
    store: Store, second: Store
) -> None:
    """Its row cannot be seen yet, and it looked for an announcement before there was one."""
    await add(store, "o-1", FIRST)
    async with storing(second, "o-2", FIRST):
        remembering = asyncio.create_task(totals(store).remember(ACCOUNT, WINDOW))
        await settle(1_000)
    await remembering

    assert await told(store) == await count(store) == 2


@both
async def test_a_count_is_dropped_when_a_payout_was_stored_behind_it(
    store: Store, second: Store
) -> None:
    await add(store, "o-1", FIRST)
    assert await totals(store)._announce(ACCOUNT, [(FIRST, FIRST + DAY)])
    day = Window(FIRST.date(), FIRST.date())
    async with storing(second, "o-2", FIRST):
        # Nothing is left to announce: this counts at once, and does not see what is not committed.
        remembering = asyncio.create_task(totals(store).remember(ACCOUNT, day))
        await settle(1_000)
    await remembering

    assert await told(store) == await count(store) == 2


async def test_a_long_walk_is_remembered_behind_its_answer(store: Store) -> None:
    await add(store, "o-1", FIRST)
    kept = totals(store)

    kept.walked(ACCOUNT, WINDOW, 0)
    await kept.close()
    few = await remembered(store)
    kept.walked(ACCOUNT, WINDOW, 1)
    await kept.close()

    assert (few, await remembered(store)) == (0, 1)


@server_alone
async def test_the_trigger_comes_behind_the_foreign_key(store: Store) -> None:
    """That one holds the account's row, and waits where an announcement has it."""
    asked = text(
        "SELECT tgname FROM pg_trigger WHERE tgrelid = 'payouts'::regclass "
        'AND tgtype & 4 = 4 ORDER BY tgname COLLATE "C"'
    )

    async with store.database.reading() as connection:
        names = (await connection.execute(asked)).scalars().all()

    assert names[-1] == "payouts_forget_total"
    assert any(name.startswith("RI_") for name in names)
