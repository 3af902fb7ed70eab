"""Held payouts in both databases: stored without an attempt, ended by compare-and-set."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.app.store import Store
from gateway.banks.port.payout_orders import FailureCode
from gateway.core.money import Money
from gateway.core.permissions import CredentialLimits
from gateway.core.storage import LimitReached
from gateway.payouts.model import Attempt, EventKind, Failure, Payout, PayoutState
from gateway.payouts.store import PaidBefore
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
async def test_of_several_claims_of_a_held_payout_one_wins(store: Store) -> None:
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
    """The next check that a claiming worker stores must not undo what a person decided."""
    await store.payouts.add(WAITING, None)
    await claim_due(store, "me", NOW + HALF_HOUR, NOW + HALF_HOUR * 2)

    assert await store.payouts.release(WAITING, event(), "user:ana@example.com")
    assert not await store.payouts.release(WAITING, event(), "user:rui@example.com")

    assert (await found(store)).held_until == NOW
    assert len(await claim_due(store, "other", NOW, NOW + HALF_HOUR)) == 1
    assert await kinds(store) == [(EventKind.HELD, 0), (EventKind.RELEASED, 0)]


@both
async def test_a_refused_one_is_claimed_no_more(store: Store) -> None:
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
async def test_it_counts_towards_the_limit_of_its_day_once(store: Store) -> None:
    """It counts from when it is stored, and not again when it is sent."""
    limits = CredentialLimits(per_day=Money(1050))
    await store.credentials.add(credential(limits=limits), event())

    assert await store.payouts.add(WAITING, None, limited=True) is None
    with pytest.raises(LimitReached):
        await store.payouts.add(payout("next"), attempt(), limited=True)
    assert await store.payouts.claim(*claimed(WAITING), limited=True, before=HELD)


@both
async def test_a_payee_is_known_by_number_and_place_in_the_company(store: Store) -> None:
    paid, about = (
        replace(payout("paid"), payee_digest=DIGEST),
        replace(payout(), payee_digest=DIGEST),
    )
    await store.payouts.add(paid, attempt())
    lately = PaidBefore(digests=[b"x" * 16, DIGEST], before=NOW)
    assert not await store.payouts.has_paid(COMPANY, about, lately)
    await store.payouts.record(change(SENDING, PayoutState.ACCEPTED, reference="paid"))

    elsewhere = replace(about, destination=replace(about.destination, key="b@example.com"))
    assert await store.payouts.has_paid(COMPANY, about, lately)
    assert await store.payouts.has_paid(COMPANY, replace(about, account_id=SISTER), lately)
    assert not await store.payouts.has_paid(COMPANY, elsewhere, lately)
    assert not await store.payouts.has_paid(OTHER_COMPANY, about, lately)
    assert not await store.payouts.has_paid(COMPANY, about, replace(lately, digests=[b"x" * 16]))
    earlier = replace(lately, before=NOW - timedelta(seconds=1))
    assert not await store.payouts.has_paid(COMPANY, about, earlier)
