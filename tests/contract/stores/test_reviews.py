"""Opinions in the store, and the step that ends a review."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.app.store import Store
from gateway.banks.port.payout_orders import FailureCode
from gateway.payouts.model import Failure, PayoutState, Verdict
from tests.contract.stores.databases import both
from tests.contract.stores.reviews import MARIA, PAID, UNKNOWN, in_review
from tests.world.stores.samples import ACCOUNT, NOW, change, event, of

FAILED = PayoutState.FAILED

JOAO = replace(MARIA, by="joão", at=NOW + timedelta(seconds=1))


async def test_opinions_are_read_back_oldest_first(store: Store) -> None:
    await in_review(store)

    first = await store.payouts.add_opinion(MARIA, event())
    both = await store.payouts.add_opinion(JOAO, event())

    assert (first, both) == ([MARIA], [MARIA, JOAO])
    assert await store.payouts.opinions(ACCOUNT, "order-1") == [MARIA, JOAO]
    assert await store.payouts.opinions(ACCOUNT, "order-2") == []


@pytest.mark.parametrize("later", [{"attempt": 2}, {"state": PayoutState.ACCEPTED}], ids=str)
async def test_a_user_gives_a_new_opinion_in_a_later_review(store: Store, later: dict) -> None:
    """Their opinion of an earlier attempt or state is in the audit log."""
    await in_review(store)
    await store.payouts.add_opinion(MARIA, event())
    anew = replace(MARIA, verdict=Verdict.FAILED, at=NOW + timedelta(days=1), **later)

    given = await store.payouts.add_opinion(anew, event())

    assert given == [anew]


@both
async def test_each_person_has_one_opinion(store: Store) -> None:
    """The second one is neither stored nor audited."""
    await in_review(store)
    await store.payouts.add_opinion(MARIA, event())
    before = await store.audit.verify()

    found = await store.payouts.add_opinion(replace(MARIA, verdict=Verdict.FAILED), event())

    assert found == [MARIA]
    assert await store.audit.verify() == before


@both
async def test_one_of_two_concurrent_opinions_sees_both(store: Store, second: Store) -> None:
    """Otherwise two matching opinions would decide nothing."""
    await in_review(store)

    found = await asyncio.gather(
        store.payouts.add_opinion(MARIA, event()), second.payouts.add_opinion(JOAO, event())
    )

    assert max(map(len, found)) == 2


@pytest.mark.parametrize("verdict", Verdict)
async def test_a_decision_ends_payout_and_review(store: Store, verdict: Verdict) -> None:
    await in_review(store)
    failure = None if verdict is Verdict.PAID else Failure(FailureCode.OTHER)
    before = await store.audit.verify()

    done = await store.payouts.decide(
        of(change(UNKNOWN, verdict.state), failure=failure), [], event("payout.decided")
    )

    found = await store.payouts.find(ACCOUNT, "order-1")
    assert done
    assert found is not None
    assert (found.state, found.review, found.failure) == (verdict.state, False, failure)
    assert await store.follow_ups.unresolved() == []
    assert await store.audit.verify() == before + 1


@both
async def test_a_payout_that_moved_meanwhile_is_not_decided(store: Store) -> None:
    """Rule R8: an outcome proven by the bank is final."""
    await in_review(store)
    await store.payouts.record(change(UNKNOWN, PAID))
    before = await store.audit.verify()

    done = await store.payouts.decide(change(UNKNOWN, FAILED), [], event())

    found = await store.payouts.find(ACCOUNT, "order-1")
    assert not done
    assert found is not None
    assert found.state is PAID
    assert await store.audit.verify() == before


async def test_of_two_concurrent_decisions_one_succeeds(store: Store, second: Store) -> None:
    await in_review(store)

    done = await asyncio.gather(
        store.payouts.decide(change(UNKNOWN, PAID), [], event()),
        second.payouts.decide(change(UNKNOWN, FAILED), [], event()),
    )

    assert sorted(done) == [False, True]


@both
async def test_a_decision_is_valid_only_while_its_opinions_are(store: Store, second: Store) -> None:
    """Of a concurrent withdrawal and decision one succeeds; the withdrawal is audited."""
    await in_review(store)
    await store.payouts.add_opinion(MARIA, event())
    await store.payouts.add_opinion(JOAO, event())

    done = await asyncio.gather(
        store.payouts.withdraw_opinion(MARIA, event()),
        second.payouts.decide(change(UNKNOWN, PAID), [MARIA, JOAO], event()),
    )

    found = await store.payouts.find(ACCOUNT, "order-1")
    given = await store.payouts.opinions(ACCOUNT, "order-1")
    assert found is not None
    assert sorted(done) == [False, True]
    assert (found.state is PAID) is done[1]
    assert given == [MARIA.withdrawn() if done[0] else MARIA, JOAO]
    assert not await store.payouts.withdraw_opinion(MARIA, event())
