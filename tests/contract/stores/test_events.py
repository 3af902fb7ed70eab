"""Events of accounts on each database: told with the change, read in the order of commit, once."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import delete, select, update

from gateway.app.store import Store
from gateway.banks.port.providers import PixReturn
from gateway.banks.port.refunds import Refund, RefundStatus
from gateway.charges.model import ChargeState, SeenCharge
from gateway.charges.store import StoredCharges
from gateway.core.calls import Caller
from gateway.core.errors import ServiceError
from gateway.core.money import Money
from gateway.core.storage import StoreUnavailable
from gateway.credentials.expiry import ExpiryWatch
from gateway.events.model import Cursor, Event, EventType, FeedPart, Wanted, new_event_id
from gateway.events.service import EventFeed
from gateway.events.store import STORED_FOR, EventRecords, append
from gateway.events.waiting import Waits
from gateway.payouts.model import FINAL_STATES, PayoutState
from gateway.payouts.store import StoredPayouts
from gateway.payouts.writes import record_step
from gateway.refunds.store import RefundRecords
from gateway.store.kernel.database import Database
from gateway.store.kernel.structs import from_row
from gateway.store.tables.core import (
    credentials,
    event_feeds,
    events,
    expiry_notices,
    received,
    secrets,
)
from tests.contract.stores.databases import both, server_alone
from tests.contract.stores.locks import until_blocked
from tests.world.people import principal
from tests.world.stores.samples import (
    ACCOUNT,
    CLIENT,
    NOW,
    SISTER,
    account,
    attempt,
    change,
    credential,
    held,
    payout,
)
from tests.world.stores.samples import event as an_act

SENDING, PAID, FAILED = PayoutState.SENDING, PayoutState.PAID, PayoutState.FAILED
RETURN = f"D{7:031}"
SECOND, DAY = timedelta(seconds=1), timedelta(days=1)


def feed_of(store: Store, now: datetime = NOW) -> EventFeed:
    records = EventRecords(store.database)
    return EventFeed(records, Waits(records, time.monotonic), lambda: now)


async def read(
    feed: EventFeed,
    after: Cursor | None = None,
    *types: EventType,
    account_id: str = ACCOUNT,
    limit: int = 100,
) -> FeedPart:
    """Read as a partner does: the cursor has been a text in between."""
    caller = Caller(principal(), account(account_id))
    after = after and Cursor.parse(str(after))
    return await feed.read(caller, Wanted(after=after, types=frozenset(types), limit=limit))


def told(part: FeedPart) -> list[tuple[EventType, str | None]]:
    return [(each.type, each.reference) for each in part.events]


async def sent(store: Store, *references: str, account_id: str = ACCOUNT) -> None:
    for each in references:
        await store.payouts.add(payout(each, account_id=account_id), attempt())


def an_event(reference: str, at: datetime = NOW, account_id: str = ACCOUNT) -> Event:
    return Event(
        id=new_event_id(lambda size: reference.encode().rjust(size, b"-")[-size:]),
        account_id=account_id,
        type=EventType.PAYOUT_RETURNED,
        at=at,
        reference=reference,
        return_id=RETURN,
    )


async def stored(database: Database, *given: Event) -> None:
    async with database.writing() as connection:
        await append(connection, *given)


@both
@pytest.mark.parametrize("state", sorted(FINAL_STATES))
async def test_each_end_of_a_payout_has_one_event(store: Store, state: PayoutState) -> None:
    await sent(store, "order-1")
    step = change(SENDING, state)

    assert [await store.payouts.record(step) for _ in range(2)] == [True, False]

    part = await read(feed_of(store))
    wanted = EventType.PAYOUT_PAID if state is PAID else EventType.PAYOUT_FAILED
    assert told(part) == [(wanted, "order-1")]
    [event] = part.events
    assert (event.account_id, event.at, event.return_id) == (ACCOUNT, step.at, None)
    assert event.id.removeprefix("evt_").isalnum()
    assert len(event.id) == len(new_event_id(bytes))


async def test_a_payout_under_way_has_no_event(store: Store) -> None:
    for state in sorted(set(PayoutState) - FINAL_STATES - {SENDING, PayoutState.HELD}):
        await sent(store, state)
        await store.payouts.record(change(SENDING, state, reference=state))
    await store.payouts.add(held(payout("held")), None)

    assert told(await read(feed_of(store))) == []


@both
async def test_a_refused_hold_has_an_event_as_a_failed_payout(store: Store) -> None:
    await store.payouts.add(held(payout()), None)

    await store.payouts.record(change(PayoutState.HELD, FAILED, attempt=0))

    assert told(await read(feed_of(store))) == [(EventType.PAYOUT_FAILED, "order-1")]


@both
async def test_a_rolled_back_change_has_no_event(store: Store) -> None:
    await sent(store, "order-1")

    class Undone(Exception):
        pass

    with suppress(Undone):
        async with store.database.writing() as connection:
            assert await record_step(store.database, connection, change(SENDING, PAID))
            raise Undone

    assert told(await read(feed_of(store))) == []


@both
async def test_a_return_has_one_event_with_its_id(store: Store, second: Store) -> None:
    await sent(store, "order-1")
    back = PixReturn(id=RETURN, value=Money(100), at=NOW - DAY)

    await asyncio.gather(
        *(each.payouts.note_returns(payout(), [back]) for each in (store, second) * 2)
    )

    part = await read(feed_of(store, datetime.now(UTC)))
    assert told(part) == [(EventType.PAYOUT_RETURNED, "order-1")]
    assert part.events[0].return_id == RETURN


async def test_a_return_that_is_not_stored_has_no_event(store: Store) -> None:
    back = PixReturn(id=RETURN, value=Money(100), at=NOW)

    with pytest.raises(StoreUnavailable):  # there is no such payout
        await store.payouts.note_returns(payout(), [back])

    assert told(await read(feed_of(store, datetime.now(UTC)))) == []


async def test_a_return_whose_event_cannot_be_written_is_not_kept(store: Store) -> None:
    """And is told when it is found again."""
    await sent(store, "order-1")
    back = PixReturn(id=RETURN, value=Money(100), at=NOW)
    failing = StoredPayouts(store.database, new_event_id=lambda: None)  # type: ignore[arg-type, return-value] # of no form

    with pytest.raises(StoreUnavailable):
        await failing.note_returns(payout(), [back])

    assert await store.payouts.returns(ACCOUNT, "order-1") == []
    assert await store.payouts.note_returns(payout(), [back]) == 1
    assert len((await read(feed_of(store, datetime.now(UTC)))).events) == 1


@server_alone
async def test_two_readers_give_each_position_once(store: Store, second: Store) -> None:
    """The second one waits for the first, and goes on behind it."""
    await stored(store.database, *(an_event(str(number)) for number in range(3)))
    await read(feed_of(store))
    await stored(store.database, an_event("3"))
    async with store.database.writing() as first:
        locked = select(event_feeds.c.last).with_for_update()
        assert (await first.execute(locked)).scalar_one() == 3
        waiting = asyncio.create_task(read(feed_of(second)))
        await until_blocked(store)
        await first.execute(update(events).where(events.c.reference == "3").values(position=4))
        await first.execute(update(event_feeds).values(last=4))

    part = await waiting

    assert [each.reference for each in part.events] == ["0", "1", "2", "3"]
    assert part.next.position == 4


@server_alone
async def test_a_reader_misses_no_event_that_is_committed_late(store: Store, second: Store) -> None:
    """The first transaction writes first and commits last."""
    await sent(store, "first", "second")
    feed = feed_of(second)
    async with store.database.writing() as early:
        await record_step(store.database, early, change(SENDING, PAID, reference="first"))
        await second.payouts.record(change(SENDING, PAID, reference="second"))
        before = await read(feed)

    after = await read(feed, before.next)

    assert told(before) == [(EventType.PAYOUT_PAID, "second")]
    assert told(after) == [(EventType.PAYOUT_PAID, "first")]
    whole = await read(feed)
    assert told(whole) == [*told(before), *told(after)]


@both
async def test_readers_beside_many_writers_read_all_in_one_order(
    store: Store, second: Store
) -> None:
    references = [f"order-{number}" for number in range(60)]
    await sent(store, *references)
    ended = asyncio.Event()

    async def followed(node: Store, limit: int) -> list[str]:
        found: list[str] = []
        after = None
        while True:
            was_over = ended.is_set()
            part = await read(feed_of(node), after, limit=limit)
            found += [each.id for each in part.events]
            after = part.next
            if was_over and not part.events:
                return found

    async def end(node: Store, reference: str) -> None:
        await node.payouts.record(change(SENDING, PAID, reference=reference))

    readers = [
        asyncio.create_task(followed(node, limit))
        for node, limit in ((store, 1), (second, 7), (second, 100))
    ]
    async with asyncio.TaskGroup() as writers:
        for number, each in enumerate(references):
            writers.create_task(end((store, second)[number % 2], each))
    ended.set()
    first, *others = [await each for each in readers]

    assert len(set(first)) == len(references)
    assert len(first) == len(references)
    assert others == [first, first]


@both
async def test_a_feed_has_the_events_of_its_account_alone(store: Store) -> None:
    for account_id in (ACCOUNT, SISTER):
        await stored(store.database, an_event(account_id[-2:], account_id=account_id))
    feed = feed_of(store)

    parts = {each: await read(feed, account_id=each) for each in (ACCOUNT, SISTER)}

    assert {each: [one.account_id for one in part.events] for each, part in parts.items()} == {
        ACCOUNT: [ACCOUNT],
        SISTER: [SISTER],
    }


async def test_a_cursor_of_another_account_is_refused(store: Store) -> None:
    feed = feed_of(store)
    other = (await read(feed, account_id=SISTER)).next

    with pytest.raises(ServiceError) as refused:
        await read(feed, other)

    assert (refused.value.error.code, refused.value.field) == ("SVC.VAL.011", "after")


@both
async def test_a_feed_is_read_in_parts_to_its_end_and_further(store: Store) -> None:
    await stored(store.database, *(an_event(str(number)) for number in range(5)))
    feed, found, after = feed_of(store), [], None
    for _ in range(3):
        part = await read(feed, after, limit=2)
        found += [each.reference for each in part.events]
        after = part.next

    assert found == ["0", "1", "2", "3", "4"]
    assert told(await read(feed, after)) == []
    await stored(store.database, an_event("5"))
    assert [each.reference for each in (await read(feed, after)).events] == ["5"]


@both
async def test_events_of_other_types_are_passed_over_for_good(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a call cannot pass over all of them."""
    monkeypatch.setattr("gateway.events.service._PASSED_OVER", 2)
    monkeypatch.setattr("gateway.events.store._AT_ONCE", 2)
    await stored(store.database, *(an_event(str(number)) for number in range(4)))
    await sent(store, "order-1")
    await store.payouts.record(change(SENDING, PAID))
    feed, after, parts, places = feed_of(store), None, [], []

    for _ in range(3):
        part = await read(feed, after, EventType.PAYOUT_PAID)
        parts.append(told(part))
        places.append(part.next)
        after = part.next

    assert parts == [[], [], [(EventType.PAYOUT_PAID, "order-1")]]
    # What follows may be as old as anything, until all of it was seen.
    assert [each.at for each in places] == [NOW - 29 * DAY, NOW - 29 * DAY, NOW]


