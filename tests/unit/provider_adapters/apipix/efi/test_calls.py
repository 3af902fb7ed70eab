"""Efí's own calls, at a simulated bank."""

from __future__ import annotations

import pytest

from gateway.banks.port.pix_keys import KeyOrder, PixKeyType
from gateway.banks.port.providers import NotSent
from gateway.banks.port.refunds import RefundOrder
from gateway.banks.port.statements import Direction, MovementKind
from gateway.core.money import Money, Sum
from provider_adapters.kit.outcomes import NeverSendable
from provider_adapters.testing.verify.stage import Received
from provider_adapters.testing.verify.trial import new_provider_key
from tests.unit.provider_adapters.apipix.conftest import Standing
from tests.unit.provider_adapters.apipix.efi.calls import far, order
from tests.unit.provider_adapters.apipix.lists import today


async def test_the_balance_shows_blocked_amounts(efi: Standing):
    body = {"value": Money(2500), "kind": "med"}
    await efi.stage.control.post("accounts", efi.account.provider_account, "block", body=body)

    held = await efi.adapter.get_balance(efi.account)

    assert (held.balance, held.blocked) == (Sum(10_000_00), Sum(2500))


async def test_only_random_keys_can_be_created_at_efi(efi: Standing):
    with pytest.raises(NeverSendable):
        await efi.adapter.create_key(efi.account, KeyOrder(PixKeyType.EMAIL, "a@b.example"))

    assert await efi.calls() == []


async def test_a_payout_without_an_access_token_is_not_sent(efi: Standing):
    asked = order(efi)

    outcome = await efi.adapter.create_payout(efi.stage.stranger(), asked, far())

    assert isinstance(outcome, NotSent)
    assert await efi.calls() == []


async def test_a_given_refund_is_a_debit_in_the_statement(efi: Standing):
    e2e_id = await efi.stage.put(efi.account, Received(value=Money(100)))
    asked = RefundOrder(
        provider_key=new_provider_key(),
        reference="troco",
        payment_e2e_id=e2e_id,
        value=Money(40),
        description="Troco",
    )
    await efi.adapter.create_refund(efi.account, asked, far())
    await efi.stage.settle()

    page = await efi.adapter.list_statement(efi.account, today(), None, 10)

    (debit,) = [each for each in page.items if each.direction is Direction.DEBIT]
    assert (debit.kind, debit.value) == (MovementKind.PIX_RETURN, Money(40))
    assert (debit.provider_key, debit.e2e_id[:1]) == (asked.provider_key, "D")
