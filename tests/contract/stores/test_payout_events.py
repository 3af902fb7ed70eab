"""Payout events are stored together with the change they record."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest
from sqlalchemy import func, select, text

from gateway.app.store import Store
from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.providers import Evidence, Phase
from gateway.callbacks.model import CallbackState
from gateway.callbacks.store import CallbackRecords
from gateway.core.storage import StoreUnavailable
from gateway.payouts import store as payout_store
from gateway.payouts.events import noticed, probed
from gateway.payouts.model import Change, EventKind, Failure, Opinion, PayoutState, Verdict
from gateway.payouts.schedule import Checked
from gateway.payouts.store import EventSealing
from gateway.security.keys import Derivation
from gateway.store.tables.core import payout_events
from tests.contract.stores.databases import both
from tests.world.store import open_store
from tests.world.stores import samples
from tests.world.stores.due import claim_due
from tests.world.stores.patience import LONG
from tests.world.stores.samples import ACCOUNT, NOW, SISTER, attempt, change, of, payout

SENDING, UNKNOWN, NOT_SENT = PayoutState.SENDING, PayoutState.UNKNOWN, PayoutState.NOT_SENT
ACCEPTED, PAID, FAILED = PayoutState.ACCEPTED, PayoutState.PAID, PayoutState.FAILED
REJECTED = PayoutState.REJECTED
SEALING = EventSealing(Derivation({"k1": b"k" * 32}, "k1"))
OTHER_KEY = EventSealing(Derivation({"k2": b"o" * 32}, "k2"))
ANSWER = Evidence(
    phase=Phase.ANSWERED,
    bytes_left=True,
    reason="listed",
    http_status=422,
    provider_code="CANARY-1",
)
LONG_AGO = datetime(2020, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
async def sealed(store: Store) -> AsyncIterator[Store]:
    """The store, opened with the key of what was said."""
    opened = open_store(store.url, LONG, facts=SEALING)
    yield opened
    await opened.close()


async def told(store: Store, reference: str = "order-1") -> list[tuple[str, int, str]]:
    """Return kind, try and state of each event."""
    found = await store.payouts.events(ACCOUNT, reference)
    return [
        (each.kind.value, each.attempt, each.after.value if each.after else "") for each in found
    ]


async def count(store: Store) -> int:
    async with store.database.reading() as connection:
        asked = select(func.count()).select_from(payout_events)
        return int((await connection.execute(asked)).scalar_one())


AFTER = [UNKNOWN, NOT_SENT, ACCEPTED, PAID, REJECTED, FAILED]


async def test_a_step_writes_exactly_its_own_event(store: Store) -> None:
    expected, found = {}, {}
    for after, cause in product(AFTER, EventKind):
        reference = f"{after.value}-{cause.value}"
        await store.payouts.add(payout(reference), attempt())
        step = of(change(SENDING, after), cause=cause, reference=reference)
        assert await store.payouts.record(step)
        expected[reference] = [("stored", 1, "sending"), (cause.value, 1, after.value)]
        found[reference] = await told(store, reference)

    assert found == expected


async def test_a_second_step_writes_a_second_event(store: Store) -> None:
    await store.payouts.add(payout(), attempt())
    await store.payouts.record(change(SENDING, UNKNOWN))
    found = of(change(UNKNOWN, PAID), cause=EventKind.PROBED, at=NOW + timedelta(seconds=9))
    await store.payouts.record(found)

    assert (await told(store))[1:] == [("answered", 1, "unknown"), ("probed", 1, "paid")]


async def test_another_attempt_is_recorded_as_stored_again(store: Store) -> None:
    await store.payouts.add(payout(), attempt())
    await store.payouts.record(change(SENDING, NOT_SENT))
    later = attempt(2, started_at=NOW + timedelta(seconds=5))

    assert await store.payouts.claim(replace(payout(), attempt=2), later)

    assert (await told(store))[2:] == [("stored", 2, "sending")]


async def test_steps_that_were_not_made_have_no_event(store: Store, second: Store) -> None:
    """An order of a rival, a lost step and a lost claim leave no event."""
    await store.payouts.add(payout(), attempt())
    await second.payouts.add(payout(), attempt())
    assert not await store.payouts.record(change(UNKNOWN, PAID))
    assert not await store.payouts.claim(replace(payout(), attempt=2), attempt(2))

    assert await told(store) == [("stored", 1, "sending")]


@both
async def test_concurrent_writes_leave_one_event_for_each_change(
    store: Store, second: Store
) -> None:
    """Batches write the same events as single changes, whichever of two nodes wins."""
    references = [f"o-{number}" for number in range(40)]
    nodes = [store, second]
    await asyncio.gather(
        *(node.payouts.add(payout(each), attempt()) for each in references for node in nodes)
    )
    done = await asyncio.gather(
        *(
            node.payouts.record(change(SENDING, PAID, reference=each))
            for each in references
            for node in nodes
        )
    )

    assert sum(done) == 40
    assert await count(store) == 80
    for each in references:
        assert await told(store, each) == [("stored", 1, "sending"), ("answered", 1, "paid")]


@both
async def test_a_change_is_rolled_back_when_its_event_cannot_be_stored(store: Store) -> None:
    """Payout and event are one transaction."""
    async with store.database.writing() as connection:
        await connection.execute(text("ALTER TABLE payout_events RENAME TO elsewhere"))
    try:
        with pytest.raises(StoreUnavailable):
            await store.payouts.add(payout(), attempt())
    finally:
        async with store.database.writing() as connection:
            await connection.execute(text("ALTER TABLE elsewhere RENAME TO payout_events"))

    assert await store.payouts.find(ACCOUNT, "order-1") is None
    assert await count(store) == 0


async def test_a_sender_that_dies_before_its_outcome_leaves_a_stored_event(
    store: Store, second: Store
) -> None:
    """After its first transaction: the order is stored, and nothing shows that it was sent."""
    await store.payouts.add(payout(), attempt())

    assert await told(second) == [("stored", 1, "sending")]

    expired = of(change(SENDING, UNKNOWN), cause=EventKind.EXPIRED)
    await second.payouts.record(expired)
    assert (await told(second))[1:] == [("expired", 1, "unknown")]


@both
async def test_recorded_words_are_read_back(sealed: Store) -> None:
    await sealed.payouts.add(payout(), attempt())
    step = of(
        change(SENDING, REJECTED),
        evidence=ANSWER,
        provider_id="CANARY-2",
        e2e_id="CANARY-3",
        failure=Failure(FailureCode.INSUFFICIENT_FUNDS),
    )
    await sealed.payouts.record(step)

    [stored, answered] = await sealed.payouts.events(ACCOUNT, "order-1")

    assert stored.facts == {}
    assert answered.facts == {
        "phase": "answered",
        "bytes_left": True,
        "reason": "listed",
        "http_status": 422,
        "provider_code": "CANARY-1",
        "provider_id": "CANARY-2",
        "e2e_id": "CANARY-3",
        "failure": "INSUFFICIENT_FUNDS",
    }


async def everything(store: Store) -> str:
    """Return all that the table holds, as one text."""
    async with store.database.reading() as connection:
        rows: Sequence[object] = (await connection.execute(select(payout_events))).all()
    return repr(rows)


@both
async def test_recorded_words_are_encrypted(sealed: Store) -> None:
    """Neither words nor anything of the payout: reference, tax number, key, name or amount."""
    await sealed.payouts.add(payout("CANARY-REFERENCE"), attempt())
    step = of(
        change(SENDING, PAID, reference="CANARY-REFERENCE"),
        evidence=ANSWER,
        provider_id="CANARY-2",
        e2e_id="CANARY-3",
    )
    await sealed.payouts.record(step)

    seen = await everything(sealed)

    for canary in ("CANARY", "52998224725", "529.982", "maria@", "Maria", "1050", "10.50"):
        assert canary.lower() not in seen.lower()
    assert "listed" not in seen


async def test_facts_that_must_not_be_stored_are_left_out(sealed: Store) -> None:
    """The list of allowed facts decides, whatever the caller of the event passes."""
    await sealed.payouts.add(payout(), attempt())
    event = probed(payout(), "not_found", NOW, NOW, {"tax_number": "52998224725", "reason": "x"})
    await CallbackRecords(sealed.database).handled("none", CallbackState.DONE, NOW, None, event)

    *_, found = await sealed.payouts.events(ACCOUNT, "order-1")

    assert set(found.facts) == {"found", "asked_at", "reason"}


async def test_without_the_key_events_are_shown_without_words(store: Store, sealed: Store) -> None:
    """A command without the key writes no words in clear, and shows none."""
    await sealed.payouts.add(payout(), attempt())
    await sealed.payouts.record(of(change(SENDING, UNKNOWN), evidence=ANSWER))
    await store.payouts.record(of(change(UNKNOWN, PAID), evidence=ANSWER, at=NOW + timedelta(1)))

    for node in (store, open_store(store.url, LONG, facts=OTHER_KEY)):
        found = await node.payouts.events(ACCOUNT, "order-1")
        assert [each.after for each in found] == [SENDING, UNKNOWN, PAID]
        assert [dict(each.facts) for each in found] == [{}, {}, {}]
        if node is not store:
            await node.close()
    assert (await sealed.payouts.events(ACCOUNT, "order-1"))[2].facts == {}


@both
async def test_words_sealed_for_one_payout_do_not_open_for_another(sealed: Store) -> None:
    """A row copied to another payout cannot be opened there."""
    for reference in ("order-1", "order-2"):
        await sealed.payouts.add(payout(reference), attempt())
    await sealed.payouts.record(of(change(SENDING, PAID), evidence=ANSWER))
    copied = (
        "INSERT INTO payout_events (account_id, reference_sha256, attempt, kind, at, after, "
        "sealed_facts) SELECT o.account_id, o.reference_sha256, e.attempt, e.kind, e.at, e.after, "
        "e.sealed_facts FROM payout_events e, payouts o "
        "WHERE e.kind = 'answered' AND o.reference = 'order-2'"
    )
    async with sealed.database.writing() as connection:
        await connection.execute(text(copied))

    *_, moved = await sealed.payouts.events(ACCOUNT, "order-2")

    assert (moved.after, moved.facts) == (PAID, {})


async def test_a_query_without_a_change_is_recorded_with_its_check(sealed: Store) -> None:
    await sealed.payouts.add(payout(), attempt())
    await sealed.payouts.record(change(SENDING, UNKNOWN))
    later = NOW + timedelta(seconds=10)
    await claim_due(sealed, "one", later, later + timedelta(minutes=1))
    look = Checked(
        account_id=ACCOUNT,
        reference="order-1",
        attempt=1,
        state=UNKNOWN,
        owner="one",
        at=later,
        next_check_at=later,
        review=False,
        heard=probed(payout(), "not_found", later, later, {}),
    )

    assert await sealed.follow_ups.checked(look)
    assert not await sealed.follow_ups.checked(look)

    assert (await told(sealed))[2:] == [("probed", 1, "")]
    assert (await sealed.payouts.events(ACCOUNT, "order-1"))[2].facts["found"] == "not_found"


async def test_an_opinion_is_reported_once(sealed: Store) -> None:
    """With its author and verdict; the reason is stored with the opinion."""
    await sealed.payouts.add(payout(), attempt())
    await sealed.payouts.record(change(SENDING, UNKNOWN))
    opinion = Opinion(
        account_id=ACCOUNT,
        reference="order-1",
        verdict=Verdict.PAID,
        reason="CANARY",
        by="maria",
        at=NOW + timedelta(days=1),
        attempt=1,
        state=UNKNOWN,
    )

    for _ in range(2):
        await sealed.payouts.add_opinion(opinion, samples.event())
    ended: Change = of(change(UNKNOWN, PAID), cause=EventKind.DECIDED, at=NOW + timedelta(days=2))
    assert await sealed.payouts.decide(ended, [], samples.event())

    assert (await told(sealed))[2:] == [("judged", 1, ""), ("decided", 1, "paid")]
    [judged] = [
        each
        for each in await sealed.payouts.events(ACCOUNT, "order-1")
        if each.kind is EventKind.JUDGED
    ]
    assert judged.facts == {"by": "maria", "verdict": "paid"}


async def test_a_callback_is_recorded_once_its_payout_is_known(store: Store) -> None:
    await store.payouts.add(payout(), attempt())

    await CallbackRecords(store.database).belongs(
        "c1", samples.COMPANY, noticed(payout(), "c1", NOW)
    )

    assert ("noticed", 1, "") in await told(store)


async def test_events_of_another_account_are_not_returned(store: Store) -> None:
    await store.payouts.add(payout(), attempt())
    await store.payouts.add(payout(account_id=SISTER), attempt())

    assert len(await store.payouts.events(ACCOUNT, "order-1")) == 1
    assert await store.payouts.events(ACCOUNT, "order-2") == []


@both
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE payout_events SET after = 'paid'",
        "DELETE FROM payout_events",
        "DELETE FROM payout_events WHERE number > 0",
    ],
)
async def test_the_database_itself_refuses_to_change_an_event(store: Store, statement: str) -> None:
    """A recent event cannot be deleted either."""
    now = datetime.now(UTC)
    await store.payouts.add(payout(created_at=now), attempt(started_at=now))

    with pytest.raises(StoreUnavailable):
        async with store.database.writing() as connection:
            await connection.execute(text(statement))

    assert await told(store) == [("stored", 1, "sending")]


async def test_only_old_events_are_deleted(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """In parts, also old events of an unsettled payout; partitions are dropped whole."""
    monkeypatch.setattr(payout_store, "_OLDEST", payout_store._OLDEST.limit(None).limit(3))
    now = datetime.now(UTC)
    for number in range(7):
        made = payout(f"old-{number}", created_at=LONG_AGO)
        await store.payouts.add(made, attempt(started_at=LONG_AGO))
    await store.payouts.add(payout("new", created_at=now), attempt(started_at=now))
    step = of(change(SENDING, UNKNOWN, reference="old-3"), at=now)
    await store.payouts.record(step)
    await store.payouts.add(payout("late", created_at=LONG_AGO), attempt(started_at=LONG_AGO))

    deleted = await store.payouts.forget_events(now - timedelta(days=90))

    assert deleted == 8
    assert await told(store, "old-3") == [("answered", 1, "unknown")]
    assert await told(store, "new") == [("stored", 1, "sending")]
    assert await store.payouts.find(ACCOUNT, "old-0") is not None
    assert len(await store.payouts.attempts(ACCOUNT, "old-0")) == 1
    assert await store.payouts.forget_events(now - timedelta(days=90)) == 0