async def test_a_feed_begins_thirty_days_ago(store: Store) -> None:
    ages = {"31": 31 * DAY, "30": 30 * DAY, "29": 29 * DAY}
    await stored(store.database, *(an_event(name, NOW - age) for name, age in ages.items()))

    part = await read(feed_of(store))

    assert [each.reference for each in part.events] == ["30", "29"]


async def test_a_cursor_at_the_oldest_events_is_good_for_a_day(store: Store) -> None:
    await stored(store.database, *(an_event(str(n), NOW - 30 * DAY) for n in range(2)))
    first = await read(feed_of(store), limit=1)

    later = await read(feed_of(store, NOW + DAY - SECOND), first.next)

    assert [each.reference for each in (*first.events, *later.events)] == ["0", "1"]
    with pytest.raises(ServiceError):
        await read(feed_of(store, NOW + DAY + SECOND), first.next)


async def test_a_cursor_of_a_quiet_feed_is_good_for_thirty_days(store: Store) -> None:
    cursor = (await read(feed_of(store))).next

    assert told(await read(feed_of(store, NOW + 30 * DAY - SECOND), cursor)) == []
    with pytest.raises(ServiceError) as refused:
        await read(feed_of(store, NOW + 30 * DAY + SECOND), cursor)
    assert (refused.value.error.code, refused.value.reason) == ("SVC.VAL.008", "cursor_old")


