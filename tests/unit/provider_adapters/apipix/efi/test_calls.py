"""Efí's own calls, at the bank that stands in for it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateway.banks.port.payout_orders import PayoutMethod
from gateway.banks.port.pix_keys import KeyOrder, PixKeyStatus, PixKeyType
from gateway.banks.port.providers import (
    Accepted,
    NotFound,
    NotSent,
    Rejected,
    Settled,
    Unknown,
)
from gateway.banks.port.refunds import RefundOrder
from gateway.banks.port.statements import Direction, MovementKind
from gateway.core.money import Money, Sum
from provider_adapters.kit.outcomes import NeverSendable
from provider_adapters.testing.verify.stage import Fate, Received
from provider_adapters.testing.verify.trial import new_provider_key
from tests.unit.provider_adapters.apipix.conftest import Standing
from tests.unit.provider_adapters.apipix.efi.calls import far, order
from tests.unit.provider_adapters.apipix.lists import today


async def test_the_balance_tells_what_is_blocked(efi: Standing):
    body = {"value": Money(2500), "kind": "med"}
    await efi.stage.control.post("accounts", efi.account.provider_account, "block", body=body)

    held = await efi.adapter.get_balance(efi.account)

    assert (held.balance, held.blocked) == (Sum(10_000_00), Sum(2500))


async def test_random_keys_are_listed_made_and_given_up(efi: Standing):
    made = await efi.adapter.create_key(efi.account, KeyOrder(PixKeyType.EVP, ""))
    key_id = made.public_id(efi.account.account_id)

    assert await efi.adapter.get_key(efi.account, key_id) == made
    gone = await efi.adapter.cancel_key(efi.account, made)
    assert gone.status is PixKeyStatus.CANCELED
    with pytest.raises(NotFound):
        await efi.adapter.get_key(efi.account, key_id)


async def test_a_key_that_is_not_random_is_not_asked_for(efi: Standing):
    with pytest.raises(NeverSendable):
        await efi.adapter.create_key(efi.account, KeyOrder(PixKeyType.EMAIL, "a@b.example"))

    assert await efi.calls() == []


@pytest.mark.parametrize("method", list(PayoutMethod))
async def test_a_payout_is_a_put_to_our_key_and_settles(efi: Standing, method: PayoutMethod):
    asked = order(efi, method=method)

    ordered = await efi.adapter.create_payout(efi.account, asked, far())
    await efi.stage.settle()
    found = await efi.adapter.find_payout(efi.account, asked.provider_key, "")

    assert await efi.calls() == [
        ("PUT", f"/v3/gn/pix/{asked.provider_key}"),
        ("GET", f"/v2/gn/pix/enviados/id-envio/{asked.provider_key}"),
    ]
    assert isinstance(ordered, Accepted)
    assert isinstance(found, Settled)
    assert (found.value, found.e2e_id) == (Money(1050), ordered.e2e_id)


async def test_a_payout_that_failed_later_is_rejected(efi: Standing):
    wish = await efi.stage.wish(Fate.FAILS)
    asked = order(efi, wish.value.centavos)
    await efi.adapter.create_payout(efi.account, asked, far())
    await efi.stage.settle()

    found = await efi.adapter.find_payout(efi.account, asked.provider_key, "")

    assert isinstance(found, Rejected)


async def test_a_known_key_is_read_back_and_compared(efi: Standing):
    asked = order(efi)
    first = await efi.adapter.create_payout(efi.account, asked, far())

    again = await efi.adapter.create_payout(efi.account, asked, far())
    other_amount = await efi.adapter.create_payout(
        efi.account, replace(asked, value=Money(99)), far()
    )
    elsewhere = replace(asked, destination=replace(asked.destination, key="other@example.com"))
    other_place = await efi.adapter.create_payout(efi.account, elsewhere, far())

    assert isinstance(first, Accepted)
    assert isinstance(again, Accepted | Settled)
    assert isinstance(other_amount, Unknown)
    assert other_amount.evidence.reason == "amount_mismatch"
    assert isinstance(other_place, Unknown)
    assert other_place.evidence.reason == "destination_mismatch"
    assert await efi.stage.executions(asked.provider_key) == [Money(1050)]


async def test_without_a_token_nothing_is_ordered(efi: Standing):
    asked = order(efi)

    outcome = await efi.adapter.create_payout(efi.stage.stranger(), asked, far())

    assert isinstance(outcome, NotSent)
    assert await efi.calls() == []


async def test_an_absent_payout_is_not_found(efi: Standing):
    with pytest.raises(NotFound):
        await efi.adapter.find_payout(efi.account, new_provider_key(), "")


async def test_a_statement_is_both_lists_newest_first(efi: Standing):
    asked = order(efi)
    await efi.stage.put(efi.account, Received(value=Money(100)))
    await efi.adapter.create_payout(efi.account, asked, far())
    await efi.stage.settle()

    entries, cursor = [], None
    while True:
        page = await efi.adapter.list_statement(efi.account, today(), cursor, 1)
        assert len(page.items) <= 1
        entries, cursor = [*entries, *page.items], page.next_cursor
        if cursor is None:
            break

    debit = next(each for each in entries if each.direction is Direction.DEBIT)
    assert (debit.provider_key, debit.value) == (asked.provider_key, Money(1050))
    assert [each.created_at for each in entries] == sorted(
        (each.created_at for each in entries), reverse=True
    )
    assert len({each.provider_id for each in entries}) == len(entries)


async def test_a_refund_that_was_given_is_a_debit_of_the_statement(efi: Standing):
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
