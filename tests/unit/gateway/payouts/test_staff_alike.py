"""What helps to decide on an order: payouts alike, within the companies that a person sees."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from gateway.app.build_payouts import tax_number_digests
from gateway.core import errors
from gateway.core.access import Staff
from gateway.core.company_scope import EVERY_COMPANY, CompanyScope
from gateway.core.money import Money
from gateway.payouts.documents import PayoutsAlike
from gateway.payouts.staff import RECIPIENT_DAYS
from tests.unit.refusals import refused
from tests.unit.standing_payouts import ORDER, company_and_accounts
from tests.world.exports import exports, signed_in
from tests.world.registers import NOON, Registers
from tests.world.stores.samples import ACCOUNT, SISTER, attempt, payout

MARIA, JOAO = "52998224725", "11144477735"


def digest(office: Registers, number: str) -> bytes:
    return tax_number_digests(office.kernel).digest(number)


async def put(office: Registers, reference: str, **changed: object) -> None:
    """Store a payout to Maria of ten reais and fifty, created now."""
    fields: dict[str, Any] = {
        "account_id": ACCOUNT,
        "value": Money(1050),
        "created_at": NOON,
        "payee_digest": digest(office, MARIA),
        **changed,
    }
    made = replace(payout(reference), **fields)
    key = f"{made.account_id}{reference}"
    await office.store.payouts.add(replace(made, provider_key=key), attempt())


async def found(office: Registers, scope: CompanyScope = EVERY_COMPANY) -> PayoutsAlike:
    return await office.payouts.alike(Staff(office.acting, scope), ACCOUNT, ORDER)


def references(listed: Any) -> set[str]:
    return {each.payout.reference for each in listed}


@pytest.fixture
async def office_with_accounts(office: Registers) -> Registers:
    await company_and_accounts(office.store)
    return office


async def test_payouts_alike_count_as_rows_of_lists(office_with_accounts: Registers):
    """Else orders of one amount after another would list the payees of a day."""
    office = office_with_accounts
    await put(office, "alike", payee_digest=digest(office, JOAO))
    records = replace(office.payouts, exports=exports(rows=1))

    assert len((await records.alike(signed_in(), ACCOUNT, ORDER)).same_value) == 1
    with refused(errors.TOO_MANY_REQUESTS):
        await records.alike(signed_in(), ACCOUNT, ORDER)


async def test_payouts_to_the_same_recipient_are_found_across_accounts(
    office_with_accounts: Registers,
):
    office = office_with_accounts
    day = timedelta(days=1)
    await put(office, "new", created_at=NOON - day, value=Money(7))
    await put(office, "at the sister", account_id=SISTER, created_at=NOON - 2 * day)
    await put(office, "just within", created_at=NOON - RECIPIENT_DAYS * day, value=Money(8))
    await put(office, "too old", created_at=NOON - RECIPIENT_DAYS * day - timedelta(seconds=1))
    await put(office, "to another", payee_digest=digest(office, JOAO), value=Money(9))

    told = await found(office)

    expected = ["new", "at the sister", "just within"]
    assert [each.payout.reference for each in told.to_recipient] == expected


async def test_payouts_of_the_same_value_are_found_in_the_account_today(
    office_with_accounts: Registers,
):
    """The local day begins at three in the morning in UTC."""
    office = office_with_accounts
    other: dict[str, Any] = {"payee_digest": digest(office, JOAO)}
    await put(office, "alike", **other)
    await put(office, "early", created_at=NOON.replace(hour=3), **other)
    await put(office, "yesterday", created_at=NOON.replace(hour=2, minute=59), **other)
    await put(office, "another value", value=Money(1051), **other)
    await put(office, "at the sister", account_id=SISTER, **other)

    told = await found(office)

    assert references(told.same_value) == {"alike", "early"}


async def test_an_order_s_own_payout_is_not_similar(office_with_accounts: Registers):
    office = office_with_accounts
    await put(office, "order-1")
    await put(office, "order-1", account_id=SISTER)

    told = await found(office)

    assert [each.payout.account_id for each in told.to_recipient] == [SISTER]
    assert list(told.same_value) == []


async def test_payouts_outside_the_scope_are_not_similar(office_with_accounts: Registers):
    office = office_with_accounts
    await put(office, "alike")

    told = await found(office, CompanyScope(frozenset()))

    assert (list(told.to_recipient), list(told.same_value)) == ([], [])
