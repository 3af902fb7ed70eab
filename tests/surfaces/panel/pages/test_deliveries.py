"""Pages of deliveries: what was told, each try, pings and sending again."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from sqlalchemy import insert

from gateway.deliveries.model import Delivery, DeliveryState, TryFailure
from gateway.endpoints.model import Endpoint, EndpointSecret, NewEndpoint
from gateway.endpoints.service import Endpoints
from gateway.events.model import EventType
from gateway.store.kernel.structs import row_of
from gateway.store.tables.core import deliveries, delivery_tries
from tests.surfaces.panel.pages.person import Person
from tests.world.gateway.world import World, order

pytestmark = pytest.mark.asyncio(loop_scope="module")

URL = "https://entregas.loja.example/pix"
LIST = "/panel/deliveries"


async def added(world: World) -> Endpoint:
    """Add one by the command line that wants no event of this world."""
    company_id = world.demo["companies"]["main"]["id"]
    wanted = NewEndpoint(company_id=company_id, url=URL, types=(EventType.CREDENTIAL_EXPIRING,))
    made = await world.office.service(Endpoints).add(world.office.staff, wanted)
    assert isinstance(made, EndpointSecret)
    return made.endpoint


async def delivered(world: World, endpoint: Endpoint, reference: str) -> Delivery:
    """Store a delivery of a payout's event that was answered at the second try."""
    at = world.gateway.kernel.now()
    made = Delivery(
        id=f"dlv_{reference}",
        endpoint_id=endpoint.id,
        company_id=endpoint.company_id,
        is_ping=False,
        event_id=f"evt_{reference}",
        type=EventType.PAYOUT_PAID,
        at=at,
        account_id=world.demo["accounts"]["main"]["id"],
        reference=reference,
        body=b'{"type":"payout.paid"}',
        state=DeliveryState.DELIVERED,
        tries=2,
        ended_at=at,
    )
    tries = [
        {"number": 1, "status": None, "failure": TryFailure.TIMEOUT.value, "ms": 10_000},
        {"number": 2, "status": 200, "failure": "", "ms": 84},
    ]
    async with world.gateway.kernel.store.database.writing() as connection:
        await connection.execute(insert(deliveries), dict(row_of(made)))
        rows = [{**each, "delivery_id": made.id, "at": at} for each in tries]
        await connection.execute(insert(delivery_tries), rows)
    return made


async def test_a_delivery_shows_each_try_and_what_is_sent(viewer: Person, world: World):
    endpoint = await added(world)
    made = await delivered(world, endpoint, "shown-1")

    listed = await viewer.open(f"{LIST}?state=delivered")
    one = await viewer.open(f"{LIST}/{made.id}")
    of_endpoint = await viewer.open(f"/panel/endpoints/{endpoint.id}")
    absent = await viewer.open(f"{LIST}/dlv_0")

    for page in (listed, of_endpoint):
        assert f"{LIST}/{made.id}" in page.text
    assert "2 tentativas" in listed.text
    assert "sem resposta completa em 10 segundos" in one.text
    assert "200 · entregue" in one.text
    assert "{&#34;type&#34;:&#34;payout.paid&#34;}" in one.text
    assert made.event_id in one.text
    assert "Enviar de novo" not in one.text
    assert absent.status == 404


async def test_a_payout_page_shows_when_its_event_was_delivered(viewer: Person, world: World):
    await world.pay(order("told-1", world.today()))
    await world.settled("told-1")
    made = await delivered(world, await added(world), "told-1")
    account = world.demo["accounts"]["main"]["id"]

    page = await viewer.open(f"/panel/accounts/{account}/payouts/told-1")

    assert "parceiro avisado às" in page.text
    assert "200 em 84 ms" in page.text
    assert f"{LIST}/{made.id}" in page.text


async def test_a_delivery_is_sent_again(keeper: Person, world: World):
    made = await delivered(world, await added(world), "again-1")
    await keeper.open(f"{LIST}/{made.id}")

    done = await keeper.send(f"{LIST}/{made.id}/again")

    assert (done.status, done.location) == (303, f"{LIST}/{made.id}")
    assert "aguarda" in (await keeper.open(done.location)).text


async def test_a_ping_is_sent_by_hand(keeper: Person, world: World):
    page = f"/panel/endpoints/{(await added(world)).id}"
    await keeper.open(f"{page}/deliveries")

    done = await keeper.send(f"{page}/ping")

    assert re.fullmatch(rf"{LIST}/dlv_[0-9a-f]{{32}}", done.location)
    assert "endpoint.ping" in (await keeper.open(done.location)).text


async def test_the_deliveries_of_some_days_are_sent_again(keeper: Person, world: World):
    endpoint = await added(world)
    await delivered(world, endpoint, "days-1")
    page, day = f"/panel/endpoints/{endpoint.id}", world.gateway.kernel.now().date()
    days = {"init": str(day - timedelta(days=1)), "ends": str(day + timedelta(days=1))}
    await keeper.open(f"{page}/deliveries")

    given_up = await keeper.send(f"{page}/again", days)
    all_of_them = await keeper.send(f"{page}/again", {**days, "delivered": "1"})
    refused = await keeper.send(f"{page}/again", {"init": "x", "ends": days["ends"]})

    assert given_up.location == f"{page}/deliveries?again=0"
    assert all_of_them.location == f"{page}/deliveries?again=1"
    assert "Enviadas de novo: 1." in (await keeper.open(all_of_them.location)).text
    assert refused.status == 400
