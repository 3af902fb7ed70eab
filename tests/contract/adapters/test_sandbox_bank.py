"""The sandbox bank's magic amounts, destinations and faults, as its adapter tells them."""

from __future__ import annotations

import dataclasses

import pytest

from gateway.banks.port.payout_orders import AccountType, BankDestination, FailureCode, PayoutMethod
from gateway.banks.port.providers import (
    Accepted,
    ProviderAdapter,
    Rejected,
    Settled,
    Unknown,
)
from gateway.core.money import Money
from tests.contract.adapters.calls import until_final
from tests.world.banks.harness import FAR, KEY, order
from tests.world.banks.sandbox import BankWorld


async def test_another_amount_is_told_and_never_taken_for_ours(
    adapter: ProviderAdapter, bank_world: BankWorld
):
    """Looking up tells what was paid; ordering again knows what was asked."""
    await adapter.create_payout(bank_world.account, order(77712), FAR)

    found = await until_final(adapter, bank_world.account, KEY)
    repeated = await adapter.create_payout(bank_world.account, order(77712), FAR)

    assert isinstance(found, Settled)
    assert found.value == Money(77711)
    assert isinstance(repeated, Unknown)
    assert repeated.evidence.reason == "amount_mismatch"


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


@pytest.mark.parametrize(("number", "expected"), [("123456-7", Accepted), ("000000-0", Rejected)])
async def test_a_payout_by_account(
    adapter: ProviderAdapter, bank_world: BankWorld, number: str, expected: type
):
    to = BankDestination(
        name="",
        tax_number="52998224725",
        bank_number="341",
        branch="1",
        account=number,
        account_type=AccountType.SAVINGS,
    )
    by_account = dataclasses.replace(order(), method=PayoutMethod.BANK_ACCOUNT, destination=to)

    outcome = await adapter.create_payout(bank_world.account, by_account, FAR)

    assert isinstance(outcome, expected)


async def test_a_fault_may_look_like_a_refusal(adapter: ProviderAdapter, bank_world: BankWorld):
    await bank_world.fault("payout", "reject")

    outcome = await adapter.create_payout(bank_world.account, order(), FAR)

    assert isinstance(outcome, Rejected)
