"""The sandbox bank's magic amounts, destinations and faults, as its adapter tells them."""

from __future__ import annotations

import dataclasses

import pytest

from gateway.banks.port.payout_orders import AccountType, BankDestination, FailureCode, PayoutMethod
from gateway.banks.port.providers import (
    Accepted,
    NotSent,
    ProviderAdapter,
    ProviderError,
    Rejected,
    Settled,
    Unknown,
)
from gateway.core.money import Money
from gateway.payouts.matching import returns_in
from tests.contract.adapters.calls import until_final
from tests.contract.adapters.sandbox_bank import FAULTS
from tests.world.banks.harness import FAR, KEY, order
from tests.world.banks.sandbox import BankWorld
from tests.world.standing import around_today


@pytest.mark.parametrize("centavos", [77701, 77702, 77709, 77710, 77712])
async def test_these_magic_amounts_are_accepted(
    adapter: ProviderAdapter, bank_world: BankWorld, centavos: int
):
    outcome = await adapter.create_payout(bank_world.account, order(centavos), FAR)

    assert isinstance(outcome, Accepted)


@pytest.mark.parametrize(("centavos", "forbidden"), [(77703, False), (77704, True)])
async def test_these_magic_amounts_are_rejected(
    adapter: ProviderAdapter, bank_world: BankWorld, centavos: int, forbidden: bool
):
    outcome = await adapter.create_payout(bank_world.account, order(centavos), FAR)

    assert isinstance(outcome, Rejected)
    assert (outcome.failure, outcome.forbidden) == (FailureCode.REJECTED, forbidden)
    assert await bank_world.executions(KEY) == []


@pytest.mark.parametrize(
    ("centavos", "reason", "executed"),
    [
        (77705, "server_error", []),
        (77706, "timeout", [77706]),
        (77707, "connection_lost", []),
        (77708, "not_json", [77708]),
    ],
)
async def test_these_magic_amounts_are_unknown(
    adapter: ProviderAdapter, bank_world: BankWorld, centavos: int, reason: str, executed: list[int]
):
    outcome = await adapter.create_payout(bank_world.account, order(centavos), FAR)

    assert isinstance(outcome, Unknown)
    assert (outcome.evidence.reason, outcome.evidence.bytes_left) == (reason, True)
    assert await bank_world.executions(KEY) == executed


async def test_too_many_calls_are_refused_before_execution(
    adapter: ProviderAdapter, bank_world: BankWorld
):
    """The bank lists it so; its wait is handed on."""
    outcome = await adapter.create_payout(bank_world.account, order(77711), FAR)

    assert isinstance(outcome, NotSent)
    assert (outcome.evidence.reason, outcome.evidence.http_status) == ("rate_limited", 429)
    assert outcome.retry_after == 1
    assert await bank_world.executions(KEY) == []


@pytest.mark.parametrize("whose", ["nobody's", "another account's"])
async def test_a_token_that_is_not_the_account_s_executes_nothing(
    adapter: ProviderAdapter, bank_world: BankWorld, whose: str
):
    """Listed with its code (401 UNAUTHORIZED, 403 WRONG_ACCOUNT): certainly nothing moved."""
    other = await bank_world.tell("/accounts", {"name": "Outra", "tax_number": "52998224725"})
    wrong = "no-token" if whose == "nobody's" else other["token"]
    account = dataclasses.replace(bank_world.account, credentials=wrong)

    outcome = await adapter.create_payout(account, order(), FAR)

    assert isinstance(outcome, NotSent)
    assert outcome.evidence.reason == "credentials_refused"
    assert await bank_world.executions(KEY) == []


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


@pytest.mark.parametrize(("fault", "reason", "executed"), FAULTS)
async def test_a_fault_of_the_bank_leaves_a_payout_unknown(
    adapter: ProviderAdapter,
    bank_world: BankWorld,
    fault: dict[str, object],
    reason: str,
    executed: list[int],
):
    """Executed or not, the answer cannot tell; nothing is sent twice."""
    await bank_world.fault("payout", **fault)

    outcome = await adapter.create_payout(bank_world.account, order(), FAR)

    assert isinstance(outcome, Unknown)
    assert outcome.evidence.reason == reason
    assert await bank_world.executions(KEY) == executed


async def test_a_fault_may_look_like_a_refusal(adapter: ProviderAdapter, bank_world: BankWorld):
    await bank_world.fault("payout", "reject")

    outcome = await adapter.create_payout(bank_world.account, order(), FAR)

    assert isinstance(outcome, Rejected)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("reject", "refused"),
        ("hang", "timeout"),
        ("reset_before", "connection_lost"),
        ("drip", "timeout"),
        ("status", "server_error"),
        ("malformed", "not_json"),
        ("wrong_types", "wrong_shape"),
        ("huge", "too_large"),
    ],
)
async def test_a_fault_of_the_bank_fails_a_read(
    adapter: ProviderAdapter, bank_world: BankWorld, fault: str, reason: str
):
    await bank_world.fault("balance", fault, count=None)

    with pytest.raises(ProviderError) as failed:
        await adapter.get_balance(bank_world.account)

    assert failed.value.reason == reason


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
