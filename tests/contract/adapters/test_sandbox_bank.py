"""The sandbox bank's magic amounts, destinations and faults, as its adapter tells them."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime
from typing import Any

import pytest

from gateway.banks.port.payout_orders import (
    AccountType,
    BankDestination,
    FailureCode,
    PayoutMethod,
)
from gateway.banks.port.providers import (
    Accepted,
    NotFound,
    NotSent,
    ProviderAdapter,
    ProviderError,
    Rejected,
    Settled,
    Unknown,
)
from gateway.core.money import Money
from gateway.payouts.matching import returns_in
from tests.contract.adapters.calls import around_today, until_final
from tests.contract.adapters.sandbox_bank import FAULTS
from tests.world.banks.harness import FAR, KEY, order
from tests.world.banks.sandbox import BankWorld
from tests.world.banks.witness import Witness


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


@pytest.mark.parametrize("status", [401, 403, 429])
async def test_a_bare_status_after_execution_is_unknown(
    adapter: ProviderAdapter, bank_world: BankWorld, status: int
):
    """A proxy says it too: without the bank's own code it proves nothing."""
    await bank_world.fault("payout", "status", status=status, executed=True)

    outcome = await adapter.create_payout(bank_world.account, order(), FAR)

    assert isinstance(outcome, Unknown)
    assert await bank_world.executions(KEY) == [1050]


@pytest.mark.parametrize("centavos", [77706, 77708])
async def test_an_unknown_payout_that_was_made_is_found(
    adapter: ProviderAdapter, bank_world: BankWorld, centavos: int
):
    await adapter.create_payout(bank_world.account, order(centavos), FAR)

    found = await until_final(adapter, bank_world.account, KEY)

    assert isinstance(found, Settled)
    assert found.value == Money(centavos)


@pytest.mark.parametrize("centavos", [77705, 77707, 77711])
async def test_an_unknown_payout_that_was_not_made_is_not_found(
    adapter: ProviderAdapter, bank_world: BankWorld, centavos: int
):
    await adapter.create_payout(bank_world.account, order(centavos), FAR)

    with pytest.raises(NotFound):
        await adapter.find_payout(bank_world.account, KEY, "")


async def test_one_that_fails_after_acceptance_is_found_rejected(
    adapter: ProviderAdapter, bank_world: BankWorld
):
    await adapter.create_payout(bank_world.account, order(77702), FAR)

    found = await until_final(adapter, bank_world.account, KEY)

    assert isinstance(found, Rejected)
    assert found.failure is FailureCode.REJECTED


async def test_one_that_came_back_had_settled(adapter: ProviderAdapter, bank_world: BankWorld):
    """It was paid, and came back as money in: a final state stays."""
    await adapter.create_payout(bank_world.account, order(77709), FAR)

    found = await until_final(adapter, bank_world.account, KEY)

    assert isinstance(found, Settled)


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


async def test_more_than_there_is_is_refused(adapter: ProviderAdapter, bank_world: BankWorld):
    outcome = await adapter.create_payout(bank_world.account, order(999_999_999), FAR)

    assert isinstance(outcome, Rejected)
    assert outcome.failure is FailureCode.INSUFFICIENT_FUNDS


async def test_a_known_key_with_another_order_is_unknown(
    adapter: ProviderAdapter, bank_world: BankWorld
):
    """It says nothing of what became of ours; listed nowhere, so not definite."""
    await adapter.create_payout(bank_world.account, order(), FAR)

    outcome = await adapter.create_payout(bank_world.account, order(2000), FAR)

    assert isinstance(outcome, Unknown)


async def refusing_known_keys(bank_world: BankWorld) -> BankWorld:
    """Open an account that refuses a key that it has seen."""
    wanted = {"name": "Loja", "tax_number": "11222333000181", "balance": 100, "payout_kind": "dup"}
    made = await bank_world.tell("/accounts", wanted)
    account = dataclasses.replace(
        bank_world.account, provider_account=made["id"], credentials=made["token"]
    )
    return dataclasses.replace(bank_world, account=account)


