"""Held payouts in both databases: stored without an attempt, ended by compare-and-set."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from gateway.app.store import Store
from gateway.banks.port.payout_orders import FailureCode
from gateway.core.money import Money
from gateway.core.permissions import CredentialLimits
from gateway.core.storage import LimitReached
from gateway.payouts.first_payees import FirstPayeeLimit
from gateway.payouts.model import (
    Attempt,
    EventKind,
    Failure,
    FirstPayee,
    Payout,
    PayoutState,
)
from tests.contract.stores.databases import both
from tests.world.stores.due import claim_due
from tests.world.stores.samples import (
    ACCOUNT,
    COMPANY,
    NOW,
    SISTER,
    attempt,
    change,
    credential,
    event,
    held,
    payout,
)

OTHER_COMPANY = "5f0c8f6e-3d57-4a6d-9f53-0d4d5a0f7a02"
HELD, SENDING, FAILED = PayoutState.HELD, PayoutState.SENDING, PayoutState.FAILED
HALF_HOUR = timedelta(minutes=30)
DIGEST = b"d" * 16
MOST = Money(100_000)
WAITING = held(payout())


def claimed(about: Payout) -> tuple[Payout, Attempt]:
    tried = attempt(started_at=NOW + HALF_HOUR)
    return replace(about, state=SENDING, attempt=1, held_until=None), tried


async def found(store: Store, reference: str = "order-1") -> Payout:
    row = await store.payouts.find(ACCOUNT, reference)
    assert row is not None
    return row


async def kinds(store: Store) -> Sequence[tuple[EventKind, int]]:
    return [(each.kind, each.attempt) for each in await store.payouts.events(ACCOUNT, "order-1")]


@both
async def test_a_held_payout_is_stored_once_and_has_no_attempt(store: Store) -> None:
    assert await store.payouts.add(WAITING, None) is None

    assert await store.payouts.add(payout(), attempt()) == WAITING
    assert await found(store) == WAITING
    assert await store.payouts.attempts(ACCOUNT, "order-1") == []
    assert await kinds(store) == [(EventKind.HELD, 0)]


@both
async def test_held_and_sent_payouts_share_a_batch(store: Store) -> None:
    sent, kept = [f"sent-{n}" for n in range(3)], [f"held-{n}" for n in range(3)]

    told = await asyncio.gather(
        *(store.payouts.add(payout(each), attempt()) for each in sent),
        *(store.payouts.add(held(payout(each)), None) for each in kept),
        store.payouts.add(held(payout("held-0")), None),
    )

    assert told == [None] * 6 + [held(payout("held-0"))]
    tried = [len(await store.payouts.attempts(ACCOUNT, each)) for each in (*sent, *kept)]
    assert tried == [1, 1, 1, 0, 0, 0]


@both
async def test_of_several_claims_of_a_held_payout_one_succeeds(store: Store) -> None:
    await store.payouts.add(WAITING, None)
    next_one = claimed(WAITING)

    won = await asyncio.gather(
        *(store.payouts.claim(*next_one, before=HELD) for _ in range(4)),
        store.payouts.claim(*next_one),
    )

    assert sum(won) == 1
    assert await found(store) == replace(
        next_one[0], updated_at=NOW + HALF_HOUR, lease_until=next_one[1].lease_until
    )
    assert await kinds(store) == [(EventKind.HELD, 0), (EventKind.STORED, 1)]


@both
async def test_a_held_payout_is_due_when_its_hold_ends_and_not_before(store: Store) -> None:
    await store.payouts.add(WAITING, None)
    early, late = NOW + HALF_HOUR - timedelta(seconds=1), NOW + HALF_HOUR

    assert await claim_due(store, "me", early, late) == []
    assert await claim_due(store, "me", late, late) == [WAITING]


@both
async def test_a_released_payout_is_due_at_once_and_its_claim_is_cleared(store: Store) -> None:
    """A worker's later write must not undo the decision of a person."""
    await store.payouts.add(WAITING, None)
    await claim_due(store, "me", NOW + HALF_HOUR, NOW + HALF_HOUR * 2)

    assert await store.payouts.release(WAITING, event(), "user:ana@example.com")
    assert not await store.payouts.release(WAITING, event(), "user:rui@example.com")

    assert (await found(store)).held_until == NOW
    assert len(await claim_due(store, "other", NOW, NOW + HALF_HOUR)) == 1
    assert await kinds(store) == [(EventKind.HELD, 0), (EventKind.RELEASED, 0)]


@both
async def test_a_refused_held_payout_cannot_be_claimed_or_released(store: Store) -> None:
    await store.payouts.add(WAITING, None)
    step = replace(
        change(HELD, FAILED, attempt=0),
        cause=EventKind.REFUSED,
        failure=Failure(FailureCode.NOT_SENT),
        by="user:ana@example.com",
    )

    assert await store.payouts.refuse(step, event())
    assert not await store.payouts.refuse(step, event())
    assert not await store.payouts.claim(*claimed(WAITING), before=HELD)
    assert not await store.payouts.release(WAITING, event(), "user:rui@example.com")
    assert await kinds(store) == [(EventKind.HELD, 0), (EventKind.REFUSED, 0)]


