"""The nine calls, against a bank that keeps a ledger."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from gateway.banks.port.charges import ChargeStatus, ChargeType
from gateway.banks.port.pix_keys import PixKeyStatus, PixKeyType
from gateway.banks.port.providers import (
    Accepted,
    CredentialsRefused,
    NotFound,
    ProviderAdapter,
    Settled,
)
from gateway.banks.port.statements import Direction
from gateway.core.money import Money, Sum
from gateway.core.windows import Window
from provider_adapters.kit.answers import is_e2e_id
from tests.contract.adapters.calls import around_today, until_final
from tests.contract.adapters.conftest import STAGES
from tests.world.banks.harness import FAR, KEY, SETTINGS, order
from tests.world.banks.sandbox import OPENING, BankWorld
from tests.world.banks.witness import Witness


def test_the_banks_of_these_calls_have_adapters():
    """The others are verified by the shipped suite."""
    assert set(STAGES) <= set(SETTINGS)


async def test_the_bank_is_reached_without_an_account(adapter: ProviderAdapter):
    await adapter.probe()


async def test_the_balance_is_exact(adapter: ProviderAdapter, bank_world: BankWorld):
    held = await adapter.get_balance(bank_world.account)

    assert held.balance.centavos >= OPENING
    assert held.blocked == Sum(0)
    assert held.updated_at is not None
    assert held.updated_at.utcoffset() is not None


async def test_keys_are_listed_and_found_by_their_public_id(
    adapter: ProviderAdapter, bank_world: BankWorld
):
    """One whose own id is no UUID has one derived (contract 2.8)."""
    keys = await adapter.list_keys(bank_world.account)

    found = [
        await adapter.get_key(bank_world.account, key.public_id(bank_world.account.account_id))
        for key in keys
    ]

    assert found == list(keys)
    assert {(key.type, key.status) for key in keys} == {
        (PixKeyType.EMAIL, PixKeyStatus.ACTIVE),
        (PixKeyType.CNPJ, PixKeyStatus.ACTIVE),
    }


async def test_an_absent_key_is_not_found(adapter: ProviderAdapter, bank_world: BankWorld):
    with pytest.raises(NotFound):
        await adapter.get_key(bank_world.account, "00000000-0000-4000-8000-000000000000")


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


async def test_a_paid_charge_is_a_settled_transaction(
    adapter: ProviderAdapter, bank_world: BankWorld
):
    """Contract 2.5."""
    payment = await adapter.get_charge_payment(bank_world.account, "paid/1")

    assert payment.paid_at is not None
    assert is_e2e_id(payment.e2e_id)
    assert payment.value == Money(1050)
    assert payment.payer is not None


@pytest.mark.parametrize("reference", ["pending/1", "expired/1", "canceled/1"])
async def test_an_unpaid_charge_is_a_pending_transaction(
    adapter: ProviderAdapter, bank_world: BankWorld, reference: str
):
    payment = await adapter.get_charge_payment(bank_world.account, reference)

    assert (payment.paid_at, payment.e2e_id, payment.value) == (None, "", Money(1050))


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


@pytest.mark.parametrize("reference", ["nowhere", "a?b=c", "..%2f", "é" * 100, "a#b", "a b"])
async def test_an_absent_charge_is_not_found(
    adapter: ProviderAdapter, bank_world: BankWorld, reference: str
):
    with pytest.raises(NotFound):
        await adapter.get_charge(bank_world.account, reference)
    with pytest.raises(NotFound):
        await adapter.get_charge_payment(bank_world.account, reference)


async def test_the_statement_comes_page_by_page_newest_first(
    adapter: ProviderAdapter, bank_world: BankWorld
):
    for value in (1.00, 2.00, 3.00):
        await bank_world.tell(
            f"/accounts/{bank_world.account.provider_account}/movements",
            {"kind": "fee", "value": value},
        )

    whole = await adapter.list_statement(bank_world.account, around_today(), None, 100)
    first = await adapter.list_statement(bank_world.account, around_today(), None, 2)
    second = await adapter.list_statement(bank_world.account, around_today(), first.next_cursor, 98)

    assert [entry.value.centavos for entry in first.items] == [300, 200]
    assert [*first.items, *second.items] == list(whole.items)
    assert whole.next_cursor is None
    fee = whole.items[0]
    assert (fee.direction, fee.is_pix, fee.e2e_id) == (Direction.DEBIT, False, "")
    paid = next(entry for entry in whole.items if entry.is_pix)
    assert paid.direction is Direction.CREDIT


async def test_the_last_day_of_the_calendar_can_be_asked_for(
    adapter: ProviderAdapter, bank_world: BankWorld
):
    last = datetime.max.replace(tzinfo=UTC).date()

    page = await adapter.list_statement(bank_world.account, Window(last, last), None, 1)

    assert page.items == ()


async def test_a_payout_is_accepted_and_settles(adapter: ProviderAdapter, bank_world: BankWorld):
    ordered = await adapter.create_payout(bank_world.account, order(), FAR)

    settled = await until_final(adapter, bank_world.account, KEY)

    assert isinstance(ordered, Accepted)
    assert is_e2e_id(ordered.e2e_id)
    assert isinstance(settled, Settled)
    assert (settled.value, settled.e2e_id) == (Money(1050), ordered.e2e_id)
    assert settled.provider_id == ordered.provider_id
    assert settled.settled_at is not None
    assert await bank_world.executions(KEY) == [1050]


async def test_a_payout_is_found_by_the_bank_s_own_id(
    adapter: ProviderAdapter, bank_world: BankWorld
):
    ordered = await adapter.create_payout(bank_world.account, order(), FAR)
    assert isinstance(ordered, Accepted)

    found = await adapter.find_payout(bank_world.account, KEY, ordered.provider_id)

    assert isinstance(found, Accepted | Settled)
    assert found.provider_id == ordered.provider_id


async def test_the_same_key_pays_once(adapter: ProviderAdapter, bank_world: BankWorld):
    first = await adapter.create_payout(bank_world.account, order(), FAR)
    second = await adapter.create_payout(bank_world.account, order(), FAR)

    assert isinstance(first, Accepted)
    assert isinstance(second, Accepted | Settled)
    assert second.provider_id == first.provider_id
    assert await bank_world.executions(KEY) == [1050]


async def test_an_absent_payout_is_not_found(adapter: ProviderAdapter, bank_world: BankWorld):
    with pytest.raises(NotFound):
        await adapter.find_payout(bank_world.account, KEY, "")


async def test_wrong_credentials_are_told_as_such(
    adapter: ProviderAdapter, bank_world: BankWorld, told: Witness
):
    wrong = replace(bank_world.account, credentials="wrong")

    with pytest.raises(CredentialsRefused):
        await adapter.get_balance(wrong)

    assert [call.outcome for call in told.calls] == ["credentials_refused"]
