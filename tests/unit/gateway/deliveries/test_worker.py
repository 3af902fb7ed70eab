"""The worker of deliveries: at least once, and no endpoint holds another up."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import pytest
import time_machine
from aiohttp import web
from standardwebhooks import Webhook

from gateway.app.store import Store
from gateway.core.company_scope import EVERY_COMPANY
from gateway.core.windows import Paging
from gateway.deliveries.model import Delivery, DeliverySearch, DeliveryState, TryFailure
from gateway.deliveries.places import MOST, MOST_OF_ENDPOINT
from gateway.deliveries.schedule import PAUSES, TRIES
from gateway.deliveries.store import CLAIM, DeliveryRecords
from gateway.deliveries.watch import new_ping
from gateway.deliveries.worker import DeliveryWorker
from gateway.endpoints.model import Endpoint, EndpointState, PauseCause
from gateway.events.model import Event, EventType, new_event_id
from gateway.events.store import append
from gateway.security.secrets import new_signing_secret
from tests.world.deliveries import (
    ENDPOINT,
    add_endpoint,
    an_endpoint,
    endpoints_of,
    ok,
    receiving,
    sending,
    sent,
    silence,
    with_status,
)
from tests.world.standing import Clock
from tests.world.stores.samples import ACCOUNT, NOW
from tests.world.stores.samples import event as an_act
from tests.world.waiting import until

HOUR = timedelta(hours=1)
EVERYTHING = DeliverySearch(paging=Paging(1, 100))


class Killed(BaseException):
    """The end of a process."""


async def happen(store: Store, *references: str, account_id: str = ACCOUNT) -> Sequence[Event]:
    told = [
        Event(
            id=new_event_id(lambda size, name=each: name.encode().rjust(size, b"-")[-size:]),
            account_id=account_id,
            type=EventType.PAYOUT_PAID,
            at=NOW,
            reference=each,
        )
        for each in references
    ]
    async with store.database.writing() as connection:
        await append(connection, *told)
    return told


async def kept(store: Store) -> Sequence[Delivery]:
    return (await DeliveryRecords(store.database).search(EVERYTHING, EVERY_COMPANY)).items


async def states(store: Store) -> list[DeliveryState]:
    return [each.state for each in await kept(store)]


async def found(store: Store, endpoint_id: str = ENDPOINT) -> Endpoint:
    endpoint = await endpoints_of(store.database).find(endpoint_id)
    assert endpoint is not None
    return endpoint


async def stopped(worker: DeliveryWorker) -> None:
    """End a worker whose receivers never answer."""
    for each in list(worker._sending):
        each.cancel()
    await worker.close()


async def test_an_event_is_delivered_once(store: Store, clock: Clock):
    async with receiving() as receiver:
        await add_endpoint(store, an_endpoint(receiver.url))
        [event] = await happen(store, "order-1")
        worker = sending(store, clock)

        assert await sent(worker) == 1
        assert await sent(worker) == 0
        await worker.close()

    [came] = receiver.came
    assert came.id == event.id
    assert came.document["data"] == {"account_id": ACCOUNT, "reference": "order-1"}
    assert await states(store) == [DeliveryState.DELIVERED]


async def test_a_failed_try_is_repeated_with_the_same_id_and_body(store: Store, clock: Clock):
    counted: list[str] = []
    async with receiving(with_status(500), ok) as receiver:
        await add_endpoint(store, an_endpoint(receiver.url))
        await happen(store, "order-1")
        worker = sending(store, clock, count=lambda _, outcome: counted.append(outcome))
        assert await sent(worker) == 1
        clock.passes(4)
        assert await sent(worker) == 0
        clock.passes(1)
        assert await sent(worker) == 1
        await worker.close()

    first, second = receiver.came
    assert (first.id, first.body) == (second.id, second.body)
    assert int(second.headers["webhook-timestamp"]) - int(first.headers["webhook-timestamp"]) == 5
    assert first.headers["webhook-signature"] != second.headers["webhook-signature"]
    assert await states(store) == [DeliveryState.DELIVERED]
    assert counted == ["failed", "delivered"]


async def test_a_former_secret_signs_until_its_end(store: Store, clock: Clock):
    async with receiving() as receiver:
        rotated = an_endpoint(receiver.url, former_secret_ends_at=NOW + HOUR)
        await add_endpoint(store, rotated, former=new_signing_secret(bytes))
        worker = sending(store, clock)
        for reference in ("order-1", "order-2", "order-3"):
            await happen(store, reference)
            await sent(worker)
            clock.passes(HOUR.total_seconds() / 2)
        await worker.close()

    signatures = [each.headers["webhook-signature"].split() for each in receiver.came]
    assert [len(each) for each in signatures] == [2, 2, 1]


async def test_a_new_secret_signs_at_once(store: Store, clock: Clock):
    async with receiving() as receiver:
        before = await add_endpoint(store, an_endpoint(receiver.url))
        worker = sending(store, clock)
        await happen(store, "order-1")
        await sent(worker)
        clock.passes(1)
        after = an_endpoint(receiver.url, secret_made_at=clock.now())
        secret = new_signing_secret(bytes)
        records = endpoints_of(store.database)
        assert await records.rotate(before, after, secret, an_act())
        await happen(store, "order-2")
        await sent(worker)
        await worker.close()

    came = receiver.came[1]
    with time_machine.travel(clock.now(), tick=False):
        assert Webhook(secret).verify(came.body, dict(came.headers))


async def test_an_endpoint_is_paused_when_a_delivery_is_given_up(store: Store, clock: Clock):
    counted: list[str] = []
    async with receiving(with_status(500)) as receiver:
        await add_endpoint(store, an_endpoint(receiver.url))
        await happen(store, "order-1")
        worker = sending(store, clock, count=lambda _, outcome: counted.append(outcome))
        for pause in (*PAUSES, timedelta()):
            assert (await found(store)).state is EndpointState.ACTIVE
            assert await sent(worker) == 1
            clock.passes(pause.total_seconds())
        assert await sent(worker) == 0
        await worker.close()

    assert len(receiver.came) == TRIES
    assert await states(store) == [DeliveryState.FAILED]
    endpoint = await found(store)
    assert (endpoint.state, endpoint.paused_because) == (EndpointState.PAUSED, PauseCause.GAVE_UP)
    assert endpoint.failing_since == NOW
    assert counted == [*["failed"] * (TRIES - 1), "gave_up"]


async def test_410_pauses_the_endpoint_at_once(store: Store, clock: Clock):
    counted: list[str] = []
    async with receiving(with_status(410)) as receiver:
        await add_endpoint(store, an_endpoint(receiver.url))
        await happen(store, "order-1", "order-2")
        worker = sending(store, clock, count=lambda _, outcome: counted.append(outcome))
        assert await sent(worker) == 1
        clock.passes(24 * 3600)
        assert await sent(worker) == 0
        await worker.close()

    endpoint = await found(store)
    assert (endpoint.state, endpoint.paused_because) == (EndpointState.PAUSED, PauseCause.GONE)
    assert sorted(await states(store)) == [DeliveryState.FAILED, DeliveryState.WAITING]
    assert counted == ["gone"]


@pytest.mark.parametrize(("wish_s", "pause_s"), [(100, 100), (7200, 3600)])
async def test_retry_after_is_obeyed_for_the_whole_endpoint(
    store: Store, clock: Clock, wish_s: int, pause_s: int
):
    async with receiving(with_status(429, Retry_After=str(wish_s)), ok) as receiver:
        await add_endpoint(store, an_endpoint(receiver.url))
        await happen(store, "order-1")
        worker = sending(store, clock)
        await sent(worker)
        await happen(store, "order-2")
        clock.passes(pause_s - 1)
        assert await sent(worker) == 0
        clock.passes(1)
        assert await sent(worker) == 2
        await worker.close()


async def test_an_endpoint_that_hangs_holds_no_other_up(store: Store, clock: Clock):
    async with receiving(silence) as hanging, receiving() as quick:
        for number in range(MOST - MOST_OF_ENDPOINT):
            await add_endpoint(store, an_endpoint(hanging.url, f"{number}"))
        await happen(store, *(f"order-{number}" for number in range(5)))
        worker = sending(store, clock)
        assert await worker.turn() == MOST - MOST_OF_ENDPOINT
        await hanging.until_came(MOST - MOST_OF_ENDPOINT)

        await add_endpoint(store, an_endpoint(quick.url, "quick"))
        await happen(store, "order-5")

        assert await worker.turn() == 1
        await quick.until_came(1)
        assert len(hanging.came) == MOST - MOST_OF_ENDPOINT
        await stopped(worker)


async def test_a_working_endpoint_gets_four_at_once(store: Store, clock: Clock):
    together, most = 0, 0
    gathered = asyncio.Event()

    async def slow(_request: web.Request) -> web.StreamResponse:
        nonlocal together, most
        together += 1
        most = max(most, together)
        if together == MOST_OF_ENDPOINT:
            gathered.set()
        await gathered.wait()
        together -= 1
        return web.Response()

    async with receiving(ok, ok, ok, slow) as receiver:
        await add_endpoint(store, an_endpoint(receiver.url))
        await happen(store, "order-0", "order-1", "order-2")
        worker = sending(store, clock)
        for _ in range(2):
            await worker.turn()
            await worker.finish()
        await happen(store, *(f"order-{number}" for number in range(3, 12)))

        assert await sent(worker) == 9
        await worker.close()

    assert most == MOST_OF_ENDPOINT
    assert len(receiver.came) == 12


async def test_a_worker_that_is_killed_between_answer_and_note_leaves_it_to_another(
    store: Store, clock: Clock
):
    def kill(point: str) -> None:
        assert point == "after_delivery"
        raise Killed

    async with receiving() as receiver:
        await add_endpoint(store, an_endpoint(receiver.url))
        await happen(store, "order-1")
        dying = sending(store, clock, failpoint=kill)
        await dying.turn()
        await asyncio.gather(*dying._sending, return_exceptions=True)
        await dying._work.sender.close()
        other = sending(store, clock, owner="other")
        clock.passes(CLAIM.total_seconds() - 1)
        assert await sent(other) == 0
        clock.passes(1)
        assert await sent(other) == 1
        await other.close()

    first, second = receiver.came
    assert (first.id, first.body) == (second.id, second.body)
    assert await states(store) == [DeliveryState.DELIVERED]
    assert [each.tries for each in await kept(store)] == [1]


async def test_a_worker_that_stops_gives_up_what_is_not_answered(
    store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("gateway.deliveries.worker.LAST_S", 0.01)
    async with receiving(silence, ok) as receiver:
        await add_endpoint(store, an_endpoint(receiver.url))
        await happen(store, "order-1")
        stopping = sending(store, clock)
        await stopping.turn()
        await receiver.until_came(1)
        await stopping.close()
        other = sending(store, clock, owner="other")

        assert await sent(other) == 1
        await other.close()

    assert await states(store) == [DeliveryState.DELIVERED]


async def test_a_silent_store_keeps_the_delivery(
    store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    async with receiving() as receiver:
        await add_endpoint(store, an_endpoint(receiver.url))
        await happen(store, "order-1")
        worker = sending(store, clock)
        with monkeypatch.context() as broken:
            broken.setattr("gateway.deliveries.store._END_TRY", "no statement")
            await worker.turn()
            await worker.finish()
        clock.passes(CLAIM.total_seconds())
        assert await sent(worker) == 1
        await worker.close()

    assert len(receiver.came) == 2
    assert "delivery_" in caplog.text
    assert await states(store) == [DeliveryState.DELIVERED]


@pytest.mark.parametrize("status", [200, 500])
async def test_an_answered_ping_activates_a_pending_endpoint_and_what_waited_is_sent(
    store: Store, clock: Clock, status: int
):
    async with receiving(with_status(status), ok) as receiver:
        pending = an_endpoint(receiver.url, state=EndpointState.PENDING)
        await add_endpoint(store, pending)
        await happen(store, "order-1")
        ping = new_ping(pending, clock.now(), lambda size: b"p" * size)
        await DeliveryRecords(store.database).add_ping(ping)
        worker = sending(store, clock)
        await sent(worker)
        await worker.close()

    answered = status == 200
    endpoint = await found(store)
    assert endpoint.state is (EndpointState.ACTIVE if answered else EndpointState.PENDING)
    assert endpoint.failing_since is None
    assert receiver.came[0].document == {
        "type": "endpoint.ping",
        "timestamp": "2026-11-20T12:30:15Z",
        "data": {"endpoint_id": ENDPOINT},
    }
    assert len(receiver.came) == 1 + answered


async def test_a_ping_to_an_address_that_was_changed_meanwhile_activates_nothing(
    store: Store, clock: Clock
):
    async def change(_request: web.Request) -> web.StreamResponse:
        before = await found(store)
        after = an_endpoint("https://other.example.com/", state=EndpointState.PENDING)
        assert await endpoints_of(store.database).change(before, after, an_act())
        return web.Response()

    async with receiving(change) as receiver:
        pending = an_endpoint(receiver.url, state=EndpointState.PENDING)
        await add_endpoint(store, pending)
        ping = new_ping(pending, clock.now(), lambda size: b"p" * size)
        await DeliveryRecords(store.database).add_ping(ping)
        worker = sending(store, clock)
        await sent(worker)
        await worker.close()

    assert (await found(store)).state is EndpointState.PENDING


async def test_success_ends_the_failure_of_an_endpoint(store: Store, clock: Clock):
    async with receiving(with_status(500), ok) as receiver:
        await add_endpoint(store, an_endpoint(receiver.url))
        await happen(store, "order-1")
        worker = sending(store, clock)
        await sent(worker)
        assert (await found(store)).failing_since == NOW
        clock.passes(5)
        await sent(worker)
        await worker.close()

    endpoint = await found(store)
    assert (endpoint.failing_since, endpoint.last_ok_at) == (None, clock.now())


async def test_nothing_is_claimed_while_the_clock_is_out_of_step(store: Store, clock: Clock):
    await add_endpoint(store, an_endpoint())
    await happen(store, "order-1")

    assert await sent(sending(store, clock, may_claim=lambda: False)) == 0


async def test_the_tries_of_a_delivery_are_kept(store: Store, clock: Clock):
    async with receiving(with_status(302, Location="/"), ok) as receiver:
        await add_endpoint(store, an_endpoint(receiver.url))
        await happen(store, "order-1")
        worker = sending(store, clock)
        await sent(worker)
        clock.passes(5)
        await sent(worker)
        await worker.close()

    [made] = await kept(store)
    tries = await DeliveryRecords(store.database).tries(made.id)
    assert [(each.status, each.failure) for each in tries] == [
        (302, TryFailure.REDIRECT),
        (200, TryFailure.NONE),
    ]


async def test_a_woken_worker_waits_for_no_turn(
    store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("gateway.deliveries.worker.EVERY_S", 3_600.0)
    looks: list[int] = []
    async with receiving() as receiver:
        await add_endpoint(store, an_endpoint(receiver.url))
        worker = sending(store, clock, may_claim=lambda: bool(looks.append(1)) or True)
        worker.task.start()
        await until(lambda: looks)
        await happen(store, "order-1")

        worker.wake()
        worker.wake()
        [came] = await receiver.until_came(1)
        await worker.task.stop()

    assert came.document["data"]["reference"] == "order-1"
