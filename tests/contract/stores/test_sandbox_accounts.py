"""Accounts that partners opened, on each database: how many of them, when they end."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

from gateway.app.store import Store
from gateway.sandbox.store import OpenedAccount, OpenedAccounts
from tests.contract.stores.databases import both
from tests.world.stores.samples import NOW

DAY = timedelta(days=1)


def records(store: Store, of_network: int = 2, in_all: int = 3) -> OpenedAccounts:
    return OpenedAccounts(store.database, of_network, in_all)


def sample(account_id: str, at: datetime = NOW, network: str = "192.0.2.1") -> OpenedAccount:
    return OpenedAccount(account_id=account_id, network=network, opened_at=at, ends_at=at + DAY)


@both
async def test_a_network_has_so_many_until_the_oldest_of_them_ends(store: Store):
    hour = timedelta(hours=1)
    for number in range(2):
        assert await records(store).add(sample(str(number), NOW + number * hour)) is None

    third = await records(store).add(sample("2", NOW + 2 * hour))
    other = await records(store).add(sample("3", NOW + 2 * hour, "192.0.2.2"))
    next_day = await records(store).add(sample("4", NOW + DAY))

    assert (third, other, next_day) == (NOW + DAY, None, None)


@both
async def test_all_networks_together_have_so_many(store: Store):
    for number in range(3):
        assert await records(store).add(sample(str(number), NOW, str(number))) is None

    assert await records(store).add(sample("3", NOW, "3")) == NOW + DAY
    assert await records(store).add(sample("3", NOW + DAY, "3")) is None


@both
async def test_sandbox_accounts_added_at_once_are_counted_in_turn(store: Store):
    added = await asyncio.gather(
        *(records(store, 2, 100).add(sample(str(number))) for number in range(8))
    )

    assert added.count(None) == 2
    assert len(await records(store).ended(NOW + 2 * DAY)) == 2


@both
async def test_ended_sandbox_accounts_are_found_until_they_are_forgotten(store: Store):
    await records(store).add(sample("old"))
    await records(store).add(sample("new", NOW + DAY))

    found = await records(store).ended(NOW + DAY + timedelta(seconds=1))
    await records(store).forget("old")
    await records(store).forget("old")

    assert list(found) == ["old"]
    assert list(await records(store).ended(NOW + 3 * DAY)) == ["new"]
