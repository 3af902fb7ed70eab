"""Claims of what is due, bank by bank: never shared, none left out, and no account in the way."""

import asyncio
import re
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Select, select, text

from bench import bulk_rows
from bench.payments import open_account
from gateway.app.store import Store
from gateway.payouts import due
from gateway.payouts.model import PayoutState
from gateway.payouts.schedule import MOST_ACCOUNTS, DueAccount
from gateway.store.tables.core import payouts
from tests.contract.stores.databases import both
from tests.contract.stores.plans import Explained
from tests.world.stores.due import claim_of
from tests.world.stores.samples import ACCOUNT, NOW, SISTER, account, attempt, change, event, payout

SENDING, UNKNOWN = PayoutState.SENDING, PayoutState.UNKNOWN
LATER = NOW + timedelta(seconds=10)
UNTIL = LATER + timedelta(seconds=60)


async def unknown(
    store: Store,
    reference: str,
    *,
    account_id: str = ACCOUNT,
    provider: str = "sandbox",
    since: datetime = NOW,
) -> None:
    """Store a payout of unknown outcome, which is due two seconds later."""
    made = replace(payout(reference, account_id=account_id, created_at=since), provider=provider)
    await store.payouts.add(made, replace(attempt(started_at=since), provider=provider))
    step = replace(change(SENDING, UNKNOWN, reference=reference), account_id=account_id, at=since)
    assert await store.payouts.record(step)


async def claimed(store: Store, accounts: list[DueAccount], **limits: object) -> list[str]:
    claim = replace(claim_of(accounts, "one", LATER, UNTIL), **limits)  # type: ignore[arg-type]
    return [each.reference for each in await store.follow_ups.claim_due(claim)]


@both
async def test_two_processes_claim_every_due_payout_once(store: Store, second: Store) -> None:
    """Payouts 2.7: both processes claim at once until nothing is due."""
    references = [f"o-{number:03}" for number in range(90)]
    for number, reference in enumerate(references):
        own = (ACCOUNT, SISTER)[number % 2]
        await unknown(
            store, reference, account_id=own, provider=("sandbox", "other")[number % 3 > 0]
        )

    async def claim_all(node: Store, owner: str) -> list[str]:
        taken: list[str] = []
        while found := await node.follow_ups.due(LATER):
            claim = replace(claim_of(found[:1], owner, LATER, UNTIL), most=7)
            taken += [each.reference for each in await node.follow_ups.claim_due(claim)]
        return taken

    both = await asyncio.gather(claim_all(store, "one"), claim_all(second, "two"))

    assert sorted(both[0] + both[1]) == references


@both
async def test_the_longest_due_payouts_come_first(store: Store) -> None:
    """Across all accounts."""
    for minutes, own in ((3, ACCOUNT), (1, ACCOUNT), (2, SISTER), (4, SISTER)):
        early = NOW - timedelta(minutes=minutes)
        await unknown(store, f"o-{minutes}", account_id=own, since=early)

    accounts = list(await store.follow_ups.due(LATER))

    assert [(each.account_id, each.provider) for each in accounts] == [
        (SISTER, "sandbox"),
        (ACCOUNT, "sandbox"),
    ]
    assert accounts[0].due_at == NOW - timedelta(minutes=4) + timedelta(seconds=2)
    assert await claimed(store, accounts, most=3) == ["o-4", "o-3", "o-2"]
    assert await claimed(store, accounts) == ["o-1"]


@both
async def test_an_account_with_many_due_payouts_does_not_crowd_out_another(store: Store) -> None:
    for number in range(20):
        await unknown(store, f"o-{number:02}", since=NOW - timedelta(minutes=1))
    await unknown(store, "sister-1", account_id=SISTER)

    taken = await claimed(store, list(await store.follow_ups.due(LATER)), each=2, most=4)

    assert Counter(each.partition("-")[0] for each in taken) == {"o": 2, "sister": 1}


async def test_a_claim_covers_one_bank(store: Store) -> None:
    await unknown(store, "here")
    await unknown(store, "there", provider="other")

    accounts = list(await store.follow_ups.due(LATER))

    assert {each.provider for each in accounts} == {"sandbox", "other"}
    for each in accounts:
        name = {"sandbox": "here", "other": "there"}[each.provider]
        assert await claimed(store, [each]) == [name]


async def test_a_lease_is_respected(store: Store, second: Store) -> None:
    """Until it ends the payout is not due for other processes, and claims of it fail."""
    await unknown(store, "order-1")
    [found] = await store.follow_ups.due(LATER)
    assert await claimed(store, [found]) == ["order-1"]
    just_before = UNTIL - timedelta(microseconds=1)

    late = claim_of([found], "two", just_before, UNTIL + timedelta(seconds=60))

    assert await second.follow_ups.due(just_before) == []
    assert await second.follow_ups.claim_due(late) == []
    after = await second.follow_ups.claim_due(replace(late, at=UNTIL))
    assert [each.reference for each in after] == ["order-1"]


BACK = LATER - timedelta(hours=2)


async def test_a_claim_from_before_a_clock_change_does_not_block(
    store: Store, second: Store
) -> None:
    """The process that made it may be dead, and it would end two hours late."""
    await unknown(store, "order-1")
    [found] = await store.follow_ups.due(LATER)
    assert await claimed(store, [found]) == ["order-1"]

    assert await second.follow_ups.recall(BACK) == 1
    [again] = await second.follow_ups.due(BACK)
    wanted = claim_of([again], "two", BACK, BACK + timedelta(seconds=60))

    assert [each.reference for each in await second.follow_ups.claim_due(wanted)] == ["order-1"]
    assert await second.follow_ups.due(BACK) == []


