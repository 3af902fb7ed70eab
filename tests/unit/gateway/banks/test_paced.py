"""Banks that are read in turn: a place for each call, and a limit for one that hangs."""

from __future__ import annotations

import asyncio
from datetime import date

import pytest

from gateway.banks.connections import bank_of, offered
from gateway.banks.followup_rate import FollowupRate, FollowupSlots, Shares
from gateway.banks.paced import PacedBanks
from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.providers import Page
from gateway.banks.port.statements import Balance
from gateway.core.money import Money
from gateway.core.windows import Window
from tests.world.movements import movement
from tests.world.payouts import OneBank, ScriptedBank
from tests.world.stores.samples import account

HELD = account()
BALANCE = Balance(balance=Money(1), blocked=None, updated_at=None)
PAGE = Page(items=(movement(),), next_cursor=None)
WINDOW = Window(date(2026, 11, 20), date(2026, 11, 20))


def bank() -> ScriptedBank:
    return ScriptedBank(reads={"balance": BALANCE, "statement": {None: PAGE}})


async def test_balance_and_statement_are_the_bank_s():
    adapter = bank()
    paced = bank_of(
        PacedBanks(OneBank(adapter), Shares(lambda _: FollowupRate(at_once=8)).of), HELD
    )
    calls = offered(paced, PortCall.GET_BALANCE)

    assert await calls.get_balance(paced.account) == BALANCE
    assert await calls.list_statement(paced.account, WINDOW, None, 100) == PAGE
    assert paced.adapter.capabilities == adapter.capabilities


async def test_an_account_without_a_bank_has_none():
    banks = PacedBanks(
        OneBank(bank(), is_there=False), Shares(lambda _: FollowupRate(at_once=8)).of
    )

    assert banks.of(HELD) is None


async def test_calls_beyond_the_places_wait():
    """Each call holds a place; the next one goes once it has ended."""
    under_way = most = 0
    slots = FollowupSlots(FollowupRate(at_once=2))

    class Slow(ScriptedBank):
        async def get_balance(self, account: object) -> Balance:
            nonlocal under_way, most
            under_way += 1
            most = max(most, under_way)
            await asyncio.sleep(0)
            under_way -= 1
            return BALANCE

    paced = bank_of(PacedBanks(OneBank(Slow()), lambda _name: slots), HELD)
    calls = offered(paced, PortCall.GET_BALANCE)

    await asyncio.gather(*(calls.get_balance(paced.account) for _ in range(6)))

    assert most == 2


async def test_a_call_that_hangs_gives_its_place_back(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("gateway.banks.paced.CALL_S", 0.0)
    slots = FollowupSlots(FollowupRate(at_once=1))

    class Hanging(ScriptedBank):
        async def get_balance(self, account: object) -> Balance:
            await asyncio.get_running_loop().create_future()
            raise AssertionError

    paced = bank_of(PacedBanks(OneBank(Hanging()), lambda _name: slots), HELD)
    calls = offered(paced, PortCall.GET_BALANCE)

    for _ in range(2):
        with pytest.raises(TimeoutError):
            await calls.get_balance(paced.account)
