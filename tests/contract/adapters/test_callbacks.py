"""A bank's callbacks from its registration to what it could not deliver, against a real bank."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from gateway.banks.port.provider_callbacks import (
    CallbackKind,
    CallbackOrder,
    Delivery,
)
from gateway.banks.port.providers import Refused
from tests.contract.adapters.options import Offering
from tests.world.banks.sandbox import BankWorld
from tests.world.waiting import until

SECRET = b"canary of a secret, 27 bytes"
GIVEN_UP_S = 60
OURS = b"pending/1"


@dataclass
class Receiver:
    """A receiver of callbacks; each is a ``Delivery``."""

    url: str = ""
    status: int = 200
    came: list[Delivery] = field(default_factory=list)

    async def take(self, request: web.Request) -> web.Response:
        """Take what is about our charge; the bank may tell of others that were there."""
        delivery = Delivery(headers=request.headers, body=await request.read())
        if OURS not in delivery.body:
            return web.Response()
        self.came.append(delivery)
        return web.Response(status=self.status)

    def order(self, secret: bytes = SECRET) -> CallbackOrder:
        return CallbackOrder(url=self.url, secret=secret)


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    made, application = Receiver(), web.Application()
    application.router.add_post("/callbacks", made.take)
    async with TestServer(application) as served:
        made.url = str(served.make_url("/callbacks"))
        yield made


async def paid(bank_world: BankWorld, reference: str = "pending/1") -> None:
    await bank_world.tell(f"/charges/{reference.replace('/', '%2F')}/pay", {"value": 10.50})


async def until_came(receiver: Receiver, count: int = 1) -> None:
    await until(lambda: len(receiver.came) >= count)


async def given_up(bank_world: BankWorld, receiver: Receiver, tries: int = 6) -> None:
    """Let the bank try until it gives up, by its own clock."""
    for tried in range(1, tries + 1):
        await until_came(receiver, tried)
        await bank_world.tell("/clock", {"offset_s": tried * GIVEN_UP_S})


async def test_undelivered_events_can_be_read_and_acknowledged(
    adapter: Offering, bank_world: BankWorld, receiver: Receiver
):
    """With the id of the callback, so that a repeated event is recognized."""
    receiver.status = 503
    await adapter.register_callback(bank_world.account, receiver.order())
    await paid(bank_world)
    await given_up(bank_world, receiver)

    await until(lambda: adapter.list_missed_events(bank_world.account, 10))
    (event,) = await adapter.list_missed_events(bank_world.account, 10)
    assert {each.headers["Webhook-Id"] for each in receiver.came} == {event.id}
    assert json.loads(event.body) == json.loads(receiver.came[0].body)
    assert (event.notice.kind, event.notice.subject) == (CallbackKind.CHARGE, "pending/1")

    await adapter.acknowledge_events(bank_world.account, ["evt_unknown"])
    assert len(await adapter.list_missed_events(bank_world.account, 10)) == 1
    for _ in range(2):
        await adapter.acknowledge_events(bank_world.account, [event.id])
    assert await adapter.list_missed_events(bank_world.account, 10) == ()


@pytest.mark.parametrize("url", ["https://127.0.0.1/", "http://192.0.2.1/", "ftp://x", "x"])
async def test_a_callback_to_another_host_is_refused(
    adapter: Offering, bank_world: BankWorld, url: str
):
    with pytest.raises(Refused):
        await adapter.register_callback(bank_world.account, CallbackOrder(url=url))
