"""Limits of credentials: counted with the intent, alone and in a batch, by one process and two."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gateway.app.store import Store
from gateway.core.money import Money
from gateway.core.night import Night
from gateway.core.permissions import CredentialLimits
from gateway.core.storage import LimitReached
from gateway.core.windows import Window
from gateway.payouts.limits import spent_by_day
from gateway.payouts.model import Payout, PayoutState
from gateway.payouts.store import StoredPayouts
from tests.contract.stores.databases import both
from tests.world.stores.samples import (
    ACCOUNT,
    CLIENT,
    COMPANY,
    NOW,
    SISTER,
    attempt,
    change,
    credential,
    event,
    payout,
)

SENDING, NOT_SENT = PayoutState.SENDING, PayoutState.NOT_SENT
TEN = Money(1000)


async def limited(store: Store, **limits: Money) -> None:
    made = replace(credential(), limits=CredentialLimits(**limits))
    await store.credentials.add(made, event())


EVENING = datetime(2026, 11, 20, 23, tzinfo=UTC)  # 20:00 in São Paulo
SECOND = timedelta(seconds=1)


async def sent(store: Store, reference: str, at: datetime, **more: Any) -> None:
    """Send a payout at an instant, dated as a partner dates it; LimitReached above a limit."""
    intent = payout(reference, created_at=at, **more)
    assert await store.payouts.add(intent, attempt(started_at=at), limited=True) is None


async def together(nodes: Sequence[Store], payouts: Sequence[Payout]) -> list[object]:
    """Add all at once, in turn at each node; return each result."""
    return await asyncio.gather(
        *(
            nodes[number % len(nodes)].payouts.add(each, attempt(), limited=True)
            for number, each in enumerate(payouts)
        ),
        return_exceptions=True,
    )


def told(found: Sequence[object]) -> tuple[int, int]:
    """Count those that were stored, and those above a limit; nothing else may have happened."""
    stored = sum(each is None for each in found)
    above = sum(isinstance(each, LimitReached) for each in found)
    assert stored + above == len(found), found
    return stored, above


@both
async def test_limits_are_read_back(store: Store) -> None:
    limits = {"per_payout": TEN, "per_day": Money(5000), "per_night": Money(0)}
    await limited(store, **limits, per_payout_at_night=Money(1))

    found = await store.credentials.find(CLIENT)

    assert found is not None
    assert found.limits == CredentialLimits(**limits, per_payout_at_night=Money(1))


async def test_a_payout_may_equal_its_limit_and_not_exceed_it(store: Store) -> None:
    await limited(store, per_payout=TEN)

    within = await store.payouts.add(payout(centavos=1000), attempt(), limited=True)

    assert within is None
    with pytest.raises(LimitReached):
        await store.payouts.add(payout("more", centavos=1001), attempt(), limited=True)
    assert await store.payouts.find(ACCOUNT, "more") is None


async def test_a_day_ends_exactly_at_its_limit(store: Store) -> None:
    await limited(store, per_day=TEN)
    parts = [payout(f"o-{number}", centavos=250) for number in range(4)]

    for each in parts:
        assert await store.payouts.add(each, attempt(), limited=True) is None

    with pytest.raises(LimitReached):
        await store.payouts.add(payout("one", centavos=1), attempt(), limited=True)


@both
@pytest.mark.parametrize("processes", [1, 2])
async def test_concurrent_payouts_stay_within_a_daily_limit(
    store: Store, second: Store, processes: int
) -> None:
    """They are written in batches, by two independent processes."""
    await limited(store, per_day=Money(5 * 1050))
    nodes = [store, second][:processes]

    found = await together(nodes, [payout(f"o-{number}") for number in range(40)])

    assert told(found) == (5, 35)


@both
async def test_concurrent_payouts_on_two_processes_stay_within_a_daily_limit(
    store: Store, second: Store
) -> None:
    await limited(store, per_day=Money(1500))

    for number in range(20):
        day = NOW + timedelta(days=number)
        pair = [payout(f"{number}-{side}", created_at=day) for side in "ab"]
        found = await together([store, second], pair)
        assert told(found) == (1, 1)


async def test_a_daily_limit_covers_all_accounts_of_one_credential(
    store: Store,
) -> None:
    await limited(store, per_day=Money(2500))
    other = replace(payout("theirs"), client_id="cli_other")

    assert await store.payouts.add(other, attempt()) is None
    sister = payout("sister", account_id=SISTER)
    found = await together([store], [sister, payout("one")])

    assert told(found) == (2, 0)
    assert told(await together([store], [payout("two")])) == (0, 1)


@both
@pytest.mark.parametrize(
    ("ends", "counts"),
    [
        (PayoutState.NOT_SENT, False),
        (PayoutState.REJECTED, False),
        (PayoutState.FAILED, False),
        (PayoutState.UNKNOWN, True),
        (PayoutState.ACCEPTED, True),
        (PayoutState.PAID, True),
    ],
)
async def test_payouts_proven_unsent_or_refused_do_not_count(
    store: Store, ends: PayoutState, counts: bool
) -> None:
    await limited(store, per_day=Money(1050))
    await store.payouts.add(payout(), attempt(), limited=True)
    await store.payouts.record(change(SENDING, ends))

    found = await together([store], [payout("next")])

    assert told(found) == ((0, 1) if counts else (1, 0))


async def test_payouts_of_the_previous_day_do_not_count(store: Store) -> None:
    await limited(store, per_day=Money(1050))
    yesterday = payout("before", created_at=NOW - timedelta(days=1))
    await store.payouts.add(yesterday, attempt(), limited=True)

    assert told(await together([store], [payout()])) == (1, 0)


async def test_a_repeated_payout_above_the_limit_returns_the_first_one(store: Store) -> None:
    """Limits are checked after repeats, in a batch too."""
    await limited(store, per_day=Money(1050))
    await store.payouts.add(payout(), attempt(), limited=True)

    alone = await store.payouts.add(payout(), attempt(), limited=True)
    found = await together([store], [payout(), payout(), payout("new")])

    assert alone == payout()
    assert found[:2] == [payout()] * 2
    assert isinstance(found[2], LimitReached)


@both
@pytest.mark.parametrize("at_once", [1, 3])
async def test_an_unsent_payout_is_counted_when_it_is_sent_again(
    store: Store, at_once: int
) -> None:
    await limited(store, per_day=Money(1050 * at_once))
    mine = [payout(f"o-{number}") for number in range(at_once + 1)]
    await store.payouts.add(mine[0], attempt(), limited=True)
    await store.payouts.record(change(SENDING, NOT_SENT, reference="o-0"))
    for each in mine[1:]:
        await store.payouts.add(each, attempt(), limited=True)

    with pytest.raises(LimitReached):
        await store.payouts.claim(replace(mine[0], state=NOT_SENT), attempt(2), limited=True)

    found = await store.payouts.find(ACCOUNT, "o-0")
    assert found is not None
    assert found.state is NOT_SENT


@both
async def test_a_night_ends_exactly_at_its_limit_across_midnight_in_utc(store: Store) -> None:
    """19:59:59 and 06:00:00 are day; midnight does not divide a night."""
    await limited(store, per_night=Money(2100), per_day=Money(5000))
    midnight, morning = EVENING + timedelta(hours=1), EVENING + timedelta(hours=10)

    await sent(store, "day", EVENING - SECOND)
    await sent(store, "first", EVENING)
    await sent(store, "second", midnight)
    for number, at in enumerate((EVENING, midnight, morning - SECOND)):
        with pytest.raises(LimitReached, match="per_night"):
            await sent(store, f"above-{number}", at, centavos=1)
    await sent(store, "morning", morning)
    await sent(store, "next night", EVENING + timedelta(days=1))


@both
async def test_a_payout_counts_in_the_night_it_is_sent(store: Store) -> None:
    """It was created by day and not sent then."""
    await limited(store, per_night=Money(1050))
    await sent(store, "o-1", EVENING - SECOND)
    await store.payouts.record(change(SENDING, NOT_SENT, reference="o-1"))
    again = replace(payout("o-1", created_at=EVENING - SECOND), state=NOT_SENT)

    assert await store.payouts.claim(again, attempt(2, started_at=EVENING), limited=True)

    with pytest.raises(LimitReached, match="per_night"):
        await sent(store, "o-2", EVENING + SECOND)


@both
async def test_concurrent_payouts_at_night_stay_within_a_nightly_limit(
    store: Store, second: Store
) -> None:
    await limited(store, per_night=Money(3 * 1050))
    payouts = [payout(f"o-{number}", created_at=EVENING) for number in range(12)]

    found = await asyncio.gather(
        *(
            node.payouts.add(each, attempt(started_at=EVENING), limited=True)
            for each, node in zip(payouts, [store, second] * 6, strict=True)
        ),
        return_exceptions=True,
    )

    assert told(found) == (3, 9)


async def test_the_gateways_limits_of_the_night_hold_for_credentials_without_their_own(
    store: Store,
) -> None:
    await limited(store)
    night = Night(per_payout=Money(1050), per_night=Money(2000))
    theirs = replace(store, payouts=StoredPayouts(store.database, night))

    await sent(theirs, "day", EVENING - SECOND, centavos=9999)
    await sent(theirs, "night", EVENING)

    for centavos, above in ((1051, "per_payout_at_night"), (951, "per_night")):
        with pytest.raises(LimitReached, match=above):
            await sent(theirs, above, EVENING, centavos=centavos)
    await theirs.payouts.close()


@both
async def test_daily_sums_match_the_counting_of_daily_limits(store: Store) -> None:
    await limited(store)
    today = NOW.date()
    for number, ago in enumerate((0, 1, 1, 2, 31)):
        await sent(store, f"o-{number}", NOW - timedelta(days=ago))
    await store.payouts.record(change(SENDING, PayoutState.REJECTED, reference="o-3"))
    foreign = replace(payout("theirs", created_at=NOW - timedelta(days=3)), client_id="cli_other")
    await store.payouts.add(foreign, attempt())
    days = Window(today - timedelta(days=30), today - timedelta(days=1))

    found = await spent_by_day(store.database, COMPANY, CLIENT, days)

    assert found == [2 * 1050]


@both
async def test_concurrent_claims_are_counted_together(store: Store) -> None:
    await limited(store, per_day=Money(1050 * 2))
    names = [f"o-{number}" for number in range(4)]
    for name in names:
        await store.payouts.add(payout(name), attempt(), limited=True)
        await store.payouts.record(change(SENDING, NOT_SENT, reference=name))

    found = await asyncio.gather(
        *(
            store.payouts.claim(replace(payout(name), state=NOT_SENT), attempt(2), limited=True)
            for name in names
        ),
        return_exceptions=True,
    )

    assert found.count(True) == 2
    assert sum(isinstance(each, LimitReached) for each in found) == 2


async def test_a_payout_sent_again_counts_for_the_sending_credential(store: Store) -> None:
    """An unsent payout of another credential becomes the payout of the one that sends it again."""
    await limited(store, per_day=Money(1050))
    await store.payouts.add(replace(payout(), client_id="cli_other"), attempt())
    await store.payouts.record(change(SENDING, NOT_SENT))

    claimed = await store.payouts.claim(replace(payout(), state=NOT_SENT), attempt(2), limited=True)

    found = await store.payouts.find(ACCOUNT, "order-1")
    assert claimed is True
    assert found is not None
    assert found.client_id == CLIENT
    assert told(await together([store], [payout("next")])) == (0, 1)
