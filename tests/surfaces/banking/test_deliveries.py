"""Deliveries over sockets: from a payout that ends to a signed event at the partner's endpoint."""

from __future__ import annotations

import re
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
import pytest_asyncio
import time_machine
from standardwebhooks import Webhook

from gateway.config.settings import Events
from gateway.core.access import Staff
from gateway.core.windows import Paging
from gateway.deliveries.model import DeliveryDetail, DeliverySearch, DeliveryState
from gateway.endpoints.model import EndpointSecret, NewEndpoint
from gateway.events.model import EventType
from tests.world.deliveries import Came, Receiver, judged_receiver, receiving
from tests.world.gateway.world import World, opened, order, sandbox
from tests.world.waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAGE = Path(__file__).parents[3] / "docs/events.md"
PROGRAM = re.compile(r"^```python\n(\"\"\"Take deliveries.*?)^```", re.MULTILINE | re.DOTALL)
PAYOUTS = (EventType.PAYOUT_PAID, EventType.PAYOUT_FAILED)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    settings = sandbox(tmp_path_factory.mktemp("world"), events=Events(allow_local=True))
    async with opened(settings) as made:
        yield made


def staff(world: World) -> Staff:
    return Staff(world.office.acting)


async def add(world: World, url: str, types: Sequence[EventType] = PAYOUTS) -> EndpointSecret:
    """Add an endpoint of the main company, by the command line."""
    wanted = NewEndpoint(
        company_id=world.demo["companies"]["main"]["id"], url=url, types=tuple(types)
    )
    made = await world.gateway.services.endpoints.add(staff(world), wanted)
    assert isinstance(made, EndpointSecret)
    return made


async def remove(world: World, endpoint: EndpointSecret) -> None:
    await world.gateway.services.endpoints.remove(staff(world), endpoint.endpoint.id)


async def of(world: World, endpoint: EndpointSecret, kind: str) -> DeliveryDetail:
    """Return the delivery of a type to an endpoint, once it is delivered."""
    deliveries = world.gateway.services.deliveries
    wanted = DeliverySearch(
        paging=Paging(1, 1),
        endpoint_id=endpoint.endpoint.id,
        type=kind,
        state=DeliveryState.DELIVERED,
    )

    async def found() -> DeliveryDetail | None:
        listed = (await deliveries.page(staff(world), wanted)).items
        return await deliveries.get(staff(world), listed[0].id) if listed else None

    return await until(found)


def verified(world: World, endpoint: EndpointSecret, came: Came) -> dict[str, object]:
    """Verify a delivery by the partner's library, whose clock is that of the gateway."""
    with time_machine.travel(world.gateway.kernel.now(), tick=False):
        event: dict[str, object] = Webhook(endpoint.secret).verify(came.body, dict(came.headers))
    return event


async def came_of(receiver: Receiver, reference: str) -> Came:
    async def found() -> Came | None:
        told = [
            each for each in receiver.came if each.document["data"].get("reference") == reference
        ]
        return told[0] if told else None

    return await until(found)


async def test_a_paid_payout_is_delivered_to_an_endpoint_that_answered_a_ping(world: World):
    async with receiving() as receiver:
        endpoint = await add(world, receiver.url)
        ping = await of(world, endpoint, "endpoint.ping")
        await world.pay(order("delivered-1", world.today()))

        came = await came_of(receiver, "delivered-1")
        shown = await of(world, endpoint, "payout.paid")
        await remove(world, endpoint)

    account_id = world.demo["accounts"]["main"]["id"]
    event = verified(world, endpoint, came)
    assert verified(world, endpoint, receiver.came[0])["type"] == "endpoint.ping"
    assert receiver.came[0].id == ping.event_id
    assert event["type"] == "payout.paid"
    assert event["data"] == {"account_id": account_id, "reference": "delivered-1"}
    feed = await world.ask("GET", f"/events/v1/account/{account_id}/events?types=payout.paid")
    [told] = [each for each in feed.document["data"] if each["data"] == event["data"]]
    assert told == {"id": came.id, **event}
    assert shown.body.encode() == came.body
    assert [(each.status, each.failure) for each in shown.attempts] == [(200, "")]


async def test_an_event_of_a_callback_is_delivered_without_waiting_for_the_next_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("gateway.deliveries.worker.EVERY_S", 3_600.0)
    settings = sandbox(tmp_path, events=Events(allow_local=True))
    async with opened(settings) as world, receiving() as receiver:
        endpoint = await add(world, receiver.url)
        await world.run_task("endpoints")
        await world.run_task("deliveries")
        await of(world, endpoint, "endpoint.ping")

        await world.pay(order("woken-1", world.today()))
        _, came = await receiver.until_came(2)

        assert verified(world, endpoint, came)["type"] == "payout.paid"


@pytest.mark.process
async def test_the_receiver_of_the_page_verifies_what_comes(tmp_path: Path):
    [program] = PROGRAM.findall(PAGE.read_text(encoding="utf-8"))
    file = tmp_path / "receiver.py"
    file.write_text(program, encoding="utf-8")

    answers, line = await judged_receiver([sys.executable, str(file)])

    assert answers == [204, 204, 401, 401]
    assert line == "evt_1 payout.paid {'reference': 'order-1'}\n"
