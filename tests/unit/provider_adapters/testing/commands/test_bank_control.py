"""The sandbox bank as commands tell it things."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from gateway.domain.accounts.accounts import BankCoordinates
from gateway.domain.bank.pix_keys import PixKey, PixKeyStatus, PixKeyType
from gateway.domain.bank.refunds import RefundOrder
from gateway.domain.kernel.money import Money
from gateway.operations.kernel.audit_context import RuleViolation
from provider_adapters.testing.bank.control.client import ControlRefused
from provider_adapters.testing.commands.bank_control import ControlledBank, controlling
from provider_adapters.testing.demo.bank_side import AccountOpening
from provider_adapters.testing.demo.contents import DemoCharge, DemoIncome, DemoMovement

ACCOUNT = AccountOpening(
    id="cc/1",
    token="tok_1",
    name="Padaria",
    tax_number="11222333000181",
    coordinates=BankCoordinates(branch="0001", account="123456-7"),
    city="Recife",
    zip_code="50000-000",
    opening=Money(10_50),
)
KEY = PixKey(
    provider_id="CH1",
    key="a@example.com",
    type=PixKeyType.EMAIL,
    status=PixKeyStatus.ACTIVE,
    created_at=None,
)
CHARGE = DemoCharge(role="pending", account="main", state="pending", value=Money(5_00))


@pytest.fixture
async def control(bank):
    async with controlling(f"http://127.0.0.1:{bank.control_port}") as opened:
        yield opened


async def owned(control) -> int:
    """What the account holds, in centavos."""
    return (await control.get("ledger"))["accounts"][f"customer:{ACCOUNT.id}"]


async def test_what_exists_already_is_left_alone(control):
    bank = ControlledBank(control)

    for first in (True, False):
        await bank.open_account(ACCOUNT)
        await bank.add_key(ACCOUNT.id, KEY)
        assert await bank.add_charge(ACCOUNT.id, "order/1", CHARGE) is first

    assert await owned(control) == 10_50
    assert len((await control.get("accounts"))["data"]) == 1


async def test_the_account_is_opened_as_asked(control):
    await ControlledBank(control).open_account(ACCOUNT)

    shown = await control.get("accounts", ACCOUNT.id)

    assert (shown["branch"], shown["account"], shown["city"]) == ("0001", "123456-7", "Recife")


async def test_money_comes_in_and_a_fee_goes_out(control):
    bank = ControlledBank(control)
    await bank.open_account(ACCOUNT)
    income = DemoIncome(
        ago=timedelta(), value=Money(1_00), payer=("Maria", "52998224725"), description="pão"
    )

    await bank.receive(ACCOUNT.id, income, datetime(2026, 11, 1, tzinfo=UTC))
    await bank.take_fee(ACCOUNT.id, Money(50))

    assert await owned(control) == 10_50 + 1_00 - 50


async def test_a_movement_that_is_not_pix_is_booked(control):
    bank = ControlledBank(control)
    await bank.open_account(ACCOUNT)
    movement = DemoMovement(
        ago=timedelta(),
        kind="ted_out",
        value=Money(1_00),
        other=("Maria", "52998224725"),
        description="frete",
    )

    await bank.book(ACCOUNT.id, movement, datetime(2026, 11, 1, tzinfo=UTC))

    assert await owned(control) == 10_50 - 1_00


async def test_money_is_given_back_once(control):
    bank = ControlledBank(control)
    await bank.open_account(ACCOUNT)
    income = DemoIncome(
        ago=timedelta(), value=Money(1_00), payer=("Maria", "52998224725"), description="pão"
    )
    e2e_id = await bank.receive(ACCOUNT.id, income, datetime.now(UTC))
    order = RefundOrder(
        provider_key="rk-1",
        reference="r-1",
        payment_e2e_id=e2e_id,
        value=Money(40),
        description="",
    )

    for _ in range(2):
        await bank.give_back(ACCOUNT.id, order)

    given = (await control.get("refunds"))["data"]
    assert [(each["key"], each["centavos"], each["payment"]) for each in given] == [
        ("rk-1", 40, e2e_id)
    ]


async def test_a_taken_account_number_is_a_refusal(control):
    bank = ControlledBank(control)
    await bank.open_account(ACCOUNT)

    with pytest.raises(ControlRefused, match="ALREADY_EXISTS"):
        await bank.open_account(replace(ACCOUNT, id="cc/2", token="tok_2"))


@pytest.mark.parametrize("asked", [("accounts", "nobody"), ("nothing",)])
async def test_a_refusal_is_told_to_the_operator(bank, asked):
    with pytest.raises(RuleViolation, match="404"):
        async with controlling(f"http://127.0.0.1:{bank.control_port}") as control:
            await control.get(*asked)
