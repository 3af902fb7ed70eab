"""Finding the account that a callback is about."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pytest

from gateway.banks.port.capabilities import Capabilities, PortCall
from gateway.banks.port.provider_callbacks import CallbackKind, NamedBy
from gateway.banks.port.providers import NotFound, ProviderError, Refused, Unavailable
from gateway.callbacks.model import Callback
from gateway.callbacks.owners import CallbackAccounts
from tests.world.standing import NOON


@dataclass(frozen=True)
class Account:
    """As much of one as is asked for; its keys and charges at the bank."""

    id: str
    provider: str = "p"
    holds: tuple[str, ...] = ()


@dataclass(frozen=True)
class Key:
    key: str


@dataclass
class World:
    """Accounts, and the bank behind them."""

    accounts: list[Account]
    absent: ProviderError = field(default_factory=lambda: NotFound("not_found"))
    asked: Counter[str] = field(default_factory=Counter)
    account: Any = None
    capabilities: Capabilities = field(
        default_factory=lambda: Capabilities(calls=frozenset(PortCall))
    )

    async def some_at(self, provider: str, skip: int, most: int) -> list[Account]:
        theirs = [each for each in self.accounts if each.provider == provider]
        return theirs[skip : skip + most]

    async def find(self, account_id: str) -> Account | None:
        return next((each for each in self.accounts if each.id == account_id), None)

    async def find_at(self, provider: str, name: str) -> Account | None:
        return await self.find(name) if provider == "p" else None

    def of(self, account: Account) -> Any:
        bank = World(self.accounts, self.absent, self.asked, account, self.capabilities)
        bank.adapter = bank  # type: ignore[attr-defined]
        return bank

    async def list_keys(self, account: Account) -> list[Key]:
        self.asked[account.id] += 1
        return [Key(each) for each in account.holds]

    async def get_charge(self, account: Account, reference: str) -> None:
        self.asked[account.id] += 1
        if reference not in account.holds:
            raise self.absent


def callback(named_by: NamedBy, account: str, tries: int = 0) -> Callback:
    return Callback(
        id="1",
        provider="p",
        event="e",
        kind=CallbackKind.CHARGE,
        subject="r",
        received_at=NOON,
        body=b"",
        account=account,
        named_by=named_by,
        tries=tries,
    )


def search(world: Any) -> CallbackAccounts:
    return CallbackAccounts(world, world)


async def test_an_owner_named_by_account_is_found_without_the_bank():
    world = World([Account("a")])

    assert await search(world).find(callback(NamedBy.ACCOUNT, "a")) == Account("a")
    assert await search(world).find(callback(NamedBy.ACCOUNT, "")) is None
    assert not world.asked


@pytest.mark.parametrize("named_by", [NamedBy.KEY, NamedBy.CHARGE])
async def test_the_owner_of_a_key_or_charge_is_looked_up_once(named_by: NamedBy):
    """Accounts at other providers are not queried, and the answer is cached."""
    wanted = Account("c", holds=("x",))
    world = World([Account("a"), Account("b", provider="other", holds=("x",)), wanted])
    owners = search(world)

    assert [await owners.find(callback(named_by, "x")) for _ in range(3)] == [wanted] * 3
    assert world.asked == {"a": 1, "c": 1}


async def test_an_owner_not_found_is_looked_up_again():
    world = World([Account("a")])
    owners = search(world)
    assert await owners.find(callback(NamedBy.KEY, "x")) is None

    world.accounts = [Account("a", holds=("x",))]

    assert await owners.find(callback(NamedBy.KEY, "x")) == world.accounts[0]


async def test_a_refused_look_up_counts_as_not_found():
    world = World([Account("a"), Account("b", holds=("x",))], absent=Refused("refused"))

    assert await search(world).find(callback(NamedBy.CHARGE, "x")) == world.accounts[1]


async def test_a_bank_without_the_call_is_not_queried():
    world = World([Account("a", holds=("x",))], capabilities=Capabilities())

    assert await search(world).find(callback(NamedBy.KEY, "x")) is None
    assert not world.asked


async def test_an_account_whose_look_up_fails_does_not_hide_another():
    world = World([Account("a"), Account("b", holds=("x",))], absent=Unavailable("timeout"))

    assert await search(world).find(callback(NamedBy.CHARGE, "x")) == world.accounts[1]
    with pytest.raises(Unavailable):
        await search(world).find(callback(NamedBy.CHARGE, "y"))


async def test_many_accounts_are_looked_up_a_few_per_try():
    world = World([Account(f"a{n}") for n in range(50)])

    for tries, asked in ((0, 20), (1, 40), (2, 50), (3, 50)):
        assert await search(world).find(callback(NamedBy.KEY, "x", tries)) is None
        assert len(world.asked) == asked

    assert world.asked.total() == 70


async def test_the_cache_of_owners_is_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("gateway.callbacks.owners._REMEMBERED", 2)
    world = World([Account("a", holds=("x", "y", "z"))])
    owners = search(world)

    for name in ("x", "y", "z", "z", "y", "x"):
        assert await owners.find(callback(NamedBy.KEY, name)) is not None

    assert world.asked == {"a": 4}
