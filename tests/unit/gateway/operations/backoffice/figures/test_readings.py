"""Balances are asked for while somebody looks, and at most once a minute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from gateway.domain.accounts.accounts import Account
from gateway.domain.backoffice.readings import AccountReading
from gateway.domain.bank.capabilities import Capabilities, PortCall
from gateway.domain.bank.providers import Bank, ProviderAccount, Unreachable
from gateway.domain.bank.statements import Balance
from gateway.domain.kernel.company_scope import EVERY_COMPANY, CompanyScope
from gateway.domain.kernel.money import Money
from gateway.operations.backoffice.figures.readings import Readings
from tests.world.people import account
from tests.world.standing import Clock

OURS = account()


@dataclass
class Kept:
    """One account's reading."""

    reading: AccountReading = field(
        default_factory=lambda: AccountReading(
            account_id=OURS.id,
            account_name="Conta",
            provider="p",
            balance=None,
            blocked=None,
            read_at=None,
            asked_at=None,
        )
    )

    async def visible(self, scope: CompanyScope, most: int) -> Sequence[AccountReading]:
        return [self.reading]

    async def of(self, account_id: str, scope: CompanyScope) -> AccountReading | None:
        return self.reading if account_id == self.reading.account_id else None

    async def claim(self, account_id: str, now: datetime, before: datetime) -> bool:
        asked = self.reading.asked_at
        if asked is not None and asked > before:
            return False
        self.reading = replace(self.reading, asked_at=now)
        return True

    async def keep(self, account_id: str, held: Balance, at: datetime) -> None:
        self.reading = replace(self.reading, balance=held.balance, read_at=at)


class Adapter:
    """A bank that holds ten reais, or does not answer."""

    capabilities = Capabilities(calls=frozenset({PortCall.GET_BALANCE}))

    def __init__(self) -> None:
        self.asked = 0
        self.is_down = False

    async def get_balance(self, _account: ProviderAccount) -> Balance:
        self.asked += 1
        if self.is_down:
            reason = "timeout"
            raise Unreachable(reason)
        return Balance(balance=Money(1000), blocked=None, updated_at=None)


class World:
    """Somebody who looks at one account, and what asks its bank meanwhile."""

    def __init__(self) -> None:
        self.clock, self.kept, self.adapter = Clock(), Kept(), Adapter()
        there: Any = self
        self.readings = Readings(records=self.kept, accounts=there, banks=there, now=self.clock.now)

    async def find(self, account_id: str) -> Account | None:
        return OURS if account_id == OURS.id else None

    def of(self, found: Account) -> Bank:
        adapter: Any = self.adapter
        who = ProviderAccount(account_id=found.id, provider_account="1", credentials="")
        return Bank(name="p", adapter=adapter, account=who, read_only=False)


async def test_who_looks_first_does_not_wait_and_who_looks_next_sees_it():
    world = World()

    (before,) = await world.readings.look(EVERY_COMPANY, None)
    assert world.readings.wake.is_set()
    assert await world.readings.turn() == 1
    (after,) = await world.readings.look(EVERY_COMPANY, None)

    assert (before.balance, before.read_at) == (None, None)
    assert (after.balance, after.read_at) == (Money(1000), world.clock.now())


async def test_who_looks_at_one_account_does_not_wait_either():
    world = World()

    before = await world.readings.of(EVERY_COMPANY, OURS.id)
    assert await world.readings.turn() == 1
    after = await world.readings.of(EVERY_COMPANY, OURS.id)

    assert before is not None
    assert after is not None
    assert (before.balance, after.balance) == (None, Money(1000))
    assert await world.readings.of(EVERY_COMPANY, "nobody's") is None
    assert world.readings.wanted == set()


async def test_a_bank_is_asked_once_a_minute_while_somebody_looks():
    world = World()
    for _ in range(3):
        await world.readings.look(EVERY_COMPANY, None)
        await world.readings.turn()
    assert world.adapter.asked == 1

    world.clock.passes(61)
    await world.readings.turn()
    assert world.adapter.asked == 1
    await world.readings.look(EVERY_COMPANY, None)
    await world.readings.turn()

    assert world.adapter.asked == 2


async def test_two_processes_ask_once():
    world = World()
    await world.readings.look(EVERY_COMPANY, None)
    other = replace(world.readings, wanted={OURS.id})

    assert (await world.readings.turn(), await other.turn()) == (1, 0)
    assert world.adapter.asked == 1


async def test_a_bank_that_does_not_answer_leaves_what_was_read():
    world = World()
    await world.readings.look(EVERY_COMPANY, None)
    await world.readings.turn()
    read_at = world.clock.now()
    world.adapter.is_down = True
    world.clock.passes(61)

    await world.readings.look(EVERY_COMPANY, None)

    assert await world.readings.turn() == 0
    (found,) = await world.readings.look(EVERY_COMPANY, None)
    assert (found.balance, found.read_at) == (Money(1000), read_at)


async def test_an_account_that_is_gone_is_not_asked_about():
    world = World()
    world.readings.wanted.add("gone")

    assert await world.readings.turn() == 0
    assert world.adapter.asked == 0