@both
async def test_a_held_payout_counts_once_towards_its_daily_limit(store: Store) -> None:
    """It counts when it is stored, and not again when it is sent."""
    limits = CredentialLimits(per_day=Money(1050))
    await store.credentials.add(credential(limits=limits), event())

    assert await store.payouts.add(WAITING, None, limited=True) is None
    with pytest.raises(LimitReached):
        await store.payouts.add(payout("next"), attempt(), limited=True)
    assert await store.payouts.claim(*claimed(WAITING), limited=True, before=HELD)


@both
async def test_a_payee_is_known_within_its_company_by_number_and_destination(store: Store) -> None:
    paid, about = to_payee("paid"), to_payee("order-1")
    await store.payouts.add(paid, attempt())
    known = first(since=NOW)
    assert not await store.payouts.has_paid(about, known)
    await store.payouts.record(change(SENDING, PayoutState.ACCEPTED, reference="paid"))

    elsewhere = replace(about, destination=replace(about.destination, key="b@example.com"))
    assert await store.payouts.has_paid(about, known)
    assert await store.payouts.has_paid(replace(about, account_id=SISTER), known)
    assert not await store.payouts.has_paid(elsewhere, known)
    assert not await store.payouts.has_paid(about, replace(known, company_id=OTHER_COMPANY))
    assert not await store.payouts.has_paid(about, replace(known, digests=[b"x" * 16]))
    assert not await store.payouts.has_paid(about, first(since=NOW - timedelta(seconds=1)))


@both
@pytest.mark.parametrize("processes", [1, 2])
async def test_concurrent_payouts_to_a_first_payee_stay_within_its_limit(
    store: Store, second: Store, processes: int
) -> None:
    """They are written in batches, by independent accounts and processes."""
    nodes, accounts = [store, second][:processes], [ACCOUNT, SISTER]

    found = await asyncio.gather(
        *(
            nodes[number % processes].payouts.add(
                to_payee(f"o-{number}", account_id=accounts[number % 3 % 2]),
                attempt(),
                first=first(most=Money(5 * 1050)),
            )
            for number in range(40)
        ),
        return_exceptions=True,
    )

    assert sum(each is None for each in found) == 5
    assert sum(isinstance(each, FirstPayeeLimit) for each in found) == 35


@both
async def test_concurrent_payouts_on_two_processes_stay_within_a_payee_s_limit(
    store: Store, second: Store
) -> None:
    for number in range(20):
        pair = [to_payee(f"{number}-{side}", key=f"{number}@example.com") for side in "ab"]
        found = await asyncio.gather(
            *(
                node.payouts.add(each, attempt(), first=first(most=Money(1500)))
                for node, each in zip((store, second), pair, strict=True)
            ),
            return_exceptions=True,
        )
        assert sum(each is None for each in found) == 1, found


@both
async def test_a_repeated_reference_is_found_before_its_payee_s_limit(
    store: Store,
) -> None:
    """Otherwise it would be held twice, or answered as if it were the stored payout."""
    order, most = to_payee("order-1"), first(most=Money(1050))
    assert await store.payouts.add(order, attempt(), first=most) is None

    assert await store.payouts.add(order, attempt(), first=most) == order


@both
async def test_payouts_to_a_destination_are_found_among_many_others(store: Store) -> None:
    """Otherwise a thief could hide it behind small payouts to other keys or names."""
    names = [to_payee(f"n-{n}", name=f"Maria {n}") for n in range(3)]
    others = [to_payee(f"o-{n}", key=f"{n}@example.com") for n in range(120)]
    await asyncio.gather(*(store.payouts.add(each, attempt()) for each in (*names, *others)))
    last, before = to_payee("last"), 3 * 1050

    with pytest.raises(FirstPayeeLimit):
        await store.payouts.add(last, attempt(), first=first(most=Money(before + 1049)))
    assert await store.payouts.add(last, attempt(), first=first(most=Money(before + 1050))) is None


def to_payee(reference: str, account_id: str = ACCOUNT, **place: str) -> Payout:
    """Return a payout to the payee of the samples, or to another key or name of the number."""
    made = payout(reference, account_id=account_id)
    destination = replace(made.destination, **place)  # type: ignore[arg-type]
    return replace(made, payee_digest=DIGEST, destination=destination)


def first(since: datetime = NOW - timedelta(days=1), most: Money = MOST) -> FirstPayee:
    return FirstPayee(
        company_id=COMPANY,
        digests=[b"x" * 16, DIGEST],
        since=since,
        most=most,
        held_until=NOW + HALF_HOUR,
    )
