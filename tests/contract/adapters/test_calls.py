"""The nine calls, against a bank that keeps a ledger."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gateway.banks.port.charges import ChargeStatus, ChargeType
from gateway.banks.port.providers import ProviderAdapter
from gateway.core.money import Money
from gateway.core.windows import Window
from tests.world.banks.sandbox import BankWorld


@pytest.mark.parametrize(
    ("reference", "status"),
    [
        ("pending/1", ChargeStatus.ACTIVE),
        ("paid/1", ChargeStatus.PAID),
        ("expired/1", ChargeStatus.ACTIVE),
        ("anonymous/1", ChargeStatus.ACTIVE),
        ("canceled/1", ChargeStatus.CANCELED),
    ],
)
async def test_a_charge_is_read(
    adapter: ProviderAdapter, bank_world: BankWorld, reference: str, status: ChargeStatus
):
    """Contract 2.4; the reference is one path step, whatever is in it."""
    charge = await adapter.get_charge(bank_world.account, reference)

    assert (charge.reference, charge.status) == (reference, status)
    assert (charge.type, charge.value) == (ChargeType.DYNAMIC, Money(1050))
    assert charge.emv.startswith("000201")
    assert charge.is_expired(datetime.now(UTC)) is (reference == "expired/1")
    assert (charge.payer is None) is (reference == "anonymous/1")


async def test_a_paid_anonymous_charge_names_no_payer(
    adapter: ProviderAdapter, bank_world: BankWorld
):
    await bank_world.tell(
        "/charges/anonymous%2F1/pay",
        {"payer": {"name": "Maria", "tax_number": "52998224725", "message": ""}},
    )

    payment = await adapter.get_charge_payment(bank_world.account, "anonymous/1")

    assert payment.paid_at is not None
    assert payment.payer is None


async def test_the_last_day_of_the_calendar_can_be_asked_for(
    adapter: ProviderAdapter, bank_world: BankWorld
):
    last = datetime.max.replace(tzinfo=UTC).date()

    page = await adapter.list_statement(bank_world.account, Window(last, last), None, 1)

    assert page.items == ()
