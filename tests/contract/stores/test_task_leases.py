"""Leases of tasks on both databases: one has it, until it ends or is left."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from gateway.app.store import Store
from gateway.core.storage import LEASE
from tests.contract.stores.databases import both

pytestmark = both

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


async def test_a_lease_is_taken_renewed_and_refused(store: Store):
    assert await store.leases.latest(NOW) is None
    assert await store.leases.take("mail", "one", NOW)
    assert not await store.leases.take("mail", "two", NOW)
    assert await store.leases.take("mail", "one", NOW + LEASE / 2)
    assert not await store.leases.take("mail", "two", NOW + LEASE)

    assert await store.leases.latest(NOW + LEASE) == NOW + LEASE * 1.5


@pytest.mark.parametrize("moved", [LEASE, -timedelta(hours=2)], ids=["over", "clock put back"])
async def test_an_expired_lease_can_be_taken(store: Store, moved: timedelta):
    await store.leases.take("mail", "one", NOW)

    assert await store.leases.take("mail", "two", NOW + moved)
    assert not await store.leases.take("mail", "one", NOW + moved)


async def test_processes_with_clocks_seconds_apart_respect_each_other_s_leases(store: Store):
    await store.leases.take("mail", "one", NOW + timedelta(seconds=5))

    assert not await store.leases.take("mail", "two", NOW)


async def test_a_lease_too_far_ahead_is_ignored(store: Store):
    """It was taken before the clock was set back; the running worker has another one."""
    await store.leases.take("retention", "one", NOW)
    back = NOW - timedelta(hours=2)

    assert await store.leases.latest(back) is None
    await store.leases.take("presence", "one", back)
    assert await store.leases.latest(back) == back + LEASE


async def test_a_release_ends_every_lease_of_its_owner(store: Store):
    for task, owner in (("mail", "one"), ("figures", "one"), ("retention", "two")):
        await store.leases.take(task, owner, NOW)

    await store.leases.release("one", NOW)

    taken = [await store.leases.take(task, "three", NOW) for task in ("mail", "figures")]
    assert taken == [True, True]
    assert not await store.leases.take("retention", "three", NOW)


@pytest.mark.parametrize("before", [None, NOW - LEASE], ids=["never taken", "over"])
async def test_of_many_concurrent_takers_of_a_lease_one_succeeds(
    store: Store, before: datetime | None
):
    if before is not None:
        await store.leases.take("mail", "old", before)

    taken = await asyncio.gather(
        *(store.leases.take("mail", str(number), NOW) for number in range(8))
    )

    assert sum(taken) == 1
