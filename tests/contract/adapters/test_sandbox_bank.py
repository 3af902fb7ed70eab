"""The sandbox bank's magic amounts, destinations and faults, as its adapter tells them."""

from __future__ import annotations

import pytest

from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.providers import (
    ProviderAdapter,
    Rejected,
    Settled,
)
from gateway.core.money import Money
from gateway.payouts.matching import returns_in
from tests.contract.adapters.calls import until_final
from tests.world.banks.harness import FAR, KEY, order
from tests.world.banks.sandbox import BankWorld
from tests.world.standing import around_today


@pytest.mark.parametrize(
    ("pix_key", "failure", "forbidden"),
    [
        ("notfound@example.com", FailureCode.KEY_NOT_FOUND, False),
        ("owner@example.com", FailureCode.OWNER_MISMATCH, False),
        ("limit@example.com", FailureCode.LIMIT_EXCEEDED, True),
    ],
)
async def test_magic_keys_are_refused_with_their_code(
    adapter: ProviderAdapter,
    bank_world: BankWorld,
    pix_key: str,
    failure: FailureCode,
    forbidden: bool,
):
    outcome = await adapter.create_payout(bank_world.account, order(pix_key=pix_key), FAR)

    assert isinstance(outcome, Rejected)
    assert (outcome.failure, outcome.forbidden) == (failure, forbidden)


async def test_a_settled_payout_that_comes_back_in_parts_stays_settled(
    adapter: ProviderAdapter, bank_world: BankWorld
):
    await adapter.create_payout(bank_world.account, order(), FAR)
    await until_final(adapter, bank_world.account, KEY)

    for value, parts in ((4.00, [400]), (None, [400, 650])):
        await bank_world.tell(f"/payouts/{KEY}/return", {"value": value} if value else {})
        found = await adapter.find_payout(bank_world.account, KEY, "")
        assert isinstance(found, Settled)
        assert found.value == Money(1050)
        assert [each.value.centavos for each in found.returns] == parts

    page = await adapter.list_statement(bank_world.account, around_today(), None, 100)
    told = returns_in(page.items, KEY)
    assert {each.id for each in told} == {each.id for each in found.returns}
