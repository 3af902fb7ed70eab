"""Deliveries for people: their scope, sending again, and pings."""

from __future__ import annotations

import os
from datetime import timedelta

import msgspec
import pytest
from sqlalchemy import select

from gateway.app.store import Store
from gateway.core.access import Staff
from gateway.core.audit_context import AuditContext, RuleViolation
from gateway.core.company_scope import EVERY_COMPANY, CompanyScope
from gateway.core.errors import ServiceError
from gateway.core.windows import Paging
from gateway.deliveries.model import PING, DeliveriesAgain, DeliverySearch, DeliveryState
from gateway.deliveries.service import Deliveries
from gateway.deliveries.store import DeliveryRecords
from gateway.endpoints.model import EndpointState
from gateway.events.model import Event, EventType
from gateway.events.store import append
from gateway.http.rendering import dumps
from gateway.store.tables.core import audit
from tests.world.deliveries import (
    ENDPOINT,
    add_endpoint,
    an_endpoint,
    endpoints_of,
    receiving,
    sending,
    sent,
    silence,
)
from tests.world.standing import Clock
from tests.world.stores.samples import ACCOUNT, NOW
from tests.world.stores.samples import event as an_act

STRANGERS = CompanyScope(frozenset({"0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c09"}))
EVERYTHING = DeliverySearch(paging=Paging(1, 100))
SECOND = timedelta(seconds=1)
WINDOW = DeliveriesAgain(since=NOW, until=NOW + SECOND, delivered=True)


@pytest.fixture
def deliveries(store: Store, clock: Clock) -> Deliveries:
    return Deliveries(
        records=DeliveryRecords(store.database),
        endpoints=endpoints_of(store.database),
        now=clock.now,
        random=os.urandom,
    )


def staff(clock: Clock, scope: CompanyScope = EVERY_COMPANY) -> Staff:
    return Staff(AuditContext("cli:test", clock.now), scope)


async def happen(store: Store, reference: str = "order-1") -> None:
    told = Event(
        id=f"evt_{reference}",
        account_id=ACCOUNT,
        type=EventType.PAYOUT_PAID,
        at=NOW,
        reference=reference,
    )
    async with store.database.writing() as connection:
        await append(connection, told)


async def acts(store: Store) -> list[str]:
    own = select(audit.c.action).where(audit.c.subject == f"endpoint:{ENDPOINT}")
    return [row.action for row in await store.database.rows(own.order_by(audit.c.number))]


async def test_a_delivery_is_shown_with_its_body_and_each_try(
    store: Store, clock: Clock, deliveries: Deliveries
):
    async with receiving() as receiver:
        await add_endpoint(store, an_endpoint(receiver.url))
        await happen(store)
        worker = sending(store, clock)
        await sent(worker)
        await worker.close()
    [listed] = (await deliveries.page(staff(clock), EVERYTHING)).items

    shown = await deliveries.get(staff(clock), listed.id)

    assert shown.body == receiver.came[0].body.decode()
    assert [(each.number, each.status) for each in shown.attempts] == [(1, 200)]
    assert (shown.state, shown.tries, shown.account_id) == (DeliveryState.DELIVERED, 1, ACCOUNT)


async def test_a_try_that_nothing_answered_has_no_status(
    store: Store, clock: Clock, deliveries: Deliveries
):
    async with receiving() as receiver:
        gone = receiver.url
    await add_endpoint(store, an_endpoint(gone))
    await happen(store)
    worker = sending(store, clock)
    await sent(worker)
    await worker.close()
    [listed] = (await deliveries.page(staff(clock), EVERYTHING)).items

    [tried] = (await deliveries.get(staff(clock), listed.id)).attempts

    written = msgspec.json.decode(dumps(tried))
    assert written["failure"] == "connection"
    assert "status" not in written


async def test_other_companies_see_nothing_and_send_nothing(
    store: Store, clock: Clock, deliveries: Deliveries
):
    await add_endpoint(store, an_endpoint())
    await happen(store)
    [mine] = (await deliveries.page(staff(clock), EVERYTHING)).items
    stranger = staff(clock, STRANGERS)

    assert not (await deliveries.page(stranger, EVERYTHING)).items
    for asked in (
        deliveries.get(stranger, mine.id),
        deliveries.again(stranger, mine.id),
        deliveries.all_again(stranger, ENDPOINT, WINDOW),
        deliveries.ping(stranger, ENDPOINT),
    ):
        with pytest.raises(ServiceError) as refused:
            await asked
        assert refused.value.reason in {"delivery", "endpoint"}
    assert not await acts(store)
    assert not await deliveries.of_reference(stranger, ACCOUNT, "order-1")


