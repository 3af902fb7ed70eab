"""What is due for a look: claimed by one at a time, given back, and counted."""

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from sqlalchemy import text

from gateway.app.store import Store
from gateway.payouts.model import PayoutState
from gateway.payouts.schedule import Backlog, Checked, ProbeClaim
from gateway.telemetry.records import Unsettled
from tests.contract.stores.databases import both
from tests.world.stores.due import claim_due
from tests.world.stores.samples import ACCOUNT, NOW, SISTER, attempt, change, of, payout

SENDING, UNKNOWN, NOT_SENT = PayoutState.SENDING, PayoutState.UNKNOWN, PayoutState.NOT_SENT
ACCEPTED, PAID, FAILED = PayoutState.ACCEPTED, PayoutState.PAID, PayoutState.FAILED

LATER = NOW + timedelta(seconds=10)
UNTIL = LATER + timedelta(seconds=60)
NEXT = LATER + timedelta(hours=1)


async def unknown(store: Store, reference: str = "order-1") -> None:
    """Store a payout whose outcome is not known; it is due three seconds after it was made."""
    await store.payouts.add(payout(reference), attempt())
    assert await store.payouts.record(change(SENDING, UNKNOWN, reference=reference))


async def due(store: Store, owner: str = "one", now: datetime = LATER) -> list[str]:
    claimed = await claim_due(store, owner, now, now + timedelta(seconds=60))
    return sorted(each.reference for each in claimed)


def checked(owner: str = "one", **fields: object) -> Checked:
    plain = Checked(
        account_id=ACCOUNT,
        reference="order-1",
        attempt=1,
        state=UNKNOWN,
        owner=owner,
        at=LATER,
        next_check_at=NEXT,
        review=False,
    )
    return replace(plain, **fields)  # type: ignore[arg-type]


@both
async def test_claimed_payouts_have_the_trace_of_their_latest_attempt(store: Store) -> None:
    await store.payouts.add(payout(), replace(attempt(), trace_id="first"))
    await store.payouts.record(change(SENDING, NOT_SENT))
    await store.payouts.claim(payout(), replace(attempt(2), trace_id="second"))
    await store.payouts.record(change(SENDING, UNKNOWN, attempt=2))

    by_key = await store.follow_ups.find_by_key(payout().provider_key)
    [claimed] = await claim_due(store, "one", LATER, UNTIL)
    probe = ProbeClaim(
        account_id=ACCOUNT,
        reference="order-1",
        owner="two",
        at=UNTIL,
        until=UNTIL + timedelta(seconds=60),
        quiet_since=UNTIL,
    )
    probed = await store.follow_ups.claim(probe)

    found = [each and each.trace_id for each in (by_key, claimed, probed)]
    assert found == ["second"] * 3


@both
async def test_payouts_claimed_together_have_their_own_traces(store: Store) -> None:
    for name in ("one", "two", "three"):
        await store.payouts.add(payout(name), replace(attempt(), trace_id=f"trace-{name}"))
        await store.payouts.record(change(SENDING, UNKNOWN, reference=name))

    claimed = await claim_due(store, "worker", LATER, UNTIL)

    assert sorted((each.reference, each.trace_id) for each in claimed) == [
        ("one", "trace-one"),
        ("three", "trace-three"),
        ("two", "trace-two"),
    ]


@pytest.mark.parametrize(
    ("after", "at_s", "found"),
    [
        (UNKNOWN, 2.9, False),
        (UNKNOWN, 3, True),
        (ACCEPTED, 3, True),
        (NOT_SENT, 3, True),
        (PAID, 10**8, False),
        (PayoutState.REJECTED, 10**8, False),
        (FAILED, 10**8, False),
    ],
)
async def test_a_payout_is_due_after_the_delay_of_its_state(
    store: Store, after: PayoutState, at_s: float, found: bool
) -> None:
    await store.payouts.add(payout(), attempt())
    await store.payouts.record(change(SENDING, after))

    claimed = await due(store, now=NOW + timedelta(seconds=at_s))

    assert bool(claimed) is found


@pytest.mark.parametrize(("at_s", "found"), [(59, False), (60, True)])
async def test_an_intent_is_due_when_its_lease_ends(store: Store, at_s: int, found: bool) -> None:
    """Rule R9: until then it belongs to the process that sends it."""
    await store.payouts.add(payout(), attempt())

    assert bool(await due(store, now=NOW + timedelta(seconds=at_s))) is found


