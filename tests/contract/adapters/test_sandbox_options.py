"""The sandbox bank's faults and magic amounts, on what it offers beyond the nine calls."""

from __future__ import annotations

import pytest

from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.pix_keys import KeyOrder, PixKeyStatus, PixKeyType
from gateway.banks.port.providers import (
    TOO_LATE,
    NotFound,
    NotSent,
    ProviderError,
    Rejected,
    Unknown,
)
from gateway.core.money import Money
from tests.contract.adapters.options import REFUND_KEY, Offering, refund_order, refunded
from tests.world.banks.harness import FAR
from tests.world.banks.sandbox import BankWorld, Paid


async def large_payment(bank_world: BankWorld, **more: object) -> Paid:
    """Let R$ 1,000.00 come in without a charge."""
    said = await bank_world.tell(
        f"/accounts/{bank_world.account.provider_account}/incoming", {"value": 1000.00, **more}
    )
    return Paid("", said["e2e_id"])


async def test_too_many_calls_refuse_a_refund_before_execution(
    adapter: Offering, bank_world: BankWorld
):
    """The bank lists it so, as of a payout."""
    large = await large_payment(bank_world)

    outcome = await adapter.create_refund(bank_world.account, refund_order(large, 77711), FAR)

    assert isinstance(outcome, NotSent)
    assert (outcome.evidence.reason, outcome.retry_after) == ("rate_limited", 1)
    assert await refunded(bank_world) == []


@pytest.mark.parametrize(
    ("centavos", "reason", "executed"),
    [
        (77705, "server_error", []),
        (77706, "timeout", [77706]),
        (77707, "connection_lost", []),
        (77708, "not_json", [77708]),
    ],
)
async def test_magic_amounts_leave_a_refund_unknown(
    adapter: Offering, bank_world: BankWorld, centavos: int, reason: str, executed: list[int]
):
    large = await large_payment(bank_world)

    outcome = await adapter.create_refund(bank_world.account, refund_order(large, centavos), FAR)

    assert isinstance(outcome, Unknown)
    assert outcome.evidence.reason == reason
    assert await refunded(bank_world) == executed
    if executed:
        found = await adapter.find_refund(bank_world.account, REFUND_KEY)
        assert found.value == Money(centavos)
    else:
        with pytest.raises(NotFound):
            await adapter.find_refund(bank_world.account, REFUND_KEY)


@pytest.mark.parametrize(("centavos", "forbidden"), [(77703, False), (77704, True)])
async def test_magic_amounts_refuse_a_refund(
    adapter: Offering, bank_world: BankWorld, centavos: int, forbidden: bool
):
    large = await large_payment(bank_world)

    outcome = await adapter.create_refund(bank_world.account, refund_order(large, centavos), FAR)

    assert isinstance(outcome, Rejected)
    assert (outcome.failure, outcome.forbidden) == (FailureCode.REJECTED, forbidden)
    assert await refunded(bank_world) == []


async def test_money_that_was_spent_cannot_be_given_back(
    adapter: Offering, bank_world: BankWorld, paid: Paid
):
    held = await adapter.get_balance(bank_world.account)
    all_but_one = (held.balance.centavos - 1) / 100
    where = f"/accounts/{bank_world.account.provider_account}"
    await bank_world.tell(f"{where}/movements", {"kind": "ted_out", "value": all_but_one})

    outcome = await adapter.create_refund(bank_world.account, refund_order(paid), FAR)

    assert isinstance(outcome, Rejected)
    assert outcome.failure is FailureCode.INSUFFICIENT_FUNDS


async def test_an_old_payment_cannot_be_given_back(adapter: Offering, bank_world: BankWorld):
    old = await large_payment(bank_world, at="2020-01-01T00:00:00Z")

    outcome = await adapter.create_refund(bank_world.account, refund_order(old), FAR)

    assert isinstance(outcome, Rejected)
    assert outcome.evidence.reason == TOO_LATE


async def test_a_change_whose_answer_was_lost_was_made_once(
    adapter: Offering, bank_world: BankWorld
):
    """Its caller learns that it is not known; the list of keys tells."""
    await bank_world.fault("keys", "reset_after")

    with pytest.raises(ProviderError):
        await adapter.create_key(bank_world.account, KeyOrder(PixKeyType.EMAIL, "nova@example.com"))

    keys = await adapter.list_keys(bank_world.account)

    assert [key.status for key in keys if key.key == "nova@example.com"] == [PixKeyStatus.ACTIVE]