async def test_a_cursor_in_the_middle_is_as_old_as_its_event(store: Store) -> None:
    """What follows it may be deleted before a month has gone by."""
    await stored(store.database, *(an_event(str(n), NOW - 10 * DAY) for n in range(2)))
    cursor = (await read(feed_of(store), limit=1)).next

    with pytest.raises(ServiceError):
        await read(feed_of(store, NOW + 20 * DAY + SECOND), cursor)


@both
async def test_only_events_that_no_cursor_leads_to_are_deleted(store: Store) -> None:
    now = datetime.now(UTC)
    ages = {"old": STORED_FOR + SECOND, "young": STORED_FOR - SECOND}
    await stored(store.database, *(an_event(name, now - age) for name, age in ages.items()))
    # A week is dropped whole on PostgreSQL, so it is the default partition that is looked at.
    records = EventRecords(store.database)

    assert await records.forget(now - STORED_FOR) == 1

    rows = await store.database.rows(select(events.c.reference))
    assert [row.reference for row in rows] == ["young"]
    assert await records.forget(now - STORED_FOR) == 0


async def test_positions_of_deleted_events_are_not_given_again(store: Store) -> None:
    await stored(store.database, *(an_event(str(n)) for n in range(2)))
    feed = feed_of(store)
    cursor = (await read(feed)).next
    await store.database.write(delete(events))
    await stored(store.database, an_event("new"))

    part = await read(feed, cursor)

    assert [each.reference for each in part.events] == ["new"]
    assert part.next.position == cursor.position + 1