async def test_a_recorded_status_query_releases_its_claim(store: Store) -> None:
    await unknown(store)
    await due(store)

    noted = await store.follow_ups.checked(checked())

    [kept] = await store.payouts.attempts(ACCOUNT, "order-1")
    assert noted
    assert (kept.last_probe_at, kept.next_probe_at) == (LATER, NEXT)
    assert await due(store, "two", NEXT - timedelta(microseconds=1)) == []
    assert await due(store, "two", NEXT) == ["order-1"]


async def test_a_status_query_of_a_former_claim_owner_changes_nothing(
    store: Store, second: Store
) -> None:
    await unknown(store)
    await due(store, "one")
    await due(second, "two", UNTIL)

    noted = await store.follow_ups.checked(checked("one", review=True, next_check_at=None))

    [kept] = await store.payouts.attempts(ACCOUNT, "order-1")
    found = await store.payouts.find(ACCOUNT, "order-1")
    assert not noted
    assert kept.last_probe_at is None
    assert found is not None
    assert not found.review
    assert await store.follow_ups.checked(checked("two"))


async def test_a_status_query_of_a_settled_payout_leaves_its_schedule(store: Store) -> None:
    """A reader settled it between the query and its note: it is not in review."""
    await unknown(store)
    await due(store)
    await store.payouts.record(change(UNKNOWN, PAID))

    noted = await store.follow_ups.checked(checked(review=True))

    found = await store.payouts.find(ACCOUNT, "order-1")
    assert noted
    assert found is not None
    assert not found.review
    assert await due(store, "two", NEXT) == []


async def test_a_status_query_of_an_earlier_attempt_leaves_the_schedule(store: Store) -> None:
    """The next attempt is queried when its own lease ends, not at the end of the day."""
    await store.payouts.add(payout(), attempt())
    await store.payouts.record(change(SENDING, NOT_SENT))
    midnight = NOW.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    await due(store, now=midnight)
    again = replace(payout(), state=NOT_SENT)
    await store.payouts.claim(again, attempt(2, started_at=midnight))

    far = midnight + timedelta(days=1)
    await store.follow_ups.checked(checked(state=NOT_SENT, next_check_at=far))

    assert await due(store, "two", midnight + timedelta(seconds=60)) == ["order-1"]


async def test_a_payout_without_a_next_query_is_never_due(store: Store) -> None:
    await unknown(store)
    await due(store)

    await store.follow_ups.checked(checked(next_check_at=None, review=True))

    found = await store.payouts.find(ACCOUNT, "order-1")
    assert found is not None
    assert found.review
    assert await due(store, now=NOW + timedelta(days=400)) == []


@pytest.mark.parametrize("after", [PAID, FAILED, ACCEPTED, NOT_SENT])
async def test_a_new_state_ends_a_review(store: Store, after: PayoutState) -> None:
    """A newer proof replaces the need for a decision by people."""
    await unknown(store)
    await due(store)
    await store.follow_ups.checked(checked(next_check_at=None, review=True))

    await store.payouts.record(change(UNKNOWN, after))

    found = await store.payouts.find(ACCOUNT, "order-1")
    assert found is not None
    assert not found.review


async def test_unresolved_payouts_are_unknown_or_in_review(store: Store) -> None:
    for number, after in enumerate([UNKNOWN, ACCEPTED, PAID, FAILED, NOT_SENT, ACCEPTED]):
        made = NOW - timedelta(minutes=number)
        reference = f"{number}-{after.value}"
        await store.payouts.add(payout(reference, created_at=made), attempt(started_at=made))
        await store.payouts.record(change(SENDING, after, reference=reference))
    await store.payouts.add(payout("sending"), attempt())
    await due(store)
    review = checked(reference="5-accepted", state=ACCEPTED, review=True)
    assert await store.follow_ups.checked(review)

    found = await store.follow_ups.unresolved()

    assert [each.reference for each in found] == ["5-accepted", "0-unknown"]


