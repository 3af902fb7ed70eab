"""The watch over endpoints between deliveries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gateway.app.store import Store
from gateway.core.company_scope import EVERY_COMPANY
from gateway.core.windows import Paging
from gateway.deliveries.model import PING, DeliverySearch, DeliveryState
from gateway.deliveries.store import DeliveryRecords
from gateway.deliveries.watch import EndpointWatch
from gateway.endpoints.model import EndpointState, PauseCause
from gateway.endpoints.notices import EndpointNews, EndpointNotice
from tests.world.deliveries import ENDPOINT, add_endpoint, an_endpoint, endpoints_of
from tests.world.standing import Clock
from tests.world.stores.samples import NOW
from tests.world.stores.samples import event as an_act

HOUR_S = 3600
EVERYTHING = DeliverySearch(paging=Paging(1, 100))


def counting() -> Callable[[int], bytes]:
    numbers = iter(range(100))
    return lambda size: next(numbers).to_bytes(size)


def watch(
    store: Store, clock: Clock, mails: list[tuple[str, EndpointNews]] | None = None
) -> EndpointWatch:
    """Return the watch; ``mails`` is given the endpoint and the news of each mail."""

    async def tell(notice: EndpointNotice) -> None:
        if mails is not None:
            mails.append((notice.endpoint.id, notice.news))

    return EndpointWatch(
        records=DeliveryRecords(store.database),
        endpoints=endpoints_of(store.database),
        now=clock.now,
        random=counting(),
        tell=tell,
    )


async def test_a_pending_endpoint_is_pinged_once_for_each_change(store: Store, clock: Clock):
    pending = await add_endpoint(store, an_endpoint(state=EndpointState.PENDING))
    await add_endpoint(store, an_endpoint(endpoint_id="active"))
    looked = watch(store, clock)
    for _ in range(2):
        await looked.turn()
    records = DeliveryRecords(store.database)
    [ping] = (await records.search(EVERYTHING, EVERY_COMPANY)).items
    assert (ping.endpoint_id, ping.type, ping.is_ping) == (ENDPOINT, PING, True)
    assert (ping.state, ping.next_at) == (DeliveryState.WAITING, clock.now())

    clock.passes(60)
    again = an_endpoint("https://b.example.com/", state=pending.state, changed_at=clock.now())
    assert await endpoints_of(store.database).change(pending, again, an_act())
    await looked.turn()

    assert (await records.search(EVERYTHING, EVERY_COMPANY)).total == 2


async def test_a_failure_is_mailed_after_an_hour_a_day_and_at_the_pause(store: Store, clock: Clock):
    mails: list[tuple[str, EndpointNews]] = []
    await add_endpoint(store, an_endpoint(failing_since=NOW))
    looked, told = watch(store, clock, mails), []

    for passes_s in (HOUR_S - 1, 1, 22 * HOUR_S, HOUR_S, 47 * HOUR_S, HOUR_S, HOUR_S):
        clock.passes(passes_s)
        await looked.turn()
        await looked.turn()
        told.append(len(mails))

    assert told == [0, 1, 1, 2, 2, 3, 3]
    failing, paused = (ENDPOINT, EndpointNews.FAILING), (ENDPOINT, EndpointNews.PAUSED)
    assert mails == [failing, failing, paused]
    endpoint = await endpoints_of(store.database).find(ENDPOINT)
    assert endpoint is not None
    assert (endpoint.state, endpoint.paused_because) == (EndpointState.PAUSED, PauseCause.GAVE_UP)


@pytest.mark.parametrize("because", [PauseCause.GONE, PauseCause.GAVE_UP])
async def test_a_pause_is_mailed_at_once_and_once(store: Store, clock: Clock, because: PauseCause):
    mails: list[tuple[str, EndpointNews]] = []
    paused: dict[str, Any] = {"state": EndpointState.PAUSED, "paused_because": because}
    await add_endpoint(store, an_endpoint(failing_since=NOW, **paused))

    for _ in range(2):
        await watch(store, clock, mails).turn()

    assert mails == [(ENDPOINT, EndpointNews.PAUSED)]
