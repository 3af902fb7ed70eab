"""Endpoints on each database: what deliveries write of them while people change them."""

from __future__ import annotations

import asyncio
import dataclasses
from datetime import timedelta

import pytest
from msgspec.structs import replace
from sqlalchemy import insert, select

from gateway.app.store import Store
from gateway.core.storage import StoreUnavailable
from gateway.endpoints.model import MOST_OF_COMPANY, Endpoint, EndpointState, PauseCause
from gateway.endpoints.store import EndpointRecords
from gateway.events.model import EventType
from gateway.security.sealing import SealBroken, Sealer
from gateway.store.kernel.structs import row_of
from gateway.store.tables.core import audit, companies, endpoints
from tests.contract.stores.databases import both, server_alone
from tests.contract.stores.locks import until_blocked
from tests.world.kernel import KEYS
from tests.world.stores.samples import ACCOUNT, COMPANY, NOW, event

ONE = "7d7e4a0b-9e0e-4a3c-8f5e-3c1f0a9b2c01"
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
SECRET, NEXT = "whsec_one", "whsec_two"


def records(store: Store, sealer: Sealer = KEYS.sealer) -> EndpointRecords:
    return EndpointRecords(store.database, sealer)


def sample(endpoint_id: str = ONE, **more: object) -> Endpoint:
    named = {"id": endpoint_id, "company_id": COMPANY, "url": "https://events.example.com/pix"}
    made = {"created_at": NOW, "created_by": "cli", "changed_at": NOW, "changed_by": "cli"}
    told: dict[str, object] = {"types": (), "account_ids": (), "secret_made_at": NOW}
    none = {"former_secret_ends_at": None, "last_ok_at": None, "failing_since": None}
    state = {"state": EndpointState.PENDING, "paused_because": PauseCause.NONE, "mailed_h": 0}
    return Endpoint(**{**named, **made, **told, **none, **state, **more})  # type: ignore[arg-type]


async def add(store: Store, endpoint: Endpoint, secret: str = SECRET) -> bool:
    added = event("endpoint.added", endpoint.subject)
    return await records(store).add(endpoint, secret, added)


@pytest.fixture
async def one(store: Store) -> Endpoint:
    """An endpoint that is told of two types of one account."""
    types = (EventType.PAYOUT_FAILED, EventType.PAYOUT_PAID)
    endpoint = sample(types=types, account_ids=(ACCOUNT,))
    assert await add(store, endpoint)
    return endpoint


async def found(store: Store) -> Endpoint:
    endpoint = await records(store).find(ONE)
    assert endpoint is not None
    return endpoint


@both
async def test_a_stored_endpoint_is_read_back_unchanged(store: Store, one: Endpoint) -> None:
    assert await found(store) == one
    assert await records(store).of_company(COMPANY) == [one]
    assert await records(store).secrets(ONE, NOW) == [SECRET]
    assert await records(store).find("nobody") is None
    assert await records(store).secrets("nobody", NOW) == ()


@both
async def test_a_company_has_ten_endpoints_at_most(store: Store) -> None:
    added = [await add(store, sample(str(number))) for number in range(MOST_OF_COMPANY + 1)]

    assert added == [True] * MOST_OF_COMPANY + [False]
    assert len(await records(store).of_company(COMPANY)) == MOST_OF_COMPANY


@server_alone
async def test_two_that_are_added_at_once_do_not_pass_the_limit(
    store: Store, second: Store
) -> None:
    """The second one waits for the first, and counts it."""
    for number in range(MOST_OF_COMPANY - 1):
        assert await add(store, sample(str(number)))
    last = {**row_of(sample("last")), "sealed_secret": b""}
    async with store.database.writing() as first:
        await first.execute(select(companies.c.id).with_for_update())
        adding = asyncio.create_task(add(second, sample("one more")))
        await until_blocked(store)
        await first.execute(insert(endpoints), last)

    assert await adding is False
    assert len(await records(store).of_company(COMPANY)) == MOST_OF_COMPANY


async def test_an_endpoint_is_not_stored_without_its_event(store: Store) -> None:
    with pytest.raises(StoreUnavailable):
        await records(store).add(sample(), SECRET, dataclasses.replace(event(), actor="\ud800"))

    assert await records(store).find(ONE) is None