@both
@pytest.mark.parametrize(
    ("column", "word"),
    [("method", "ted"), ("failure_code", "TIRED"), ("destination", '{"key": "maria@example.com"}')],
)
async def test_a_payout_with_an_unreadable_state_blocks_no_other_payout(
    store: Store, caplog: pytest.LogCaptureFixture, column: str, word: str
) -> None:
    """At its bank or another one: it is left out, logged only by its key, and counted."""
    told: list[str] = []
    store.follow_ups.on_unreadable = told.append
    for reference in ("order-1", "order-2", "order-3"):
        await unknown(store, reference)
    async with store.database.writing() as connection:
        other = text("UPDATE payouts SET provider = 'other' WHERE reference <> 'order-2'")
        await connection.execute(other)
        change = text(f"UPDATE payouts SET {column} = :word WHERE reference = 'order-1'")  # noqa: S608 - of the table above
        await connection.execute(change, {"word": word})

    shown = [each.reference for each in await store.follow_ups.unresolved()]
    taken = await due(store)
    later = LATER + timedelta(seconds=120)

    assert await store.follow_ups.claim(replace(probe(at=later), reference="order-1")) is None
    assert sorted(shown) == taken == ["order-2", "order-3"]
    assert told == ["other"] * 3
    assert caplog.text.count("payout_unreadable provider_key=") == 3
    assert word not in caplog.text


@both
async def test_payouts_are_counted_by_provider_and_state(store: Store) -> None:
    old = NOW - timedelta(hours=1)
    for reference, provider, after, made in [
        ("u-1", "sandbox", UNKNOWN, NOW),
        ("u-2", "sandbox", UNKNOWN, old),
        ("a-1", "other", ACCEPTED, old),
        ("p-1", "third", PAID, old),
    ]:
        row = replace(payout(reference, created_at=made), provider=provider)
        await store.payouts.add(row, attempt(started_at=made))
        await store.payouts.record(change(SENDING, after, reference=reference))
    await due(store)
    await store.follow_ups.checked(checked(reference="u-1", review=True))

    found = {each.provider: each for each in await store.follow_ups.standing()}

    assert found == {
        "sandbox": Unsettled(provider="sandbox", unresolved=2, oldest_at=old, review=1),
    }


@both
async def test_a_payout_is_found_by_its_provider_key(store: Store) -> None:
    await store.payouts.add(payout(), attempt())

    assert await store.follow_ups.find_by_key(payout().provider_key) == payout()
    assert await store.follow_ups.find_by_key("0" * 32) is None


@both
async def test_a_provider_key_of_two_accounts_finds_neither_payout(store: Store) -> None:
    """A key belongs to one payout only within its account."""
    key = payout().provider_key
    sister = replace(payout(account_id=SISTER), provider_key=key)
    await store.payouts.add(payout(), attempt())
    await store.payouts.add(sister, attempt())

    assert await store.follow_ups.find_by_key(key) is None
    assert await store.follow_ups.find_by_key(key, ACCOUNT) == payout()
    assert await store.follow_ups.find_by_key(key, SISTER) == sister


async def test_a_provider_key_unique_to_another_account_is_found(store: Store) -> None:
    """Several of our accounts may share one account at the bank, whose statement shows all."""
    await store.payouts.add(payout(), attempt())

    assert await store.follow_ups.find_by_key(payout().provider_key, SISTER) == payout()


@both
async def test_similar_payouts_have_the_same_amount_and_recipient(store: Store) -> None:
    """Payouts that finally moved no money do not count, nor does the payout itself."""
    other = replace(payout("other-recipient").destination, key="jose@example.com")
    rows = {
        "twin": payout("twin"),
        "other-amount": payout("other-amount", centavos=1),
        "other-recipient": replace(payout("other-recipient"), destination=other),
        "early": payout("early", created_at=NOW - timedelta(hours=1)),
        "failed": payout("failed"),
    }
    for row in rows.values():
        await store.payouts.add(row, attempt(started_at=row.created_at))
    await store.payouts.record(of(change(SENDING, PayoutState.REJECTED, reference="failed")))
    await store.payouts.add(payout(), attempt())

    assert await store.payouts.similar(payout(), NOW - timedelta(minutes=10)) == ["twin"]
    around = await store.payouts.similar_around(payout(), timedelta(minutes=10), 20)
    assert [each.reference for each in around] == ["twin"]


