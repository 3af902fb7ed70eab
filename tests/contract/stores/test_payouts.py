"""Payouts: one row per reference, changed only from the expected state."""

import random
from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.app.store import Store
from gateway.banks.port.payout_orders import (
    AccountType,
    BankDestination,
    FailureCode,
    PayoutMethod,
)
from gateway.payouts.model import (
    FINAL_STATES,
    SUCCESSORS,
    Change,
    Failure,
    Payout,
    PayoutState,
)
from tests.contract.stores.databases import both
from tests.world.stores.samples import (
    ACCOUNT,
    EVIDENCE,
    NOW,
    SISTER,
    attempt,
    change,
    held,
    of,
    payout,
)

HELD = PayoutState.HELD
SENDING, UNKNOWN, NOT_SENT = PayoutState.SENDING, PayoutState.UNKNOWN, PayoutState.NOT_SENT
ACCEPTED, PAID = PayoutState.ACCEPTED, PayoutState.PAID
REJECTED, FAILED = PayoutState.REJECTED, PayoutState.FAILED

# 4096 bytes that do not compress: PostgreSQL has no place for them in an index.
LONGEST = "".join(map(chr, random.Random(1).choices(range(0x20000, 0x2A6DF), k=1024)))

# How each state is reached from a fresh payout.
ROADS: dict[PayoutState, list[PayoutState]] = {
    SENDING: [],
    UNKNOWN: [UNKNOWN],
    NOT_SENT: [NOT_SENT],
    ACCEPTED: [UNKNOWN, ACCEPTED],
    PAID: [ACCEPTED, PAID],
    REJECTED: [REJECTED],
    FAILED: [ACCEPTED, FAILED],
}
ALLOWED = [
    (before, after)
    for before, successors in SUCCESSORS.items()
    for after in sorted(successors)
    if after is not SENDING and before is not HELD
]


async def standing(store: Store, state: PayoutState) -> Payout:
    if state is HELD:
        waiting = held(payout(), NOW)
        assert await store.payouts.add(waiting, None) is None
        return waiting
    await store.payouts.add(payout(), attempt())
    before = SENDING
    for after in ROADS[state]:
        assert await store.payouts.record(change(before, after))
        before = after
    found = await store.payouts.find(ACCOUNT, "order-1")
    assert found is not None
    assert found.state is state
    return found


@both
async def test_a_stored_payout_is_read_back_unchanged(store: Store) -> None:
    added = await store.payouts.add(payout(), attempt())

    assert added is None
    assert await store.payouts.find(ACCOUNT, "order-1") == payout()
    assert await store.payouts.attempts(ACCOUNT, "order-1") == [attempt()]


@both
async def test_a_payout_to_a_bank_account_is_read_back_with_every_field(store: Store) -> None:
    destination = BankDestination(
        name="",
        tax_number="52998224725",
        bank_number="341",
        branch="0001",
        account="123456-7",
        account_type=AccountType.SAVINGS,
    )
    full = replace(
        payout(),
        method=PayoutMethod.BANK_ACCOUNT,
        destination=destination,
        state=FAILED,
        settled_at=NOW,
        provider_id="p-1",
        e2e_id="E1",
        failure=Failure(FailureCode.LIMIT_EXCEEDED, forbidden=True),
        review=True,
    )
    ended = replace(
        attempt(),
        outcome=FAILED,
        evidence=EVIDENCE,
        ended_at=NOW,
        last_probe_at=NOW,
        next_probe_at=NOW + timedelta(hours=1),
    )
    await store.payouts.add(full, ended)

    found = await store.payouts.find(ACCOUNT, "order-1")

    assert found == full
    assert await store.payouts.attempts(ACCOUNT, "order-1") == [ended]


@both
@pytest.mark.parametrize(
    "reference",
    [
        "Order-1",
        "order-1 ",
        " order-1",
        "a/b%2Fc?d=1",
        "cafe\u0301",
        "caf\u00e9",
        "\u202eorder",
        "'; DROP TABLE payouts; --",
        LONGEST,
    ],
    ids=lambda text: ascii(text[:12]),
)
async def test_a_reference_may_be_any_text_and_is_compared_exactly(
    store: Store, reference: str
) -> None:
    """Never trimmed, folded or normalised; up to 1024 code points of any script."""
    await store.payouts.add(payout(), attempt())

    added = await store.payouts.add(payout(reference), attempt())

    found = await store.payouts.find(ACCOUNT, reference)
    assert added is None
    assert found == payout(reference)
    assert await store.payouts.find(ACCOUNT, "order-1") == payout()


async def test_a_reference_belongs_to_its_account(store: Store) -> None:
    await store.payouts.add(payout(), attempt())

    added = await store.payouts.add(payout(account_id=SISTER), attempt())

    assert added is None
    assert await store.payouts.find(SISTER, "order-1") == payout(account_id=SISTER)


