"""Balances are read live."""

import pytest

from gateway.banks.port.providers import Unavailable
from gateway.banks.port.statements import Balance
from gateway.core import errors
from gateway.core.money import Money
from gateway.statements.reads import balance_of
from tests.unit.refusals import refused
from tests.world.payouts import OneBank, ScriptedBank
from tests.world.people import account


def holding(centavos: int) -> Balance:
    return Balance(balance=Money(centavos), blocked=Money(0), updated_at=None)


async def test_each_read_asks_the_bank():
    """Contract 2.3: never an old one."""
    bank = ScriptedBank(reads={"balance": holding(1)})
    banks = OneBank(bank)
    first = await balance_of(banks, account())

    bank.reads["balance"] = holding(-2)

    assert (first, await balance_of(banks, account())) == (holding(1), holding(-2))


async def test_a_read_only_account_has_a_balance():
    bank = ScriptedBank(reads={"balance": holding(1)})

    assert await balance_of(OneBank(bank, read_only=True), account()) == holding(1)


async def test_without_a_bank_there_is_none():
    with refused(errors.PROVIDER_NOT_CONFIGURED):
        await balance_of(OneBank(ScriptedBank(), is_there=False), account())


async def test_a_bank_s_failure_is_the_caller_s_to_translate():
    bank = ScriptedBank(reads={"balance": Unavailable("timeout")})

    with pytest.raises(Unavailable):
        await balance_of(OneBank(bank), account())
