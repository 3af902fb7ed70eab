"""Cases about charges, keys, payments received, blocks and addresses for callbacks."""

from __future__ import annotations

import contextlib
import dataclasses
import uuid
from typing import Final, cast

import pytest

from gateway.banks.port import answers
from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.charges import ChargeOrder, ChargeStatus, ChargeType, Payer
from gateway.banks.port.payout_orders import PayoutMethod, PixDestination
from gateway.banks.port.pix_keys import PixKeyStatus
from gateway.banks.port.providers import CHARGE_PAID, IN_USE, NotFound, NotSupported, Refused
from gateway.banks.port.refunds import IncomingPayment
from gateway.core.money import Money
from provider_adapters.testing.verify.stage import Charge, ChargePaid, Received
from provider_adapters.testing.verify.trial import (
    ORDERED,
    Trial,
    callback_order,
    case,
    make,
    new_reference,
)

_ODD: Final = ("nowhere", "a?b=c", "..%2f", "\u00e9" * 30, "a#b", "a b", "a/b")
"""References as people make them: each is one step of a path, whatever is in it."""
_ENDS: Final = 20
"""Pages; no stage has more."""


@case("calls.charge_states", needs={PortCall.GET_CHARGE})
async def charge_states(trial: Trial) -> None:
    """A charge is read in each of the states that are declared."""
    assert trial.capabilities.charge_states, "charge_states: none is declared"
    for status in sorted(trial.capabilities.charge_states):
        reference = await trial.stage.put(trial.account, Charge(value=ORDERED, status=status))
        found = await trial.adapter.get_charge(trial.account, reference)
        answers.charge(found, reference)
        assert found.status is status, found
        assert found.value == ORDERED, found
        assert found.emv.startswith("000201") or status is not ChargeStatus.ACTIVE, found


@case("calls.charge_paid", needs={PortCall.GET_CHARGE, PortCall.GET_CHARGE_PAYMENT})
async def charge_paid(trial: Trial) -> None:
    """A charge is a pending transaction, and once paid one with the payment's end-to-end id."""
    reference = await trial.stage.put(trial.account, Charge(value=ORDERED))
    pending = await trial.adapter.get_charge_payment(trial.account, reference)
    answers.charge_payment(pending, reference)
    assert (pending.paid_at, pending.e2e_id, pending.value) == (None, "", ORDERED)
    e2e_id = await trial.stage.put(trial.account, ChargePaid(reference=reference))
    found = await trial.adapter.get_charge_payment(trial.account, reference)
    charge = await trial.adapter.get_charge(trial.account, reference)
    answers.charge_payment(found, reference)
    assert found.paid_at is not None, found
    assert (found.value, found.e2e_id) == (ORDERED, e2e_id)
    assert charge.status is ChargeStatus.PAID, charge
    if trial.can(PortCall.CANCEL_CHARGE):
        with pytest.raises(Refused, match=f"{CHARGE_PAID}|refused"):
            await trial.adapter.cancel_charge(trial.account, reference)


@case("calls.charge_absent", needs={PortCall.GET_CHARGE})
async def charge_absent(trial: Trial) -> None:
    """An absent charge is NotFound, or Refused for an id that the bank cannot look up."""
    for call in filter(trial.can, (PortCall.GET_CHARGE, PortCall.GET_CHARGE_PAYMENT)):
        for reference in _ODD:
            with pytest.raises((NotFound, Refused)):
                await make(trial.adapter, call, (trial.account, reference))
    if trial.can(PortCall.CANCEL_CHARGE):
        with pytest.raises(NotFound):
            await trial.adapter.cancel_charge(trial.account, new_reference())


@case("calls.charge_made", needs={PortCall.CREATE_CHARGE, PortCall.GET_CHARGE})
async def charge_made(trial: Trial) -> None:
    """A charge is made as ordered, once for a reference, read as it was made, and cancelled."""
    plain = trial.stage.charge_order(trial.stage.own_key(trial.account))
    first = await _made(trial, plain)
    try:
        second, reason = (await trial.adapter.create_charge(trial.account, plain)).emv, IN_USE
    except Refused as refused:
        second, reason = first, refused.reason
    assert (second, reason) == (first, IN_USE), "there are two charges of one reference"
    somebody = Payer(name="Maria Silva", tax_number="52998224725", message="oi")
    for order in (
        dataclasses.replace(plain, value=None),
        dataclasses.replace(plain, expires_in=3600),
        dataclasses.replace(plain, type=ChargeType.STATIC, reusable=True, description="balcao"),
        dataclasses.replace(plain, payer=somebody),
    ):
        with contextlib.suppress(NotSupported, Refused):  # no bank makes every kind
            await _made(trial, dataclasses.replace(order, reference=new_reference()))
    if trial.can(PortCall.CANCEL_CHARGE):
        cancelled = await trial.adapter.cancel_charge(trial.account, plain.reference)
        answers.charge(cancelled, plain.reference)
        assert cancelled.status is ChargeStatus.CANCELED, cancelled
        with contextlib.suppress(NotFound, Refused):
            again = await trial.adapter.cancel_charge(trial.account, plain.reference)
            assert again.status is ChargeStatus.CANCELED, again