async def test_a_step_writes_only_its_own_columns(store: Store) -> None:
    await store.payouts.add(payout(), attempt())
    accepted = of(change(SENDING, ACCEPTED), provider_id="p-1", e2e_id="E1", evidence=EVIDENCE)
    paid = of(change(ACCEPTED, PAID), at=NOW + timedelta(hours=1), settled_at=NOW)

    first = await store.payouts.record(accepted)
    second = await store.payouts.record(paid)

    assert (first, second) == (True, True)
    assert await store.payouts.find(ACCOUNT, "order-1") == replace(
        payout(),
        state=PAID,
        updated_at=paid.at,
        settled_at=NOW,
        provider_id="p-1",
        e2e_id="E1",
    )
    assert await store.payouts.attempts(ACCOUNT, "order-1") == [
        replace(attempt(), outcome=PAID, evidence=EVIDENCE, ended_at=accepted.at)
    ]


async def test_a_failure_is_stored_with_its_answer(store: Store) -> None:
    await store.payouts.add(payout(), attempt())
    failure = Failure(FailureCode.OWNER_MISMATCH, forbidden=True)

    await store.payouts.record(of(change(SENDING, REJECTED), failure=failure))

    found = await store.payouts.find(ACCOUNT, "order-1")
    assert found is not None
    assert found.failure == failure


@pytest.mark.parametrize(("before", "after"), ALLOWED)
async def test_every_allowed_state_change_is_made(
    store: Store, before: PayoutState, after: PayoutState
) -> None:
    await standing(store, before)

    done = await store.payouts.record(change(before, after))

    found = await store.payouts.find(ACCOUNT, "order-1")
    assert done
    assert found is not None
    assert found.state is after


@pytest.mark.parametrize("final", sorted(FINAL_STATES))
async def test_a_final_state_is_never_left(store: Store, final: PayoutState) -> None:
    there = await standing(store, final)

    done = [await store.payouts.record(change(before, after)) for before, after in sorted(ALLOWED)]
    claimed = await store.payouts.claim(there, attempt(2))

    assert not any(done)
    assert not claimed
    assert await store.payouts.find(ACCOUNT, "order-1") == there


@pytest.mark.parametrize(
    "lost",
    [
        change(UNKNOWN, PAID),
        change(SENDING, PAID, attempt=2),
        change(SENDING, PAID, attempt=0),
        change(SENDING, PAID, reference="order-2"),
        of(change(SENDING, PAID), account_id=SISTER),
    ],
    ids=["state", "later attempt", "earlier attempt", "reference", "account"],
)
async def test_a_change_from_another_state_is_refused(store: Store, lost: Change) -> None:
    await store.payouts.add(payout(), attempt())

    done = await store.payouts.record(lost)

    assert not done
    assert await store.payouts.find(ACCOUNT, "order-1") == payout()
    assert await store.payouts.attempts(ACCOUNT, "order-1") == [attempt()]


async def test_a_payout_proven_unsent_is_claimed_with_the_next_attempt(store: Store) -> None:
    there = await standing(store, NOT_SENT)
    next_day = NOW + timedelta(days=1)
    again = replace(attempt(2, started_at=next_day), provider="other")

    done = await store.payouts.claim(replace(there, date=next_day.date()), again)

    assert done
    assert await store.payouts.find(ACCOUNT, "order-1") == replace(
        payout(),
        state=SENDING,
        attempt=2,
        provider="other",
        date=next_day.date(),
        lease_until=again.lease_until,
        updated_at=next_day,
    )
    numbers = [each.number for each in await store.payouts.attempts(ACCOUNT, "order-1")]
    assert numbers == [1, 2]


async def test_a_claim_of_an_attempt_already_made_is_refused(store: Store) -> None:
    """Another process has claimed and sent it meanwhile, and has proven it unsent."""
    there = await standing(store, NOT_SENT)
    await store.payouts.claim(there, attempt(2))
    await store.payouts.record(change(SENDING, NOT_SENT, attempt=2))

    late = await store.payouts.claim(there, attempt(2))
    next_one = await store.payouts.claim(there, attempt(3))

    assert (late, next_one) == (False, True)


@pytest.mark.parametrize("state", sorted(set(PayoutState) - {NOT_SENT}))
async def test_only_a_payout_proven_unsent_is_claimed(store: Store, state: PayoutState) -> None:
    there = await standing(store, state)

    done = await store.payouts.claim(there, attempt(2))

    assert not done
    assert await store.payouts.find(ACCOUNT, "order-1") == there


async def test_an_attempt_proven_unsent_keeps_its_outcome_when_the_payout_fails(
    store: Store,
) -> None:
    await standing(store, NOT_SENT)

    await store.payouts.record(change(NOT_SENT, FAILED))

    (only,) = await store.payouts.attempts(ACCOUNT, "order-1")
    assert only.outcome is NOT_SENT