@both
async def test_the_ends_of_feeds_show_which_accounts_have_new_events(store: Store) -> None:
    records, both = EventRecords(store.database), (ACCOUNT, SISTER)
    nothing = await records.ends(both)
    await stored(store.database, an_event("1"), an_event("2"))
    unread = await records.ends(both)
    await read(feed_of(store))

    assert nothing == {}
    assert unread.keys() == {ACCOUNT}
    assert unread[ACCOUNT] > 2
    assert await records.ends(both) == {ACCOUNT: 2}
    assert await records.ends({SISTER}) == {}


async def test_the_ends_of_more_feeds_than_a_statement_takes_are_found(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.events.store._ACCOUNTS_AT_ONCE", 1)
    for account_id in (ACCOUNT, SISTER):
        await stored(store.database, an_event(account_id[-2:], account_id=account_id))

    assert (await EventRecords(store.database).ends((ACCOUNT, SISTER))).keys() == {ACCOUNT, SISTER}


def paid(number: int, e2e_id: str, **changed: object) -> SeenCharge:
    seen = SeenCharge(
        account_id=ACCOUNT,
        reference=f"cob-{number}",
        state=ChargeState.PAID,
        at=NOW,
        paid_at=datetime.now(UTC),
        e2e_id=e2e_id,
    )
    return replace(seen, **changed)  # type: ignore[arg-type]


@both
async def test_each_payment_of_a_charge_has_one_event_from_any_source(
    store: Store, second: Store
) -> None:
    """A charge that is paid twice has two; a charge of somebody else's has one, too."""
    listed = paid(1, "E1", paid=Money(1), is_listed=True)
    seen = [paid(1, "E1"), listed, paid(1, "E2"), paid(2, "E3")]

    await asyncio.gather(*(StoredCharges(each.database).note(seen) for each in (store, second)))

    part = await read(feed_of(store, datetime.now(UTC)))
    assert sorted((each.reference, each.e2e_id) for each in part.events) == [
        ("cob-1", "E1"),
        ("cob-1", "E2"),
        ("cob-2", "E3"),
    ]
    assert {each.type for each in part.events} == {EventType.PIX_RECEIVED}


async def test_a_charge_without_a_proven_payment_has_no_event(store: Store) -> None:
    charges = StoredCharges(store.database)
    unpaid = paid(1, "", state=ChargeState.ACTIVE, paid_at=None)

    await charges.note([unpaid, paid(2, ""), paid(3, "E3", paid_at=None)])

    assert told(await read(feed_of(store, datetime.now(UTC)))) == []


async def test_an_old_payment_is_stored_without_an_event(store: Store) -> None:
    """Somebody looks through the payments of a quarter."""
    old = datetime.now(UTC) - 31 * DAY
    charges = StoredCharges(store.database)

    await charges.note([paid(1, "E1", paid_at=old), paid(1, "E1")])

    rows = await store.database.rows(select(received.c.e2e_id, received.c.paid_at))
    assert [(row.e2e_id, row.paid_at) for row in rows] == [("E1", old)]
    assert told(await read(feed_of(store, datetime.now(UTC)))) == []


async def test_a_payment_whose_event_cannot_be_written_is_not_kept(store: Store) -> None:
    failing = StoredCharges(store.database, new_event_id=lambda: None)  # type: ignore[arg-type, return-value] # of no form

    with pytest.raises(StoreUnavailable):
        await failing.note([paid(1, "E1")])

    assert await store.database.rows(select(received)) == []


def a_refund(**changed: object) -> Refund:
    given = Refund(
        reference="",
        provider_key="",
        provider_id="dev_1",
        payment_e2e_id="E1",
        payment_reference="",
        return_id=RETURN,
        value=Money(100),
        description="",
        status=RefundStatus.PAID,
        failure=None,
        created_at=datetime.now(UTC),
        settled_at=None,
    )
    return replace(given, **changed)  # type: ignore[arg-type]


@both
async def test_a_refund_has_one_event_with_its_payment(store: Store, second: Store) -> None:
    await asyncio.gather(
        *(RefundRecords(each.database).note(account(), a_refund()) for each in (store, second) * 2)
    )

    [event] = (await read(feed_of(store, datetime.now(UTC)))).events
    assert (event.type, event.e2e_id, event.return_id) == (EventType.PIX_REFUNDED, "E1", RETURN)
    assert event.reference is None


async def test_a_pending_or_old_refund_has_no_event(store: Store) -> None:
    records, old = RefundRecords(store.database), datetime.now(UTC) - 31 * DAY
    for each in (
        *(a_refund(status=status) for status in (RefundStatus.PROCESSING, RefundStatus.FAILED)),
        a_refund(return_id=""),
        a_refund(created_at=old),
        a_refund(return_id=f"D{8:031}", settled_at=old),
    ):
        await records.note(account(), each)

    assert told(await read(feed_of(store, datetime.now(UTC)))) == []


async def test_a_refund_whose_event_failed_has_it_at_the_next_read(
    store: Store,
) -> None:
    failing = RefundRecords(store.database, new_event_id=lambda: None)  # type: ignore[arg-type, return-value] # of no form

    await failing.take(account(), a_refund())
    await RefundRecords(store.database).take(account(), a_refund())

    assert len((await read(feed_of(store, datetime.now(UTC)))).events) == 1


async def issued(
    store: Store, *, account_id: str | None = None, expires_at: datetime | None = None
) -> None:
    made = replace(credential(), account_id=account_id, expires_at=expires_at)
    await store.credentials.add(made, an_act())


async def expiring(store: Store, now: datetime) -> list[tuple[str, str | None]]:
    """Let the watch look once; return what it told, by account."""
    before = {each.id for each in await everything(store)}
    await ExpiryWatch(store.database, lambda: now).turn()
    new = [each for each in await everything(store) if each.id not in before]
    assert {each.type for each in new} <= {EventType.CREDENTIAL_EXPIRING}
    return sorted((each.account_id, each.client_id) for each in new)


async def everything(store: Store) -> list[Event]:
    return [from_row(row, Event) for row in await store.database.rows(select(events))]


@both
async def test_the_end_of_a_credential_is_announced_a_week_and_a_day_before(store: Store) -> None:
    ends = NOW + 30 * DAY
    await issued(store, account_id=ACCOUNT, expires_at=ends)
    moments = [ends - 7 * DAY - SECOND, ends - 7 * DAY, ends - 2 * DAY, ends - DAY, ends - SECOND]

    told = [await expiring(store, each) for each in (*moments, ends, ends + 2 * DAY)]

    once = [(ACCOUNT, CLIENT)]
    assert told == [[], once, [], once, [], [], []]
    assert await store.database.rows(select(expiry_notices)) == []


async def test_the_end_of_a_rotated_secret_has_an_event_at_each_account_of_its_company(
    store: Store,
) -> None:
    """One that ends within a day is told once."""
    await issued(store)
    old_ends = update(secrets).values(expires_at=NOW + DAY)
    await store.database.write(old_ends)

    told = [await expiring(store, each) for each in (NOW, NOW + timedelta(hours=12))]

    assert told == [[(ACCOUNT, CLIENT), (SISTER, CLIENT)], []]


async def test_a_secret_that_ends_with_its_credential_or_is_revoked_has_no_second_event(
    store: Store,
) -> None:
    await issued(store, account_id=ACCOUNT, expires_at=NOW + DAY)
    await store.database.write(update(secrets).values(expires_at=NOW + DAY))
    assert await expiring(store, NOW) == [(ACCOUNT, CLIENT)]
    await store.database.write(update(credentials).values(revoked_at=NOW, expires_at=NOW + 2 * DAY))

    assert await expiring(store, NOW + DAY) == []


@both
async def test_two_workers_write_one_event_of_an_end(store: Store, second: Store) -> None:
    await issued(store, account_id=ACCOUNT, expires_at=NOW + DAY)

    told = await asyncio.gather(
        *(ExpiryWatch(each.database, lambda: NOW).turn() for each in (store, second) * 2)
    )

    assert sum(told) == 1
    assert len(await everything(store)) == 1


async def test_a_cursor_that_no_read_has_given_yet_is_refused(store: Store) -> None:
    """The store was restored to an earlier day; or somebody made it up, and gets no work done."""
    await stored(store.database, an_event("1"))
    feed = feed_of(store)
    ahead = replace((await read(feed)).next, position=2)
    await stored(store.database, an_event("2"))

    with pytest.raises(ServiceError) as refused:
        await read(feed, ahead)

    assert (refused.value.error.code, refused.value.reason) == ("SVC.VAL.011", "cursor_form")
    unread = await store.database.rows(select(events).where(events.c.position.is_(None)))
    assert [row.reference for row in unread] == ["2"]


@both
async def test_a_feed_whose_oldest_events_are_deleted_begins_with_those_that_are_left(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many were deleted, and with types, too."""
    monkeypatch.setattr("gateway.events.service._PASSED_OVER", 2)
    feed, returned = feed_of(store), EventType.PAYOUT_RETURNED
    await stored(store.database, *(an_event(str(number)) for number in range(9)))
    await read(feed)
    await store.database.write(delete(events).where(events.c.position < 8))

    plain, of_type = await read(feed), await read(feed, None, returned)

    assert [each.reference for each in plain.events] == ["7", "8"]
    assert [each.reference for each in of_type.events] == ["7", "8"]
    await store.database.write(delete(events))
    assert (await read(feed)).next.position == 9
