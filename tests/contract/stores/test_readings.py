"""Readings of balances, on both databases."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from msgspec import UNSET

from gateway.app.store import Store
from gateway.banks.port.statements import Balance
from gateway.banks.readings import Readings
from gateway.companies.service import add_company
from gateway.core.company_scope import EVERY_COMPANY, CompanyScope, scope_of
from gateway.core.money import Money, Sum
from tests.contract.stores.databases import both
from tests.world.acts import reader
from tests.world.stores.samples import ACCOUNT, COMPANY, NOW, SISTER, account, company, event

pytestmark = both

MINUTE = timedelta(minutes=1)
OTHER = "5f0c8f6e-3d57-4a6d-9f53-0d4d5a0f7a02"
THEIRS = "0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c03"


def held(centavos: int, blocked: int | None = None) -> Balance:
    known = None if blocked is None else Money(blocked)
    return Balance(balance=Money(centavos), blocked=known, updated_at=None)


def readings_of(store: Store, at: datetime = NOW) -> Readings:
    nobody: Any = None
    return Readings(database=store.database, find_account=nobody, banks=nobody, now=lambda: at)


async def test_an_account_that_was_never_read_has_no_balance(store: Store):
    found = await readings_of(store).look(reader())

    assert [each.account_id for each in found] == [ACCOUNT, SISTER]
    assert {(each.balance, each.read_at) for each in found} == {(UNSET, None)}


async def test_a_reading_is_stored_with_its_instant(store: Store):
    readings = readings_of(store)
    await readings.claim(ACCOUNT)
    await readings.keep(ACCOUNT, held(1050, 50), NOW + MINUTE)
    await readings.keep(ACCOUNT, held(7), NOW)

    first, _ = await readings.look(reader())

    assert (first.balance, first.blocked, first.read_at) == (Sum(1050), Sum(50), NOW + MINUTE)
    assert readings.wanted == {SISTER}


async def test_of_ten_concurrent_claims_of_a_balance_reading_one_succeeds(
    store: Store, second: Store
):
    nodes = [readings_of(store), readings_of(second)] * 5

    claimed = await asyncio.gather(*(each.claim(ACCOUNT) for each in nodes))

    assert sum(claimed) == 1
    assert await readings_of(store, NOW + MINUTE).claim(ACCOUNT)


async def test_readings_are_listed_for_active_accounts_in_scope(store: Store):
    await add_company(store.database, company(OTHER), event())
    theirs = replace(account(THEIRS, company_id=OTHER), provider_account="theirs", active=False)
    await store.accounts.add(theirs, event())

    async def seen(scope: CompanyScope) -> list[str]:
        return [each.account_id for each in await readings_of(store).look(reader(scope))]

    assert await seen(scope_of(frozenset({COMPANY}))) == [ACCOUNT, SISTER]
    assert await seen(scope_of(frozenset({OTHER}))) == []
    assert await seen(CompanyScope(frozenset())) == []


async def test_the_reading_of_an_account_is_found_within_the_scope_alone(store: Store):
    readings = readings_of(store)
    await readings.claim(ACCOUNT)
    await readings.keep(ACCOUNT, held(1050), NOW)

    found = await readings.of(scope_of(frozenset({COMPANY})), ACCOUNT)

    assert found is not None
    assert (found.account_id, found.balance, found.read_at) == (ACCOUNT, Sum(1050), NOW)
    assert await readings.of(scope_of(frozenset({OTHER})), ACCOUNT) is None
    assert await readings.of(CompanyScope(frozenset()), ACCOUNT) is None
    assert await readings.of(EVERY_COMPANY, THEIRS) is None