async def test_a_known_key_is_read_back_and_is_ours(
    adapter: ProviderAdapter, bank_world: BankWorld
):
    """Payout protocol: a duplicate is ours and ordered, once amount and destination agree."""
    bank_world = await refusing_known_keys(bank_world)
    await adapter.create_payout(bank_world.account, order(), FAR)

    outcome = await adapter.create_payout(bank_world.account, order(), FAR)

    assert isinstance(outcome, Accepted | Settled)
    assert (outcome.provider_key, outcome.value) == (KEY, Money(1050))
    assert outcome.evidence.reason == "answered"
    assert await bank_world.executions(KEY) == [1050]


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"centavos": 1051}, "amount_mismatch"),
        ({"pix_key": "joao@example.com"}, "destination_mismatch"),
    ],
)
async def test_a_known_key_of_another_order_is_unknown(
    adapter: ProviderAdapter, bank_world: BankWorld, changed: dict[str, Any], reason: str
):
    """The bank has this key for something else: whether ours was paid nobody can say."""
    bank_world = await refusing_known_keys(bank_world)
    await adapter.create_payout(bank_world.account, order(), FAR)

    outcome = await adapter.create_payout(bank_world.account, order(**changed), FAR)

    assert isinstance(outcome, Unknown)
    assert outcome.evidence.reason == reason
    assert await bank_world.executions(KEY) == [1050]


@pytest.mark.parametrize("fault", ["status", "malformed", "reset_before", "hang"])
async def test_a_known_key_that_cannot_be_read_back_is_unknown(
    adapter: ProviderAdapter, bank_world: BankWorld, fault: str
):
    bank_world = await refusing_known_keys(bank_world)
    await adapter.create_payout(bank_world.account, order(), FAR)
    await bank_world.fault("payout_read", fault, count=2)

    outcome = await adapter.create_payout(bank_world.account, order(), FAR)

    assert isinstance(outcome, Unknown)
    assert outcome.evidence.reason == "duplicate"


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


async def test_a_closed_bank_is_sent_nothing(adapter: ProviderAdapter, bank_world: BankWorld):
    await bank_world.fault("*", "refuse", count=None)

    outcome = await adapter.create_payout(bank_world.account, order(), FAR)
    await bank_world.tell("/faults", method="DELETE")
    again = await adapter.create_payout(bank_world.account, order(), FAR)

    assert isinstance(outcome, NotSent)
    assert isinstance(again, Accepted)


async def test_a_fault_may_look_like_a_refusal(adapter: ProviderAdapter, bank_world: BankWorld):
    await bank_world.fault("payout", "reject")

    outcome = await adapter.create_payout(bank_world.account, order(), FAR)

    assert isinstance(outcome, Rejected)


READS = {
    "balance": lambda adapter, account: adapter.get_balance(account),
    "statement": lambda adapter, account: adapter.list_statement(account, around_today(), None, 25),
    "keys": lambda adapter, account: adapter.list_keys(account),
    "charge": lambda adapter, account: adapter.get_charge(account, "pending/1"),
    "payment": lambda adapter, account: adapter.get_charge_payment(account, "pending/1"),
    "payout_read": lambda adapter, account: adapter.find_payout(account, KEY, ""),
}


@pytest.mark.parametrize("operation", list(READS))
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
    adapter: ProviderAdapter, bank_world: BankWorld, operation: str, fault: str, reason: str
):
    await adapter.create_payout(bank_world.account, order(), FAR)
    await bank_world.fault(operation, fault, count=None)

    with pytest.raises(ProviderError) as failed:
        await READS[operation](adapter, bank_world.account)

    assert failed.value.reason == reason


async def test_a_lost_connection_is_asked_again_once(
    adapter: ProviderAdapter, bank_world: BankWorld, told: Witness
):
    await bank_world.fault("balance", "reset_before")

    held = await adapter.get_balance(bank_world.account)

    assert held.balance.centavos > 0
    assert told.retries == [("sandbox", "get_balance")]
    assert [call.outcome for call in told.calls] == ["unavailable", "ok"]


async def test_a_held_payout_is_accepted_with_the_bank_s_deadline(
    adapter: ProviderAdapter, bank_world: BankWorld
):
    account_id = bank_world.account.provider_account
    await bank_world.tell(f"/accounts/{account_id}/hold", {"seconds": 3600})

    outcome = await adapter.create_payout(bank_world.account, order(), FAR)
    found = await adapter.find_payout(bank_world.account, KEY, "")

    for held in (outcome, found):
        assert isinstance(held, Accepted)
        assert held.held_until is not None
        assert 3300 < (held.held_until - datetime.now(UTC)).total_seconds() <= 3600


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
