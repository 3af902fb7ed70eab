"""The database distinguishes payouts never sent from payouts the bank did not execute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.app.store import Store
from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.providers import Evidence, Phase
from gateway.core.company_scope import EVERY_COMPANY
from gateway.overview.model import HOUR, Span
from gateway.overview.store import OverviewRecords
from gateway.payouts.documents import Hit
from gateway.payouts.model import (
    Absence,
    Certainty,
    CertaintySought,
    Change,
    EventKind,
    Failure,
    PayoutState,
    certainty_of,
)
from gateway.payouts.search import PayoutDirectory, PayoutFilterBody, PayoutQuery
from tests.contract.stores.databases import both
from tests.world.stores.samples import ACCOUNT, NOW, attempt, change, payout

S = PayoutState
THIS_HOUR = NOW.replace(minute=0, second=0, microsecond=0)
UNREACHED = Evidence(phase=Phase.CONNECTING, bytes_left=False, reason="refused")
LIMITED = Evidence(phase=Phase.ANSWERED, bytes_left=True, reason="rate_limited", http_status=429)
LOST = Evidence(phase=Phase.SENT, bytes_left=True, reason="timeout")
ABSENT = Evidence(phase=Phase.ANSWERED, bytes_left=True, reason="absent")
UNSENT_CODE = Failure(FailureCode.NOT_SENT)


def step(before: PayoutState, after: PayoutState, evidence: Evidence | None = None) -> Change:
    return replace(change(before, after), evidence=evidence)


NO_BYTE = step(S.SENDING, S.NOT_SENT, UNREACHED)
LOOKED_UP = (step(S.SENDING, S.UNKNOWN, LOST), step(S.UNKNOWN, S.NOT_SENT, ABSENT))
DAY_OVER = replace(step(S.NOT_SENT, S.FAILED), failure=UNSENT_CODE, cause=EventKind.EXPIRED)
CLAIMED = "the next try"
"""In the place of a step."""

STORIES: dict[str, tuple[Certainty, Sequence[Change | str]]] = {
    "no-byte": (Certainty.NOT_SENT, [NO_BYTE]),
    "no-byte-in-two-tries": (Certainty.NOT_SENT, [NO_BYTE, CLAIMED, NO_BYTE]),
    "no-byte-and-the-day-over": (Certainty.NOT_SENT, [NO_BYTE, DAY_OVER]),
    # The sender's own word came late: what was assumed of its lease is not so.
    "lease-over-but-no-byte": (
        Certainty.NOT_SENT,
        [step(S.SENDING, S.UNKNOWN, LOST), step(S.UNKNOWN, S.NOT_SENT, UNREACHED)],
    ),
    "looked-up": (Certainty.NOT_EXECUTED, LOOKED_UP),
    "looked-up-and-the-day-over": (Certainty.NOT_EXECUTED, [*LOOKED_UP, DAY_OVER]),
    "told-by-the-bank": (Certainty.NOT_EXECUTED, [step(S.SENDING, S.NOT_SENT, LIMITED)]),
    "looked-up-and-then-no-byte": (Certainty.NOT_EXECUTED, [*LOOKED_UP, CLAIMED, NO_BYTE]),
    "a-bank-that-would-pay-again": (
        Certainty.NOT_EXECUTED,
        [LOOKED_UP[0], replace(step(S.UNKNOWN, S.FAILED, ABSENT), failure=UNSENT_CODE)],
    ),
    "looked-up-and-then-paid": (
        Certainty.SETTLED,
        [*LOOKED_UP, CLAIMED, replace(step(S.SENDING, S.PAID), settled_at=NOW)],
    ),
    "rejected": (
        Certainty.CONFIRMED_REJECTED,
        [replace(step(S.SENDING, S.REJECTED, LIMITED), failure=Failure(FailureCode.REJECTED))],
    ),
}


@pytest.fixture
async def told(store: Store) -> Store:
    for reference, (_, steps) in STORIES.items():
        about, number = payout(reference), 1
        await store.payouts.add(about, attempt())
        for each in steps:
            if isinstance(each, Change):
                one = replace(each, reference=reference, attempt=number)
                assert await store.payouts.record(one)
            else:
                number += 1
                again = replace(about, attempt=number, state=S.SENDING)
                assert await store.payouts.claim(again, attempt(number))
    return store


def of(*words: Certainty) -> set[str]:
    return {reference for reference, (word, _) in STORIES.items() if word in words}


@both
async def test_a_payout_shows_which_kind_of_absence_is_proven(told: Store):
    stored = {each: await told.payouts.find(ACCOUNT, each) for each in STORIES}

    words = {each: certainty_of(found) for each, found in stored.items() if found is not None}

    assert words == {reference: word for reference, (word, _) in STORIES.items()}


@both
@pytest.mark.parametrize(
    ("sought", "words"),
    [
        (CertaintySought.NOT_SENT, (Certainty.NOT_SENT, Certainty.NOT_EXECUTED)),
        (CertaintySought.NEVER_SENT, (Certainty.NOT_SENT,)),
        (CertaintySought.NOT_EXECUTED, (Certainty.NOT_EXECUTED,)),
        (CertaintySought.CONFIRMED_REJECTED, (Certainty.CONFIRMED_REJECTED,)),
    ],
)
async def test_a_search_for_unsent_payouts_includes_both_kinds_of_absence(
    told: Store, sought: CertaintySought, words: Sequence[Certainty]
):
    directory = PayoutDirectory(told.database)
    query = PayoutQuery(
        wanted=PayoutFilterBody(certainty=sought), start=None, end=None, limit=len(STORIES)
    )

    found, _ = await directory.page(query, EVERY_COMPANY)

    assert {each.payout.reference for each in found} == of(*words)
    everything = await directory.counts(query, EVERY_COMPANY)
    counted = sum(each.count for each in everything.by_state if each.certainty in words)
    assert counted == len(of(*words))


@both
async def test_the_figures_of_an_incident_count_both_kinds_of_absence(told: Store):
    found = await PayoutDirectory(told.database).hit("sandbox", NOW, EVERY_COMPANY)

    counted = {each.hit: each.count for each in found}
    assert counted == {
        Hit.NOT_SENT: len(of(Certainty.NOT_SENT)),
        Hit.NOT_EXECUTED: len(of(Certainty.NOT_EXECUTED)),
    }


@both
@pytest.mark.parametrize("is_remembered", [False, True])
async def test_hourly_figures_count_both_kinds_of_absence(told: Store, *, is_remembered: bool):
    """Including stored hours: a payout that failed at the end of its day keeps its proof."""
    records = OverviewRecords(told.database)
    open_ones = [each for each, (_, steps) in STORIES.items() if steps[-1].after is S.NOT_SENT]
    for reference in open_ones:
        number = 1 + sum(each == CLAIMED for each in STORIES[reference][1])
        await told.payouts.record(replace(DAY_OVER, reference=reference, attempt=number))

    if is_remembered:
        assert await records.remember(Span(THIS_HOUR, THIS_HOUR + HOUR)) == 1

    found = await records.hours(Span(THIS_HOUR, THIS_HOUR + HOUR), EVERY_COMPANY)
    counted = {(each.state, each.certainty): each.count for each in found}
    assert counted == {
        (S.FAILED, Certainty.NOT_SENT): len(of(Certainty.NOT_SENT)),
        (S.FAILED, Certainty.NOT_EXECUTED): len(of(Certainty.NOT_EXECUTED)),
        (S.PAID, Certainty.SETTLED): 1,
        (S.REJECTED, Certainty.CONFIRMED_REJECTED): 1,
    }


@both
@pytest.mark.parametrize(
    ("before", "absence", "word"),
    [
        (S.UNKNOWN, Absence.PEOPLE, Certainty.DECIDED_UNPAID),
        (S.ACCEPTED, None, Certainty.CONFIRMED_REJECTED),
    ],
)
async def test_a_payout_closed_by_people_has_its_own_certainty_without_an_answer_of_the_bank(
    store: Store, before: PayoutState, absence: Absence | None, word: Certainty
):
    await store.payouts.add(payout(), attempt())
    await store.payouts.record(step(S.SENDING, before, LOST))
    closed = replace(
        step(before, S.FAILED), failure=Failure(FailureCode.OTHER), cause=EventKind.DECIDED
    )

    await store.payouts.record(replace(closed, at=NOW + timedelta(minutes=1)))

    found = await store.payouts.find(ACCOUNT, "order-1")
    assert found is not None
    assert (found.absence, certainty_of(found)) == (absence, word)
    directory = PayoutDirectory(store.database)
    for sought in CertaintySought:
        query = PayoutQuery(
            wanted=PayoutFilterBody(certainty=sought), start=None, end=None, limit=2
        )
        listed, _ = await directory.page(query, EVERY_COMPANY)
        assert len(listed) == (word in sought.words), sought
