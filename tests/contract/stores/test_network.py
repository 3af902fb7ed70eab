"""PostgreSQL behind a network that closes, cuts and falls silent; a file has none."""

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest
from sqlalchemy import event, make_url, text

from gateway.app.store import Store
from gateway.core.storage import StoreUnavailable
from gateway.payouts.model import PayoutState
from tests.world.store import open_store
from tests.world.stores.patience import SHORT
from tests.world.stores.relay import Relay, relayed
from tests.world.stores.samples import ACCOUNT, attempt, change, payout
from tests.world.waiting import until

SENDING, ACCEPTED = PayoutState.SENDING, PayoutState.ACCEPTED


@pytest.fixture
def kind() -> str:
    """Only this one is reached over a network."""
    return "postgres"


@pytest.fixture
async def road(store: Store) -> AsyncIterator[Relay]:
    port = make_url(store.url).port
    assert port is not None
    async with relayed(port) as relay:
        yield relay


@pytest.fixture
async def far(store: Store, road: Relay) -> AsyncIterator[Store]:
    url = make_url(store.url).set(host="127.0.0.1", port=road.port)
    opened = open_store(url.render_as_string(hide_password=False), SHORT)
    yield opened
    await opened.close()


async def test_an_unreachable_server_is_reported_at_once_and_reconnected(
    far: Store, road: Relay
) -> None:
    assert await far.payouts.add(payout(), attempt()) is None
    await road.close()

    with pytest.raises(StoreUnavailable):
        await far.payouts.find(ACCOUNT, "order-1")
    with pytest.raises(StoreUnavailable):
        await far.check()

    await road.open()
    assert await far.payouts.find(ACCOUNT, "order-1") == payout()
    assert await far.payouts.record(change(SENDING, ACCEPTED))


async def test_a_connection_the_server_closed_is_replaced_unnoticed(
    far: Store, road: Relay
) -> None:
    made: list[asyncpg.Connection] = []
    engine = far.database.writer.sync_engine
    event.listen(engine, "connect", lambda each, _: made.append(each.driver_connection))
    await asyncio.gather(far.check(), far.check())
    assert made
    await road.cut()
    await until(lambda: all(each.is_closed() for each in made))

    await asyncio.gather(far.check(), far.check())


async def test_waiting_for_a_silent_server_is_limited(far: Store, road: Relay) -> None:
    """Statements, their cancellation and new connections all have a time limit."""
    await far.check()
    road.silent = True

    for _ in range(3):
        with pytest.raises(StoreUnavailable):
            await far.payouts.add(payout(), attempt())

    await road.cut()
    road.silent = False
    assert await far.payouts.add(payout(), attempt()) is None


async def test_a_connection_lost_in_the_middle_rolls_the_work_back(far: Store, road: Relay) -> None:
    async def write() -> None:
        async with far.database.writing() as connection:
            await connection.execute(text("UPDATE accounts SET name = 'half done'"))
            await road.cut()

    with pytest.raises(StoreUnavailable):
        await write()

    found = await far.accounts.find(ACCOUNT)
    assert found is not None
    assert found.name != "half done"
