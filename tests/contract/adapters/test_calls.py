"""The nine calls, against a bank that keeps a ledger."""

from __future__ import annotations

from datetime import UTC, datetime

from gateway.banks.port.providers import ProviderAdapter
from gateway.core.windows import Window
from tests.world.banks.sandbox import BankWorld


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
