"""Deliveries on each database: written with the event, claimed by one, noted once."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest
from sqlalchemy import select, update

from gateway.app.store import Store
from gateway.companies.service import add_company
from gateway.core.company_scope import EVERY_COMPANY, CompanyScope
from gateway.core.windows import Paging
from gateway.deliveries.model import (
    DeliveriesAgain,
    Delivery,
    DeliverySearch,
    DeliveryState,
    Outcome,
    TryFailure,
)
from gateway.deliveries.places import MOST_OF_ENDPOINT
from gateway.deliveries.store import CLAIM, DeliveryRecords, Result
from gateway.deliveries.watch import new_ping
from gateway.endpoints.model import Endpoint, EndpointState, PauseCause
from gateway.events.documents import document
from gateway.events.model import Event, EventType, new_event_id
from gateway.events.store import STORED_FOR, append
from gateway.payouts.model import PayoutState
from gateway.payouts.writes import record_step
from gateway.store.tables.core import deliveries, delivery_tries
from tests.contract.stores.databases import both
from tests.world.deliveries import ENDPOINT, add_endpoint, an_endpoint, endpoints_of
from tests.world.stores.samples import (
    ACCOUNT,
    COMPANY,
    NOW,
    SISTER,
    attempt,
    change,
    company,
    payout,
)
from tests.world.stores.samples import event as an_act

SECOND, DAY = timedelta(seconds=1), timedelta(days=1)
OTHER_ENDPOINT = "1e0e0e0e-5d3a-4b7e-9c1d-2a4f6b8c0d1e"
STRANGER = "2e0e0e0e-5d3a-4b7e-9c1d-2a4f6b8c0d1e"
EVERYTHING = DeliverySearch(paging=Paging(1, 100))


def records(store: Store) -> DeliveryRecords:
    return DeliveryRecords(store.database)


def told(reference: str, at: datetime = NOW, account_id: str = ACCOUNT) -> Event:
    return Event(
        id=new_event_id(lambda size: reference.encode().rjust(size, b"-")[-size:]),
        account_id=account_id,
        type=EventType.PAYOUT_PAID,
        at=at,
        reference=reference,
    )


async def happen(store: Store, *given: Event) -> None:
    async with store.database.writing() as connection:
        await append(connection, *given)


async def kept(store: Store) -> list[Delivery]:
    found = await records(store).search(EVERYTHING, EVERY_COMPANY)
    return list(found.items)


async def claimed(
    store: Store,
    share: int = MOST_OF_ENDPOINT,
    owner: str = "worker",
    at: datetime = NOW,
    endpoint_id: str = ENDPOINT,
) -> list[Delivery]:
    found = await records(store).claim({endpoint_id: share}, owner, at)
    return [each.delivery for each in found]


async def finish(
    store: Store,
    delivery: Delivery,
    state: DeliveryState = DeliveryState.DELIVERED,
    next_at: datetime | None = None,
    **outcome: Any,
) -> None:
    failure = TryFailure.NONE if state is DeliveryState.DELIVERED else TryFailure.STATUS
    made = Outcome(**{"at": NOW, "status": 200, "failure": failure, "ms": 84, **outcome})
    await records(store).finish(
        Result(claimed=delivery, outcome=made, state=state, next_at=next_at)
    )


async def one(store: Store, delivery_id: str) -> Delivery:
    found = await records(store).find(delivery_id, EVERY_COMPANY)
    assert found is not None
    return found


@both
@pytest.mark.parametrize(
    ("wanted", "is_told"),
    [
        ({}, True),
        ({"types": (EventType.PAYOUT_PAID,)}, True),
        ({"types": (EventType.PAYOUT_FAILED, EventType.PAYOUT_PAID)}, True),
        ({"types": (EventType.PAYOUT_FAILED,)}, False),
        ({"account_ids": (ACCOUNT,)}, True),
        ({"account_ids": (SISTER, ACCOUNT)}, True),
        ({"account_ids": (SISTER,)}, False),
        ({"state": EndpointState.PENDING}, True),
        ({"state": EndpointState.PAUSED, "paused_because": PauseCause.OPERATOR}, True),
    ],
)
async def test_an_event_is_for_each_endpoint_that_wants_it(
    store: Store, wanted: dict[str, Any], is_told: bool
) -> None:
    await add_endpoint(store, an_endpoint(**wanted))
    await add_endpoint(store, an_endpoint(endpoint_id=OTHER_ENDPOINT))

    event = told("order-1")
    await happen(store, event)

    found = {each.endpoint_id: each for each in await kept(store)}
    assert set(found) == {OTHER_ENDPOINT, *([ENDPOINT] if is_told else [])}
    made = found[OTHER_ENDPOINT]
    assert made.id.startswith("dlv_")
    assert (made.event_id, made.type, made.at) == (event.id, event.type, NOW)
    assert (made.company_id, made.account_id, made.reference) == (COMPANY, ACCOUNT, "order-1")
    assert (made.state, made.tries, made.next_at) == (DeliveryState.WAITING, 0, NOW)


@both
async def test_no_endpoint_of_another_company_gets_a_delivery(store: Store) -> None:
    await add_company(store.database, company(STRANGER), an_act())
    await add_endpoint(store, an_endpoint(endpoint_id=OTHER_ENDPOINT, company_id=STRANGER))

    await happen(store, told("order-1"))

    assert not await kept(store)


@both
async def test_the_delivery_of_a_payout_is_written_in_the_transaction_of_its_end(
    store: Store,
) -> None:
    class Undone(Exception):
        pass

    await add_endpoint(store, an_endpoint())
    await store.payouts.add(payout("order-1"), attempt())
    step = change(PayoutState.SENDING, PayoutState.PAID)
    with suppress(Undone):
        async with store.database.writing() as connection:
            assert await record_step(store.database, connection, step)
            raise Undone

    assert not await kept(store)
    await store.payouts.record(step)
    [made] = await kept(store)
    assert (made.type, made.reference) == (EventType.PAYOUT_PAID, "order-1")


@both
async def test_due_deliveries_are_claimed_once_and_again_after_the_claim(
    store: Store, second: Store
) -> None:
    await add_endpoint(store, an_endpoint())
    await happen(store, told("order-1"), told("order-2", NOW + SECOND))

    [mine] = await claimed(store)

    assert (mine.reference, mine.claimed_by, mine.claimed_until) == (
        "order-1",
        "worker",
        NOW + CLAIM,
    )
    assert not await records(second).due(NOW)
    assert not await claimed(second, owner="other")
    assert [each.reference for each in await claimed(second, owner="other", at=NOW + SECOND)] == [
        "order-2"
    ]
    again = await claimed(second, owner="third", at=NOW + CLAIM)
    assert [each.id for each in again] == [mine.id]


async def test_a_claim_that_ends_too_far_ahead_holds_nothing(store: Store) -> None:
    """The clock was put back since."""
    await add_endpoint(store, an_endpoint())
    await happen(store, told("order-1"))
    later = NOW + timedelta(hours=1)

    assert await claimed(store, at=later)
    assert await claimed(store, owner="other")


@both
async def test_all_processes_together_claim_four_of_an_endpoint(
    store: Store, second: Store
) -> None:
    await add_endpoint(store, an_endpoint())
    await happen(store, *(told(f"order-{number}") for number in range(9)))

    mine = await claimed(store, 3)
    theirs = await claimed(second, owner="other")

    assert (len(mine), len(theirs)) == (3, MOST_OF_ENDPOINT - 3)
    assert not await claimed(store)
    await finish(store, mine[0])
    assert len(await claimed(second, owner="other")) == 1


@both
@pytest.mark.parametrize(
    ("state", "types"),
    [
        (EndpointState.ACTIVE, ["endpoint.ping", "payout.paid"]),
        (EndpointState.PENDING, ["endpoint.ping"]),
        (EndpointState.PAUSED, []),
    ],
)
async def test_an_endpoint_that_is_not_active_is_sent_pings_alone(
    store: Store, state: EndpointState, types: list[str]
) -> None:
    endpoint = await add_endpoint(store, an_endpoint(state=state))
    await happen(store, told("order-1", NOW - SECOND))
    await records(store).add_ping(new_ping(endpoint, NOW, lambda size: b"p" * size))

    due = await records(store).due(NOW)

    assert [(each.id, each.is_pinged) for each in due] == ([(ENDPOINT, True)] if types else [])
    assert [each.type for each in await claimed(store)] == types


async def test_the_longest_due_endpoint_is_the_first(store: Store) -> None:
    await add_endpoint(store, an_endpoint(account_ids=(ACCOUNT,)))
    await add_endpoint(store, an_endpoint(endpoint_id=OTHER_ENDPOINT, account_ids=(SISTER,)))
    await happen(store, told("order-1", NOW + SECOND), told("order-2", account_id=SISTER))

    due = await records(store).due(NOW + SECOND)

    assert [each.id for each in due] == [OTHER_ENDPOINT, ENDPOINT]


@both
async def test_the_body_is_the_document_of_the_feed_and_stays_the_same(store: Store) -> None:
    await add_endpoint(store, an_endpoint())
    event = told("pedido-é-1")
    await happen(store, event)

    [first] = await claimed(store)
    assert first.body is not None
    assert {"id": event.id, **msgspec.json.decode(first.body)} == document(event)
    changed = update(deliveries).values(reference="changed since")
    await store.database.write(changed)
    [again] = await claimed(store, at=NOW + CLAIM)

    assert again.body == first.body


@both
async def test_a_try_is_noted_with_its_answer(store: Store) -> None:
    await add_endpoint(store, an_endpoint())
    await happen(store, told("order-1"))
    [mine] = await claimed(store)
    again_at = NOW + 5 * SECOND

    await finish(store, mine, DeliveryState.WAITING, again_at, status=500, ms=12)

    noted = await one(store, mine.id)
    assert (noted.state, noted.tries, noted.next_at) == (DeliveryState.WAITING, 1, again_at)
    assert (noted.claimed_by, noted.claimed_until, noted.ended_at) == (None, None, None)
    [again] = await claimed(store, at=again_at)
    await finish(store, again, at=again_at)
    noted = await one(store, mine.id)
    assert (noted.state, noted.tries, noted.next_at) == (DeliveryState.DELIVERED, 2, None)
    assert noted.ended_at == again_at
    tries = await records(store).tries(mine.id)
    assert [(each.number, each.status, each.failure, each.ms) for each in tries] == [
        (1, 500, TryFailure.STATUS, 12),
        (2, 200, TryFailure.NONE, 84),
    ]


@both
async def test_a_process_that_lost_its_claim_notes_nothing(store: Store) -> None:
    await add_endpoint(store, an_endpoint())
    await happen(store, told("order-1"))
    [late] = await claimed(store)
    [theirs] = await claimed(store, owner="other", at=NOW + CLAIM)

    await finish(store, late, DeliveryState.FAILED)

    assert (await one(store, late.id)).state is DeliveryState.WAITING
    assert not await records(store).tries(late.id)
    await finish(store, theirs)
    assert (await one(store, late.id)).state is DeliveryState.DELIVERED


@both
async def test_a_process_that_stops_gives_up_its_claims_alone(store: Store) -> None:
    await add_endpoint(store, an_endpoint())
    await happen(store, told("order-1"), told("order-2"))
    [mine] = await claimed(store, 1)
    await claimed(store, 1, owner="other")

    await records(store).release("worker")

    assert [each.id for each in await claimed(store, owner="third")] == [mine.id]


@both
async def test_an_ended_delivery_is_sent_again_and_keeps_its_tries(store: Store) -> None:
    await add_endpoint(store, an_endpoint())
    await happen(store, told("order-1"))
    [mine] = await claimed(store)
    assert not await records(store).again(mine, NOW, an_act())
    await finish(store, mine)

    assert await records(store).again(await one(store, mine.id), NOW + DAY, an_act())

    [again] = await claimed(store, at=NOW + DAY)
    assert (again.event_id, again.body) == (mine.event_id, mine.body)
    assert (again.tries, again.tries_before) == (1, 1)


@both
@pytest.mark.parametrize(("delivered", "count"), [(False, 1), (True, 2)])
async def test_deliveries_of_a_time_range_are_sent_again(
    store: Store, delivered: bool, count: int
) -> None:
    await add_endpoint(store, an_endpoint())
    await add_endpoint(store, an_endpoint(endpoint_id=OTHER_ENDPOINT))
    times = [NOW - DAY, NOW - SECOND, NOW, NOW]
    await happen(store, *(told(f"order-{number}", at) for number, at in enumerate(times)))
    for endpoint_id in (ENDPOINT, OTHER_ENDPOINT):
        for each in await claimed(store, endpoint_id=endpoint_id):
            given_up = each.reference in {"order-0", "order-1"}
            await finish(store, each, DeliveryState.FAILED if given_up else DeliveryState.DELIVERED)
    wanted = DeliveriesAgain(since=NOW - SECOND, until=NOW, delivered=delivered)
    if delivered:
        wanted = DeliveriesAgain(since=NOW, until=NOW + SECOND, delivered=True)

    done = await records(store).all_again(ENDPOINT, wanted, NOW, an_act())

    assert (done.deliveries, done.has_more) == (count, False)
    waiting = [each for each in await kept(store) if each.state is DeliveryState.WAITING]
    assert {each.endpoint_id for each in waiting} == {ENDPOINT}
    assert len(waiting) == count


@both
async def test_waiting_deliveries_of_a_removed_endpoint_are_dropped(store: Store) -> None:
    endpoint = await add_endpoint(store, an_endpoint())
    await add_endpoint(store, an_endpoint(endpoint_id=OTHER_ENDPOINT))
    await happen(store, told("order-1"))
    assert await endpoints_of(store.database).remove(endpoint, an_act())

    assert await records(store).drop(NOW) == 1

    states = {each.endpoint_id: each.state for each in await kept(store)}
    assert states == {ENDPOINT: DeliveryState.DROPPED, OTHER_ENDPOINT: DeliveryState.WAITING}


@both
async def test_pending_endpoints_without_a_ping_since_their_change_are_found(store: Store) -> None:
    endpoint = await add_endpoint(store, an_endpoint(state=EndpointState.PENDING))
    await add_endpoint(store, an_endpoint(endpoint_id=OTHER_ENDPOINT))

    assert [each.id for each in await records(store).unpinged()] == [ENDPOINT]
    old = new_ping(endpoint, NOW - SECOND, lambda size: b"o" * size)
    await records(store).add_ping(old)
    assert [each.id for each in await records(store).unpinged()] == [ENDPOINT]
    await records(store).add_ping(new_ping(endpoint, NOW, lambda size: b"n" * size))
    assert not await records(store).unpinged()


@both
async def test_a_ping_replaces_waiting_pings(store: Store) -> None:
    """Asked for a hundred times, an endpoint is tried as often and not thirteen times as often."""
    endpoint = await add_endpoint(store, an_endpoint())
    await add_endpoint(store, an_endpoint(endpoint_id=OTHER_ENDPOINT))
    await happen(store, told("order-1"))
    other = msgspec.structs.replace(endpoint, id=OTHER_ENDPOINT)
    pings = [
        new_ping(each, NOW, lambda size, number=number: bytes([number]) * size)
        for number, each in enumerate([endpoint, other, endpoint, endpoint])
    ]
    under_way, elsewhere, second, third = pings
    await records(store).add_ping(under_way)
    await records(store).add_ping(elsewhere)
    [taken] = await claimed(store, 1)
    await records(store).add_ping(second)
    await records(store).add_ping(third)

    assert taken.id == under_way.id
    waiting = {each.id for each in await kept(store) if each.state is DeliveryState.WAITING}
    assert waiting >= {under_way.id, elsewhere.id, third.id}
    dropped = await one(store, second.id)
    assert (dropped.state, dropped.ended_at) == (DeliveryState.DROPPED, NOW)
    events = [each for each in await kept(store) if not each.is_ping]
    assert {each.state for each in events} == {DeliveryState.WAITING}


@both
@pytest.mark.parametrize(
    "narrowed", [{"account_ids": (SISTER,)}, {"types": (EventType.PAYOUT_FAILED,)}]
)
async def test_deliveries_of_types_no_longer_wanted_are_dropped(
    store: Store, narrowed: dict[str, Any]
) -> None:
    """Two people agreed on the narrow one; one alone could have the rest sent to it."""
    wide = await add_endpoint(store, an_endpoint())
    await add_endpoint(store, an_endpoint(endpoint_id=OTHER_ENDPOINT))
    sisters = msgspec.structs.replace(
        told("order-9", account_id=SISTER), type=EventType.PAYOUT_FAILED
    )
    await happen(
        store,
        *(told(f"order-{number}", NOW - (3 - number) * SECOND) for number in range(3)),
        sisters,
    )
    [sent] = await claimed(store, 1)
    await finish(store, sent)
    [under_way] = await claimed(store, 1, "another")
    assert await endpoints_of(store.database).change(
        wide, msgspec.structs.replace(wide, **narrowed), an_act()
    )
    assert await records(store).again(await one(store, sent.id), NOW, an_act())

    found = await claimed(store)
    while more := await claimed(store):
        found += more

    assert [each.reference for each in found] == ["order-9"]
    mine = {each.reference: each for each in await kept(store) if each.endpoint_id == ENDPOINT}
    dropped = [name for name, each in mine.items() if each.state is DeliveryState.DROPPED]
    assert len(dropped) == 2
    assert sent.reference in dropped
    assert mine[under_way.reference or ""].state is DeliveryState.WAITING
    assert len(await claimed(store, endpoint_id=OTHER_ENDPOINT)) == MOST_OF_ENDPOINT


@both
async def test_failing_endpoints_are_found_until_people_pause_them(store: Store) -> None:
    def failing(number: int, **changed: Any) -> Endpoint:
        return an_endpoint(endpoint_id=f"{number}", failing_since=NOW, **changed)

    paused = {"state": EndpointState.PAUSED}
    await add_endpoint(store, an_endpoint())
    await add_endpoint(store, failing(1))
    await add_endpoint(store, failing(2, paused_because=PauseCause.GAVE_UP, **paused))
    await add_endpoint(store, failing(3, paused_because=PauseCause.GONE, **paused))
    await add_endpoint(store, failing(4, paused_because=PauseCause.OPERATOR, **paused))

    assert {each.id for each in await records(store).failing()} == {"1", "2", "3"}


@both
async def test_gauges_count_what_waits_for_endpoints_that_take_it(store: Store) -> None:
    await add_endpoint(store, an_endpoint(account_ids=(ACCOUNT,)))
    failing = an_endpoint(endpoint_id=OTHER_ENDPOINT, account_ids=(SISTER,), failing_since=NOW)
    await add_endpoint(store, failing)
    assert await records(store).oldest_due(NOW) is None
    await happen(store, told("order-1"), told("order-2", NOW - DAY, SISTER))

    assert await records(store).oldest_due(NOW) == NOW
    assert await records(store).states() == {"active": 2}


@both
async def test_deliveries_go_with_their_events_and_take_their_tries_along(store: Store) -> None:
    await add_endpoint(store, an_endpoint())
    await happen(store, told("order-1", NOW - STORED_FOR - SECOND), told("order-2"))
    for each in await claimed(store):
        await finish(store, each)

    assert await records(store).forget(NOW - STORED_FOR) == 1

    assert [each.reference for each in await kept(store)] == ["order-2"]
    assert len(await store.database.rows(select(delivery_tries))) == 1


@both
async def test_deliveries_of_a_reference_show_their_last_try(store: Store) -> None:
    await add_endpoint(store, an_endpoint())
    await happen(store, told("order-1"), told("order-2"), told("x" * 201))
    for each in await claimed(store):
        await finish(store, each)
    of = records(store).of_reference

    [(delivery, last)] = await of(ACCOUNT, "order-1", EVERY_COMPANY)

    assert delivery.state is DeliveryState.DELIVERED
    assert last is not None
    assert (last.status, last.ms) == (200, 84)
    assert not await of(ACCOUNT, "order-3", EVERY_COMPANY)
    assert not await of(ACCOUNT, "x" * 201, EVERY_COMPANY)
    assert not await of(ACCOUNT, "order-1", CompanyScope(frozenset({STRANGER})))


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, {"order-1", "order-2"}),
        ({"endpoint_id": ENDPOINT}, {"order-1", "order-2"}),
        ({"endpoint_id": OTHER_ENDPOINT}, set()),
        ({"company_id": COMPANY}, {"order-1", "order-2"}),
        ({"account_id": SISTER}, {"order-2"}),
        ({"event_id": told("order-1").id}, {"order-1"}),
        ({"type": "payout.failed"}, set()),
        ({"state": DeliveryState.WAITING}, {"order-1", "order-2"}),
        ({"state": DeliveryState.FAILED}, set()),
        ({"since": NOW}, {"order-2"}),
        ({"until": NOW}, {"order-1"}),
    ],
)
async def test_a_search_finds_what_it_names(
    store: Store, wanted: dict[str, Any], found: set[str]
) -> None:
    await add_endpoint(store, an_endpoint())
    await happen(store, told("order-1", NOW - SECOND), told("order-2", account_id=SISTER))
    search = DeliverySearch(paging=Paging(1, 100), **wanted)

    shown = await records(store).search(search, EVERY_COMPANY)
    others = await records(store).search(search, CompanyScope(frozenset({STRANGER})))

    assert {each.reference for each in shown.items} == found
    assert (shown.total, others.total) == (len(found), 0)