async def test_a_delivery_is_sent_again_with_the_same_id_and_body(
    store: Store, clock: Clock, deliveries: Deliveries
):
    async with receiving() as receiver:
        await add_endpoint(store, an_endpoint(receiver.url))
        await happen(store)
        worker = sending(store, clock)
        await sent(worker)
        [mine] = (await deliveries.page(staff(clock), EVERYTHING)).items

        again = await deliveries.again(staff(clock), mine.id)

        assert (again.state, again.next_at) == (DeliveryState.WAITING, clock.now())
        assert await sent(worker) == 1
        await worker.close()
    first, second = receiver.came
    assert (first.id, first.body) == (second.id, second.body)
    assert await acts(store) == ["delivery.again"]


async def test_a_delivery_that_is_being_sent_is_not_sent_again(
    store: Store, clock: Clock, deliveries: Deliveries
):
    async with receiving(silence) as receiver:
        await add_endpoint(store, an_endpoint(receiver.url))
        await happen(store)
        worker = sending(store, clock)
        await worker.turn()
        await receiver.until_came(1)
        [mine] = (await deliveries.page(staff(clock), EVERYTHING)).items

        with pytest.raises(RuleViolation) as refused:
            await deliveries.again(staff(clock), mine.id)
        for each in list(worker._sending):
            each.cancel()
        await worker.close()

    assert refused.value.reason == "delivery_under_way"


async def test_a_delivery_of_a_removed_endpoint_is_not_sent_again(
    store: Store, clock: Clock, deliveries: Deliveries
):
    endpoint = await add_endpoint(store, an_endpoint())
    await happen(store)
    [mine] = (await deliveries.page(staff(clock), EVERYTHING)).items
    assert await endpoints_of(store.database).remove(endpoint, an_act())

    with pytest.raises(RuleViolation) as refused:
        await deliveries.again(staff(clock), mine.id)

    assert refused.value.reason == "endpoint_removed"


async def test_the_deliveries_of_a_time_are_sent_again(
    store: Store, clock: Clock, deliveries: Deliveries
):
    async with receiving() as receiver:
        await add_endpoint(store, an_endpoint(receiver.url))
        await happen(store, "order-1")
        await happen(store, "order-2")
        worker = sending(store, clock)
        await sent(worker)

        done = await deliveries.all_again(staff(clock), ENDPOINT, WINDOW)

        assert (done.deliveries, done.has_more) == (2, False)
        assert await sent(worker) == 2
        await worker.close()
    assert await acts(store) == ["delivery.all_again"]


async def test_a_time_that_ends_before_it_begins_is_refused(
    store: Store, clock: Clock, deliveries: Deliveries
):
    await add_endpoint(store, an_endpoint())

    with pytest.raises(RuleViolation) as refused:
        await deliveries.all_again(staff(clock), ENDPOINT, DeliveriesAgain(since=NOW, until=NOW))

    assert (refused.value.reason, refused.value.field) == ("until_early", "until")


@pytest.mark.parametrize("state", [EndpointState.PENDING, EndpointState.ACTIVE])
async def test_a_ping_is_sent_by_hand(
    store: Store, clock: Clock, deliveries: Deliveries, state: EndpointState
):
    async with receiving() as receiver:
        await add_endpoint(store, an_endpoint(receiver.url, state=state))
        made = await deliveries.ping(staff(clock), ENDPOINT)
        worker = sending(store, clock)
        await sent(worker)
        await worker.close()

    assert (made.type, receiver.came[0].id) == (PING, made.event_id)
    found = await endpoints_of(store.database).find(ENDPOINT)
    assert found is not None
    assert found.state is EndpointState.ACTIVE
    assert await acts(store) == [
        "endpoint.pinged",
        *(["endpoint.activated"] if state != found.state else []),
    ]


async def test_a_paused_endpoint_is_not_pinged(store: Store, clock: Clock, deliveries: Deliveries):
    await add_endpoint(store, an_endpoint(state=EndpointState.PAUSED))

    with pytest.raises(RuleViolation) as refused:
        await deliveries.ping(staff(clock), ENDPOINT)

    assert refused.value.reason == "endpoint_paused"


async def test_deliveries_of_a_payout_show_their_last_try(
    store: Store, clock: Clock, deliveries: Deliveries
):
    async with receiving() as receiver:
        await add_endpoint(store, an_endpoint(receiver.url))
        await add_endpoint(store, an_endpoint(endpoint_id="paused", state=EndpointState.PAUSED))
        await happen(store)
        worker = sending(store, clock)
        await sent(worker)
        await worker.close()

    told = await deliveries.of_reference(staff(clock), ACCOUNT, "order-1")

    last = {each.delivery.endpoint_id: each.last for each in told}
    assert last["paused"] is None
    assert last[ENDPOINT] is not None
    assert last[ENDPOINT].status == 200