async def test_similar_payouts_of_about_the_same_time_are_limited_to_the_oldest(
    store: Store,
) -> None:
    """A partner may pay the same amount to one recipient for years."""
    for number, minutes in enumerate((-11, -10, 0, 3, 10, 11, 600)):
        made = payout(f"twin-{number}", created_at=NOW + timedelta(minutes=minutes))
        await store.payouts.add(made, attempt(started_at=made.created_at))
    await store.payouts.add(payout(), attempt())

    around = await store.payouts.similar_around(payout(), timedelta(minutes=10), 3)

    assert [each.reference for each in around] == ["twin-1", "twin-2", "twin-3"]
    assert around[1] == payout("twin-2")


async def accepted(store: Store, held_until: datetime | None = None) -> None:
    await store.payouts.add(payout(), attempt())
    step = replace(change(SENDING, ACCEPTED), held_until=held_until)
    assert await store.payouts.record(step)
    await claim_due(store, "one", LATER, UNTIL)


async def test_a_new_state_keeps_the_deadline_of_a_hold(store: Store) -> None:
    await accepted(store, NEXT)

    [held] = [await store.payouts.find(ACCOUNT, "order-1")]

    assert held is not None
    assert held.held_until == NEXT


@pytest.mark.parametrize(("before", "after"), [(None, NEXT), (NEXT, None), (NEXT, LATER)])
async def test_a_status_query_updates_the_deadline_of_a_hold(
    store: Store, before: datetime | None, after: datetime | None
) -> None:
    await accepted(store, before)

    assert await store.follow_ups.checked(checked(state=ACCEPTED, held_until=after))

    held = await store.payouts.find(ACCOUNT, "order-1")
    assert held is not None
    assert (held.held_until, held.state) == (after, ACCEPTED)


async def test_a_status_query_of_a_settled_payout_stores_no_hold(store: Store) -> None:
    await accepted(store)
    assert await store.payouts.record(change(ACCEPTED, PAID))

    await store.follow_ups.checked(checked(state=ACCEPTED, held_until=NEXT))

    paid = await store.payouts.find(ACCOUNT, "order-1")
    assert paid is not None
    assert (paid.held_until, paid.state) == (None, PAID)


def probe(owner: str = "panel", at: datetime = NOW) -> ProbeClaim:
    """A look at ``order-1`` that is asked for at an instant."""
    return ProbeClaim(
        account_id=ACCOUNT,
        reference="order-1",
        owner=owner,
        at=at,
        until=at + timedelta(seconds=60),
        quiet_since=at - timedelta(seconds=5),
    )


async def test_one_payout_is_claimed_before_its_schedule(store: Store) -> None:
    """By one process at a time; the claim of a dead process expires."""
    await unknown(store)

    first = await store.follow_ups.claim(probe("one"))
    second = await store.follow_ups.claim(probe("two"))
    later = await store.follow_ups.claim(probe("two", NOW + timedelta(seconds=61)))

    assert first is not None
    assert (first.reference, second) == ("order-1", None)
    assert later is not None


async def test_a_recently_queried_payout_is_not_claimed(store: Store) -> None:
    await unknown(store)
    assert await store.follow_ups.claim(probe("me")) is not None
    looked = replace(checked(), at=NOW, owner="me")
    assert await store.follow_ups.checked(looked)

    soon = await store.follow_ups.claim(probe("me", NOW + timedelta(seconds=4)))
    late = await store.follow_ups.claim(probe("me", NOW + timedelta(seconds=5)))

    assert soon is None
    assert late is not None


@both
async def test_of_two_concurrent_claims_of_a_payout_one_succeeds(
    store: Store, second: Store
) -> None:
    await unknown(store)

    claimed = await asyncio.gather(
        store.follow_ups.claim(probe("one")), second.follow_ups.claim(probe("two"))
    )

    assert [each is not None for each in claimed].count(True) == 1


@both
async def test_due_unclaimed_payouts_are_counted_by_bank(store: Store) -> None:
    """Operators look for payouts that are stuck: a claimed one is being queried."""
    for reference in ("o-1", "o-2", "o-3"):
        await unknown(store, reference)
    found = [await store.follow_ups.backlog(at) for at in (NOW, LATER)]

    await claim_due(store, "one", LATER, UNTIL)
    found.append(await store.follow_ups.backlog(LATER))

    due_since = NOW + timedelta(seconds=3)
    due = Backlog(provider=payout().provider, waiting=3, oldest_at=due_since)
    assert found == [[], [due], []]