@both
@pytest.mark.parametrize("seconds", [-30, 30])
async def test_clock_skew_of_seconds_takes_no_claim_over(
    store: Store, second: Store, seconds: int
) -> None:
    await unknown(store, "order-1", since=NOW - timedelta(minutes=5))
    [found] = await store.follow_ups.due(LATER)
    await claimed(store, [found])

    assert await second.follow_ups.due(LATER + timedelta(seconds=seconds)) == []


@both
@pytest.mark.parametrize(
    ("planned", "changed", "recalled"),
    [
        (timedelta(hours=2), timedelta(0), True),
        (timedelta(hours=2), timedelta(hours=-5), True),
        (timedelta(minutes=30), timedelta(minutes=29), True),
        (timedelta(minutes=66), timedelta(hours=-5), False),
        (timedelta(seconds=20), timedelta(seconds=15), False),
        (timedelta(seconds=-1), timedelta(hours=-5), False),
    ],
    ids=["back", "back of old", "back a little", "hourly", "another machine's", "due"],
)
async def test_payouts_planned_too_far_ahead_are_due_at_once(
    store: Store, planned: timedelta, changed: timedelta, recalled: bool
) -> None:
    await unknown(store, "order-1")
    async with store.database.writing() as connection:
        moved = payouts.update().values(next_check_at=LATER + planned, updated_at=LATER + changed)
        await connection.execute(moved)

    assert await store.follow_ups.recall(LATER) == recalled
    assert bool(await store.follow_ups.due(LATER)) is (recalled or planned < timedelta(0))


async def test_an_unsent_payout_waits_for_the_end_of_its_day(store: Store) -> None:
    await store.payouts.add(payout("order-1"), attempt())
    assert await store.payouts.record(change(SENDING, PayoutState.NOT_SENT))

    assert await store.follow_ups.recall(NOW) == 0


@both
@pytest.mark.parametrize("accounts", [1, 2, 4, 5, MOST_ACCOUNTS])
async def test_a_claim_takes_any_number_of_accounts(store: Store, accounts: int) -> None:
    ids = [f"{ACCOUNT[:-2]}{number:02x}" for number in range(16, 16 + accounts)]
    for number, own in enumerate(ids):
        await store.accounts.add(
            replace(account(own), provider_account=f"conta-{number}x"), event()
        )
        await unknown(store, f"o-{number}", account_id=own)

    found = list(await store.follow_ups.due(LATER))

    assert sorted(await claimed(store, found)) == sorted(f"o-{each}" for each in range(accounts))


async def test_a_cut_off_search_for_due_accounts_continues_where_it_ended(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some of very many accounts are found at a time, each in turn, wherever a search begins."""
    monkeypatch.setattr(due, "_SCANNED", 2)
    monkeypatch.setattr(due, "_ACCOUNTS_DUE", due._ACCOUNTS_DUE.limit(2))
    ids = [f"{ACCOUNT[:-2]}{number:02x}" for number in range(16, 21)]
    for number, own in enumerate(ids):
        await store.accounts.add(
            replace(account(own), provider_account=f"conta-{number}x"), event()
        )
        await unknown(store, f"o-{number}", account_id=own)

    walks = [[each.account_id for each in await store.follow_ups.due(LATER)] for _ in range(4)]
    for number in (1, 2, 3, 4):
        gone = DueAccount(provider="sandbox", account_id=ids[number], due_at=NOW)
        await claimed(store, [gone])
    await store.follow_ups.due(LATER)
    found = [await store.follow_ups.due(LATER) for _ in range(2)]

    assert sorted(each for walk in walks[:3] for each in walk) == ids
    assert walks[3] == walks[0]
    assert {each.account_id for each in (*found[0], *found[1])} == {ids[0]}


@both
async def test_due_payouts_are_found_by_an_index(store: Store) -> None:
    """Each account is one index step, however many payouts it has."""
    accounts = [await open_account(store, f"bench-{number}") for number in range(20)]
    await bulk_rows.fill_payouts(store.url, accounts, bulk_rows.Bulk(rows=2_000))

    plan = await plan_of(store, due._ACCOUNTS_DUE.params(**due._due_by(LATER), after=""))

    assert plan.count("ix_payout_checks_provider_account_id_next_check_at") >= 3
    assert "Seq Scan on payouts" not in plan
    assert "SCAN payouts " not in plan.replace("SCAN payouts USING", "")


@both
async def test_overdue_counts_and_misplanned_payouts_are_found_by_an_index(store: Store) -> None:
    """A worker counts every 15 seconds and corrects each minute, however many rows there are."""
    await bulk_rows.fill_payouts(
        store.url, [await open_account(store, "bench")], bulk_rows.Bulk(rows=2_000)
    )

    recalled = due._recalling(LATER).whereclause
    assert recalled is not None

    plan = await plan_of(store, select(payouts.c.reference).where(recalled))
    counted = await plan_of(store, due._BACKLOG.params(**due._due_by(LATER)))

    for each in (plan, counted):
        assert re.search(r"ix_payout_checks_(provider_account_id_)?next_check_at", each)


async def plan_of(store: Store, asked: Select[Any]) -> str:
    async with store.database.reading() as connection:
        if connection.dialect.name == "postgresql":
            await connection.execute(text("SET enable_seqscan = off"))
        rows = (await connection.execute(Explained(asked))).all()
    return " ".join(str(row) for row in rows)
