"""Readings of balances, on both databases."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

from gateway.companies.service import add_company
from gateway.domain.bank.statements import Balance
from gateway.domain.kernel.company_scope import EVERY_COMPANY, CompanyScope, scope_of
from gateway.domain.kernel.money import Money
from gateway.store.engine import Store
from tests.contract.stores.databases import both
from tests.world.stores.samples import ACCOUNT, COMPANY, NOW, SISTER, account, company, event

pytestmark = both

MINUTE = timedelta(minutes=1)
OTHER = "5f0c8f6e-3d57-4a6d-9f53-0d4d5a0f7a02"
THEIRS = "0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c03"


def held(centavos: int, blocked: int | None = None) -> Balance:
    known = None if blocked is None else Money(blocked)
    return Balance(balance=Money(centavos), blocked=known, updated_at=None)


async def test_an_account_that_was_never_read_holds_nothing_that_is_known(store: Store):
    found = await store.office.readings.visible(EVERY_COMPANY, 10)

    assert [each.account_id for each in found] == [ACCOUNT, SISTER]
    assert {(each.balance, each.read_at, each.asked_at) for each in found} == {(None, None, None)}


async def test_what_was_read_is_kept_with_its_instant(store: Store):
    readings = store.office.readings
    await readings.claim(ACCOUNT, NOW, NOW - MINUTE)
    await readings.keep(ACCOUNT, held(1050, 50), NOW + MINUTE)
    await readings.keep(ACCOUNT, held(7), NOW)

    first, _ = await readings.visible(EVERY_COMPANY, 10)

    assert (first.balance, first.blocked) == (Money(1050), Money(50))
    assert (first.read_at, first.asked_at) == (NOW + MINUTE, NOW)


async def test_of_ten_that_set_out_at_once_one_does(store: Store, second: Store):
    nodes = [store.office.readings, second.office.readings] * 5

    claimed = await asyncio.gather(*(each.claim(ACCOUNT, NOW, NOW - MINUTE) for each in nodes))
    again = await store.office.readings.claim(ACCOUNT, NOW + MINUTE, NOW)

    assert sum(claimed) == 1
    assert again


async def test_readings_are_of_accounts_in_scope_that_can_be_asked(store: Store):
    await add_company(store.database, company(OTHER), event())
    theirs = replace(account(THEIRS, company_id=OTHER), provider_account="theirs", active=False)
    await store.accounts.add(theirs, event())

    async def seen(scope: CompanyScope, most: int = 10) -> list[str]:
        return [each.account_id for each in await store.office.readings.visible(scope, most)]

    assert await seen(scope_of(frozenset({COMPANY}))) == [ACCOUNT, SISTER]
    assert await seen(scope_of(frozenset({OTHER}))) == []
    assert await seen(CompanyScope(frozenset())) == []
    assert await seen(EVERY_COMPANY, 1) == [ACCOUNT]


async def test_one_account_is_read_within_the_scope_alone(store: Store):
    readings = store.office.readings
    await readings.claim(ACCOUNT, NOW, NOW - MINUTE)
    await readings.keep(ACCOUNT, held(1050), NOW)

    found = await readings.of(ACCOUNT, scope_of(frozenset({COMPANY})))

    assert found is not None
    assert (found.account_id, found.balance, found.read_at) == (ACCOUNT, Money(1050), NOW)
    assert await readings.of(ACCOUNT, scope_of(frozenset({OTHER}))) is None
    assert await readings.of(ACCOUNT, CompanyScope(frozenset())) is None
    assert await readings.of(THEIRS, EVERY_COMPANY) is None
