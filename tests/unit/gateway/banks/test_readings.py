"""Balances are read while a page is open, and at most once a minute."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from msgspec import UNSET

from gateway.banks.model import Reading
from gateway.banks.port.capabilities import Capabilities, PortCall
from gateway.banks.port.providers import Bank, ProviderAccount, Unreachable
from gateway.banks.port.statements import Balance
from gateway.banks.readings import Readings
from gateway.core.account import Account
from gateway.core.company_scope import EVERY_COMPANY, CompanyScope
from gateway.core.money import Money, Sum
from tests.unit.standing_payouts import company_and_accounts
from tests.world.acts import reader
from tests.world.registers import Registers
from tests.world.stores.samples import ACCOUNT, SISTER


class Adapter:
    """A bank that holds ten reais, or does not answer."""

    capabilities = Capabilities(calls=frozenset({PortCall.GET_BALANCE}))

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.is_down = self.hangs = False

    async def get_balance(self, account: ProviderAccount) -> Balance:
        self.asked.append(account.account_id)
        if self.hangs:
            await asyncio.Event().wait()
        if self.is_down:
            reason = "timeout"
            raise Unreachable(reason)
        return Balance(balance=Money(1000), blocked=None, updated_at=None)


class World:
    """A viewer of two accounts, and the background reads of their bank."""

    def __init__(self, office: Registers) -> None:
        self.clock, self.adapter, self.store = office.clock, Adapter(), office.store
        self.readings = self.process()

    def process(self) -> Readings:
        banks: Any = self
        store = self.store
        return Readings(
            database=store.database, find_account=store.accounts.find, banks=banks, now=self.clock
        )

    def of(self, found: Account) -> Bank:
        adapter: Any = self.adapter
        who = ProviderAccount(account_id=found.id, provider_account="1", credentials="")
        return Bank(name="p", adapter=adapter, account=who, read_only=False)

    async def look(self) -> Reading:
        """Look at both; return the first."""
        return (await self.readings.look(reader()))[0]


@pytest.fixture
async def world(office: Registers) -> World:
    await company_and_accounts(office.store)
    return World(office)


async def test_the_first_read_of_balances_does_not_wait_for_the_bank(world: World):
    before = await world.look()
    assert world.readings.wake.is_set()
    assert await world.readings.turn() == 2
    after = await world.look()

    assert (before.balance, before.blocked, before.read_at) == (UNSET, UNSET, None)
    assert (after.balance, after.read_at) == (Sum(1000), world.clock())


async def test_reading_one_balance_does_not_wait_for_the_bank(world: World):
    before = await world.readings.of(EVERY_COMPANY, ACCOUNT)
    assert await world.readings.turn() == 1
    after = await world.readings.of(EVERY_COMPANY, ACCOUNT)

    assert before is not None
    assert after is not None
    assert (before.balance, after.balance) == (UNSET, Sum(1000))
    assert await world.readings.of(CompanyScope(frozenset()), ACCOUNT) is None
    assert world.readings.wanted == set()


async def test_a_requested_balance_is_read_at_most_once_a_minute(world: World):
    for _ in range(3):
        await world.look()
        await world.readings.turn()
    assert sorted(world.adapter.asked) == [ACCOUNT, SISTER]  # at once, in any order

    world.clock.passes(seconds=61)
    await world.readings.turn()
    assert len(world.adapter.asked) == 2
    await world.look()
    await world.readings.turn()

    assert len(world.adapter.asked) == 4


async def test_two_processes_read_a_balance_once(world: World):
    other = world.process()
    for each in (world.readings, other):
        await each.look(reader())

    assert (await world.readings.turn(), await other.turn()) == (2, 0)
    assert len(world.adapter.asked) == 2


async def test_a_failing_bank_keeps_the_last_reading(world: World):
    await world.look()
    await world.readings.turn()
    read_at = world.clock()
    world.adapter.is_down = True
    world.clock.passes(seconds=61)

    await world.look()

    assert await world.readings.turn() == 0
    found = await world.look()
    assert (found.balance, found.read_at) == (Sum(1000), read_at)


async def test_an_approver_sees_the_current_balance(world: World):
    """A reading of the last few seconds is used again."""
    first = await world.readings.now_of(EVERY_COMPANY, ACCOUNT)
    again = await world.readings.now_of(EVERY_COMPANY, ACCOUNT)
    world.clock.passes(seconds=6)
    later = await world.readings.now_of(EVERY_COMPANY, ACCOUNT)

    assert [each and each.balance for each in (first, again, later)] == [Sum(1000)] * 3
    assert later is not None
    assert later.read_at == world.clock()
    assert world.adapter.asked == [ACCOUNT, ACCOUNT]
    assert await world.readings.now_of(CompanyScope(frozenset()), ACCOUNT) is None


async def test_a_slow_bank_leaves_the_last_reading(world: World):
    await world.readings.now_of(EVERY_COMPANY, ACCOUNT)
    read_at = world.clock()
    world.clock.passes(seconds=61)
    world.adapter.hangs = True

    found = await replace(world.readings, deadline_s=0.05).now_of(EVERY_COMPANY, ACCOUNT)

    assert found is not None
    assert (found.balance, found.read_at) == (Sum(1000), read_at)


async def test_a_balance_read_for_a_page_is_stored(world: World):
    account = await world.store.accounts.find(ACCOUNT)
    assert account is not None

    held = await world.readings.live(account)

    kept = await world.look()
    assert (held.balance, kept.balance, kept.read_at) == (Money(1000), Sum(1000), world.clock())
    assert world.readings.wanted == {SISTER}


async def test_a_deleted_account_is_not_read(world: World):
    world.readings.wanted.add("gone")

    assert await world.readings.turn() == 0
    assert world.adapter.asked == []