async def _made(trial: Trial, order: ChargeOrder) -> str:
    """Make a charge, read it, and return its EMV code."""
    made = await trial.adapter.create_charge(trial.account, order)
    answers.created_charge(made, order)
    found = await trial.adapter.get_charge(trial.account, order.reference)
    assert (made.value, made.status) == (order.value, ChargeStatus.ACTIVE)
    assert made.emv.startswith("000201"), made
    assert made.expires_at is not None or order.expires_in is None, f"{made} never expires"
    same = (found.reference, found.value, found.emv)
    assert same == (made.reference, made.value, made.emv)
    return made.emv


@case("calls.received", needs={PortCall.FIND_RECEIVED})
async def received(trial: Trial) -> None:
    """A payment that came in is found by its end-to-end id; no other is."""
    e2e_id = await trial.stage.put(trial.account, Received(value=ORDERED))
    other = await trial.stage.put(trial.stage.accounts[1], Received(value=ORDERED))
    found = await trial.adapter.find_received(trial.account, e2e_id)
    answers.received(found, e2e_id)
    assert (found.value, found.refunded) == (ORDERED, Money(0))
    for absent in ("E" + "0" * 31, other):
        with pytest.raises(NotFound):
            await trial.adapter.find_received(trial.account, absent)


@case("calls.received_pages", needs={PortCall.LIST_RECEIVED})
async def received_pages(trial: Trial) -> None:
    """Payments received are listed page by page, each once, newest first."""
    put = [await trial.stage.put(trial.account, Received(value=ORDERED)) for _ in range(3)]
    found, cursor, window = list[IncomingPayment](), None, trial.days(-1, 1)
    for _ in range(_ENDS):
        page = await trial.adapter.list_received(trial.account, window, cursor, 1)
        found += answers.received_page(page, cursor, 1).items
        cursor = page.next_cursor
        if cursor is None:
            break
    assert cursor is None, f"{_ENDS} pages and no end"
    # A bank may know a payment by its id in small letters alone.
    ids = [each.e2e_id.upper() for each in found]
    assert len(ids) == len(set(ids)), "a payment is listed twice"
    assert {each.upper() for each in put} <= set(ids)
    times = [each.paid_at for each in found]
    assert times == sorted(times, reverse=True), "the newest is not the first"


@case("calls.key_registered", needs={PortCall.CREATE_KEY, PortCall.CANCEL_KEY})
async def key_registered(trial: Trial) -> None:
    """A key is registered as ordered, is listed, and is given up."""
    order = trial.stage.new_key()
    made = answers.created_key(await trial.adapter.create_key(trial.account, order), order)
    if trial.can(PortCall.LIST_KEYS):
        assert made.key in [each.key for each in await trial.adapter.list_keys(trial.account)]
    gone = answers.cancelled_key(await trial.adapter.cancel_key(trial.account, made), made)
    assert made.type is order.type, made
    assert gone.status is PixKeyStatus.CANCELED, gone


@case("calls.key_found", needs={PortCall.LIST_KEYS, PortCall.GET_KEY})
async def key_found(trial: Trial) -> None:
    """Each key of the account is found by its public id; another one is NotFound."""
    account = trial.account
    listed = answers.keys(await trial.adapter.list_keys(account))
    assert listed, "the account has no key"
    for key in listed:
        assert await trial.adapter.get_key(account, key.public_id(account.account_id)) == key
    with pytest.raises(NotFound):
        await trial.adapter.get_key(account, str(uuid.uuid4()))


@case("calls.key_owner", needs={PortCall.LOOK_UP_KEY})
async def key_owner(trial: Trial) -> None:
    """The owner of a key is named; a person's tax number is not shown whole."""
    company = trial.stage.own_key(trial.stage.accounts[1])
    person = cast("PixDestination", trial.stage.payee(PayoutMethod.PIX))
    for key in (company, person.key):
        owner = await trial.adapter.look_up_key(trial.account, key)
        answers.key_owner(owner, key)
        assert owner.name, owner
        assert person.tax_number not in owner.tax_number, "a person's tax number is shown whole"


@case("calls.blocks", needs={PortCall.LIST_BLOCKS, PortCall.GET_BALANCE})
async def blocked(trial: Trial) -> None:
    """The sum of all blocks is the balance's blocked amount."""
    blocks = answers.blocks(await trial.adapter.list_blocks(trial.account))
    balance = answers.balance(await trial.adapter.get_balance(trial.account))
    assert balance.blocked is not None
    assert balance.blocked.centavos == sum(each.value.centavos for each in blocks)


@case("calls.callback_address", needs={PortCall.REGISTER_CALLBACK, PortCall.LIST_CALLBACKS})
async def callback_address(trial: Trial) -> None:
    """An address is registered, listed, and removed; some banks add a step or parameter to it."""
    order, bank = callback_order(trial), trial.adapter
    made = await bank.register_callback(trial.account, order)
    listed = [each.url.startswith(order.url) for each in await bank.list_callbacks(trial.account)]
    assert made.url == order.url
    assert any(listed)
    if trial.can(PortCall.REMOVE_CALLBACK):
        await bank.remove_callback(trial.account, made.id)
        left = await bank.list_callbacks(trial.account)
        assert not any(each.url.startswith(order.url) for each in left)
