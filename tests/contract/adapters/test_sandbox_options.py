"""The sandbox bank's faults and magic amounts, on what it offers beyond the nine calls."""

from __future__ import annotations

import pytest

from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.pix_keys import KeyOrder, PixKeyStatus, PixKeyType
from gateway.banks.port.provider_options import TOO_LATE
from gateway.banks.port.providers import (
    Accepted,
    NotFound,
    NotSent,
    ProviderError,
    Rejected,
    Settled,
    Unknown,
    Unreachable,
)
from gateway.core.money import Money
from tests.contract.adapters.calls import around_today
from tests.contract.adapters.options import (
    REFUND_KEY,
    Offering,
    charge_order,
    refund_order,
    refunded,
)
from tests.contract.adapters.sandbox_bank import FAULTS
from tests.world.banks.harness import FAR
from tests.world.banks.sandbox import BankWorld, Paid
from tests.world.banks.witness import Witness

ON_THE_WIRE = [
    ("hang", "timeout"),
    ("reset_before", "connection_lost"),
    ("drip", "timeout"),
    ("status", "server_error"),
    ("malformed", "not_json"),
    ("wrong_types", "wrong_shape"),
    ("huge", "too_large"),
]
READS = {
    "keys": lambda adapter, account: adapter.look_up_key(account, "maria@example.com"),
    "charge": lambda adapter, account: adapter.cancel_charge(account, "anonymous/1"),
    "payment": lambda adapter, account: adapter.list_received(account, around_today(), None, 9),
    "refund_read": lambda adapter, account: adapter.find_refund(account, REFUND_KEY),
}
CHANGES = {
    "keys": lambda adapter, account: adapter.create_key(account, KeyOrder(PixKeyType.EVP, "")),
    "charge": lambda adapter, account: adapter.create_charge(account, charge_order()),
}


async def large_payment(bank_world: BankWorld, **more: object) -> Paid:
    """Let R$ 1,000.00 come in without a charge."""
    said = await bank_world.tell(
        f"/accounts/{bank_world.account.provider_account}/incoming", {"value": 1000.00, **more}
    )
    return Paid("", said["e2e_id"])


@pytest.mark.parametrize(("fault", "reason", "executed"), FAULTS)
async def test_a_fault_of_the_bank_leaves_a_refund_unknown(
    adapter: Offering,
    bank_world: BankWorld,
    paid: Paid,
    *,
    fault: dict[str, object],
    reason: str,
    executed: list[int],
):
    """Executed or not, the answer cannot tell; the next order of the key gives it once."""
    await bank_world.fault("refund", **fault)

    outcome = await adapter.create_refund(bank_world.account, refund_order(paid), FAR)

    assert isinstance(outcome, Unknown)
    assert outcome.evidence.reason == reason
    assert await refunded(bank_world) == executed
    again = await adapter.create_refund(bank_world.account, refund_order(paid), FAR)
    assert isinstance(again, Accepted | Settled)
    assert await refunded(bank_world) == [1050]


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


async def test_a_refund_that_the_bank_limits_was_certainly_not_sent(
    adapter: Offering, bank_world: BankWorld
):
    """The adapter lists the bank's word for it as said before execution."""
    large = await large_payment(bank_world)

    outcome = await adapter.create_refund(bank_world.account, refund_order(large, 77711), FAR)

    assert isinstance(outcome, NotSent)
    assert outcome.evidence.reason == "rate_limited"
    assert await refunded(bank_world) == []


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


@pytest.mark.parametrize("operation", list(READS))
@pytest.mark.parametrize(("fault", "reason"), [("reject", "refused"), *ON_THE_WIRE])
async def test_a_fault_of_the_bank_fails_a_call_that_may_be_repeated(
    adapter: Offering, bank_world: BankWorld, paid: Paid, *, operation: str, fault: str, reason: str
):
    await adapter.create_refund(bank_world.account, refund_order(paid), FAR)
    await bank_world.fault(operation, fault, count=None)

    with pytest.raises(ProviderError) as failed:
        await READS[operation](adapter, bank_world.account)

    assert failed.value.reason == reason


@pytest.mark.parametrize("operation", list(CHANGES))
@pytest.mark.parametrize(("fault", "reason"), [("reject", "refused"), *ON_THE_WIRE])
async def test_a_fault_of_the_bank_fails_a_change_which_is_sent_once(
    adapter: Offering,
    bank_world: BankWorld,
    told: Witness,
    *,
    operation: str,
    fault: str,
    reason: str,
):
    """A charge whose answer cannot be read is read afterwards, and may be there."""
    await bank_world.fault(operation, fault, count=None)

    with pytest.raises(ProviderError) as failed:
        await CHANGES[operation](adapter, bank_world.account)

    assert failed.value.reason == reason
    is_read = operation == "charge" and reason in {"not_json", "wrong_shape"}
    assert len(told.calls) == 1 + is_read
    assert told.retries == []


async def test_a_closed_bank_changes_nothing(adapter: Offering, bank_world: BankWorld, paid: Paid):
    await bank_world.fault("*", "refuse", count=None)

    outcome = await adapter.create_refund(bank_world.account, refund_order(paid), FAR)
    for change in CHANGES.values():
        with pytest.raises(Unreachable):
            await change(adapter, bank_world.account)

    assert isinstance(outcome, NotSent)


async def test_a_change_whose_answer_was_lost_was_made_once(
    adapter: Offering, bank_world: BankWorld
):
    """Its caller learns that it is not known; the list of keys tells."""
    await bank_world.fault("keys", "reset_after")

    with pytest.raises(ProviderError):
        await adapter.create_key(bank_world.account, KeyOrder(PixKeyType.EMAIL, "nova@example.com"))

    keys = await adapter.list_keys(bank_world.account)

    assert [key.status for key in keys if key.key == "nova@example.com"] == [PixKeyStatus.ACTIVE]