@both
async def test_an_answered_ping_activates_the_address_that_was_pinged(
    store: Store, one: Endpoint
) -> None:
    moved = replace(one, url="https://elsewhere.example.com/")
    changed = event("endpoint.changed", one.subject)

    assert await records(store).change(one, moved, changed)
    assert not await records(store).activate(one, NOW)
    assert (await found(store)).state is EndpointState.PENDING
    assert await records(store).activate(moved, NOW)
    assert not await records(store).activate(moved, NOW)

    active = await found(store)
    assert (active.state, active.last_ok_at) == (EndpointState.ACTIVE, NOW)


@both
async def test_deliveries_pause_the_address_that_failed_and_once(
    store: Store, one: Endpoint
) -> None:
    moved = replace(one, url="https://elsewhere.example.com/")
    await records(store).change(one, moved, event("endpoint.changed", one.subject))
    before = await store.audit.verify()

    assert not await records(store).pause(one, PauseCause.GONE, NOW)
    assert await store.audit.verify() == before
    assert await records(store).pause(moved, PauseCause.GONE, NOW)
    assert not await records(store).pause(moved, PauseCause.GAVE_UP, NOW)

    paused = await found(store)
    assert (paused.state, paused.paused_because) == (EndpointState.PAUSED, PauseCause.GONE)


@both
async def test_an_endpoint_fails_from_its_first_failure_until_a_success(
    store: Store, one: Endpoint
) -> None:
    kept = records(store)

    await kept.note_failure(one, NOW)
    await kept.note_failure(one, NOW + HOUR)
    failing = await found(store)
    mailed = [await kept.note_mail(one, hours) for hours in (1, 1, 24)]
    told = await found(store)
    await kept.note_success(one, NOW + HOUR)
    over = await found(store)

    assert (failing.failing_since, failing.mailed_h) == (NOW, 0)
    assert (mailed, told.mailed_h) == ([True, False, True], 24)
    assert (over.failing_since, over.mailed_h, over.last_ok_at) == (None, 0, NOW + HOUR)
    assert not await kept.note_mail(one, 1)


@both
async def test_answers_are_noted_once_a_minute(store: Store, one: Endpoint) -> None:
    kept = records(store)
    noted = []
    for at in (NOW, NOW + MINUTE / 2, NOW + MINUTE):
        await kept.note_success(one, at)
        noted.append((await found(store)).last_ok_at)

    assert noted == [NOW, NOW, NOW + MINUTE]


@both
async def test_another_address_has_to_answer_unless_people_paused_it(
    store: Store, one: Endpoint
) -> None:
    kept, moved = records(store), replace(one, url="https://elsewhere.example.com/")
    changed = event("endpoint.changed", one.subject)
    paused = replace(one, state=EndpointState.PAUSED, paused_because=PauseCause.OPERATOR)
    await kept.activate(one, NOW)
    assert not await kept.set_state(one, paused, changed)
    assert await kept.set_state(await found(store), paused, changed)

    assert await kept.change(one, moved, changed)
    assert not await kept.change(one, moved, changed)
    held = await found(store)
    resumed = replace(held, state=EndpointState.PENDING, paused_because=PauseCause.NONE)
    assert await kept.set_state(held, resumed, changed)
    await kept.activate(moved, NOW)
    assert await kept.change(moved, one, changed)

    assert (held.url, held.paused_because, held.last_ok_at) == (
        moved.url,
        PauseCause.OPERATOR,
        None,
    )
    assert await found(store) == one


@both
async def test_a_former_secret_signs_until_its_end(store: Store, one: Endpoint) -> None:
    kept = records(store)
    rotated = replace(one, former_secret_ends_at=NOW + HOUR, secret_made_at=NOW + MINUTE)
    act = event("endpoint.rotated", one.subject)

    assert await kept.rotate(one, rotated, NEXT, act)
    assert not await kept.rotate(one, rotated, "whsec_three", act)

    assert await kept.secrets(ONE, NOW) == [NEXT, SECRET]
    assert await kept.secrets(ONE, NOW + HOUR) == [NEXT]
    assert await found(store) == rotated


async def test_a_secret_opens_for_its_own_endpoint_alone(store: Store, one: Endpoint) -> None:
    other = Sealer({"other": b"k" * 32}, "other")

    with pytest.raises(SealBroken):
        await records(store, other).secrets(one.id, NOW)


@both
async def test_the_event_of_a_removed_endpoint_is_of_its_company(
    store: Store, one: Endpoint
) -> None:
    gone = event("endpoint.removed", one.subject)

    assert await records(store).remove(one, gone)
    assert not await records(store).remove(one, gone)

    newest = select(audit.c.companies).order_by(audit.c.number.desc()).limit(1)
    [last] = await store.database.rows(newest)
    assert last.companies == COMPANY
