"""A store belongs to one environment and one schema, and a gateway of another refuses it."""

import asyncio
from datetime import timedelta

import pytest

from gateway.app.store import Store, prepare
from gateway.core.account import Environment
from gateway.store.stamp import Stamp, StoreRefused
from tests.contract.stores.databases import both
from tests.world.store import open_store
from tests.world.stores.patience import LONG
from tests.world.stores.samples import NOW, now

pytestmark = both

SANDBOX, PRODUCTION = Environment.SANDBOX, Environment.PRODUCTION


async def test_a_fresh_store_is_stamped_once(fresh: Store) -> None:
    """The stamp is never changed, however long the store is used."""
    first = await prepare(fresh, SANDBOX, migrate=True, now=now, new_id=lambda: "id-1")
    again = await prepare(
        fresh, SANDBOX, migrate=False, now=lambda: NOW + timedelta(days=400), new_id=lambda: "id-2"
    )

    assert first == Stamp(environment=SANDBOX, id="id-1", created_at=NOW)
    assert again == first


@pytest.mark.parametrize(("mine", "other"), [(SANDBOX, PRODUCTION), (PRODUCTION, SANDBOX)])
async def test_either_environment_refuses_the_others_store(
    unstamped: Store, mine: Environment, other: Environment
) -> None:
    await prepare(unstamped, mine, migrate=False, now=now)

    for migrate in (True, False):
        with pytest.raises(StoreRefused, match=rf"^The store belongs to {mine}, .* {other}\.$"):
            await prepare(unstamped, other, migrate=migrate, now=now)


async def test_a_store_without_tables_is_refused_unless_migration_is_allowed(fresh: Store) -> None:
    with pytest.raises(
        StoreRefused, match=r"^The store has no schema yet, .* `pixgate db upgrade`\.$"
    ):
        await prepare(fresh, SANDBOX, migrate=False, now=now)


async def test_a_migrated_store_without_a_stamp_gets_one(unstamped: Store) -> None:
    stamp = await prepare(unstamped, PRODUCTION, migrate=False, now=now)

    assert stamp.environment is PRODUCTION


async def test_many_gateways_may_start_on_a_fresh_store_at_once(fresh: Store, url: str) -> None:
    """One migrates and stamps; the others find it done."""
    others = [open_store(url, LONG) for _ in range(3)]

    stamps = await asyncio.gather(
        *(prepare(each, SANDBOX, migrate=True, now=now) for each in [fresh, *others])
    )

    for other in others:
        await other.close()
    assert len(set(stamps)) == 1


async def test_of_two_environments_on_a_fresh_store_one_is_refused(unstamped: Store) -> None:
    other = open_store(unstamped.url, LONG)

    results = await asyncio.gather(
        prepare(unstamped, SANDBOX, migrate=False, now=now),
        prepare(other, PRODUCTION, migrate=False, now=now),
        return_exceptions=True,
    )

    await other.close()
    assert {type(result) for result in results} == {Stamp, StoreRefused}
