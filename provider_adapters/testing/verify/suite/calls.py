"""Each call of the port as the suite makes it: what must be at the bank first, and with what."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final

from gateway.domain.bank.capabilities import PortCall
from gateway.domain.bank.payout_orders import PayoutMethod
from gateway.domain.bank.provider_callbacks import CallbackOrder
from gateway.domain.bank.provider_options import EveryCall
from gateway.domain.bank.providers import Accepted, Outcome, ProviderError, Settled
from gateway.domain.bank.refunds import RefundOrder
from gateway.domain.kernel.clocks import Deadline
from gateway.domain.kernel.money import Money
from provider_adapters.testing.verify.cases import applies_if
from provider_adapters.testing.verify.stage import Charge, Received
from provider_adapters.testing.verify.trial import Trial, far, new_provider_key, new_reference

Call = Callable[[EveryCall], Awaitable[object]]
"""Makes the call once; what it creates is new each time."""
Prepare = Callable[[Trial], Awaitable[Call]]
"""Lets be at the bank what a call needs, by the trial's own adapter, and returns the call."""
OK: Final = Accepted | Settled
PLENTY: Final = Money(10_00)


@dataclass(frozen=True, slots=True)
class MoneyCall:
    """A payout or a refund that was ordered; ``key`` is ours, new for each."""

    key: str
    value: Money
    made: Callable[[EveryCall, Deadline], Awaitable[Outcome]]


MakeMoneyCall = Callable[[], MoneyCall]


def plain(make: Callable[[Trial, EveryCall], Awaitable[object]]) -> Prepare:
    """Return a call that needs nothing at the bank, or makes it anew each time."""

    async def prepare(trial: Trial) -> Call:
        return lambda bank: make(trial, bank)

    return prepare


async def _key(trial: Trial) -> Call:
    applies_if(trial.can(PortCall.LIST_KEYS), "without list_keys nobody knows a key's id")
    found = await trial.adapter.list_keys(trial.account)
    assert found, "the first account has no key"
    key_id = found[0].public_id(trial.account.account_id)
    return lambda bank: bank.get_key(trial.account, key_id)


async def _charge(trial: Trial) -> Call:
    reference = await trial.stage.put(trial.account, Charge(value=PLENTY))
    return lambda bank: bank.get_charge(trial.account, reference)


async def _charge_payment(trial: Trial) -> Call:
    reference = await trial.stage.put(trial.account, Charge(value=PLENTY))
    return lambda bank: bank.get_charge_payment(trial.account, reference)


async def _find_payout(trial: Trial) -> Call:
    order = trial.order()
    ordered = await trial.pay(order)
    assert isinstance(ordered, OK), ordered
    known = ordered.provider_id
    return lambda bank: bank.find_payout(trial.account, order.provider_key, known)


async def _create_key(trial: Trial, bank: EveryCall) -> object:
    return await bank.create_key(trial.account, trial.stage.new_key())


async def _cancel_key(trial: Trial, bank: EveryCall) -> object:
    # another each time: one that is cancelled may take fewer requests
    made = await trial.adapter.create_key(trial.account, trial.stage.new_key())
    return await bank.cancel_key(trial.account, made)


async def _look_up_key(trial: Trial) -> Call:
    key = trial.stage.own_key(trial.stage.accounts[1])
    return lambda bank: bank.look_up_key(trial.account, key)


async def _create_charge(trial: Trial) -> Call:
    key = trial.stage.own_key(trial.account)
    return lambda bank: bank.create_charge(trial.account, trial.stage.charge_order(key))


async def _cancel_charge(trial: Trial) -> Call:
    key = trial.stage.own_key(trial.account)

    async def cancel(bank: EveryCall) -> object:
        order = trial.stage.charge_order(key)
        await trial.adapter.create_charge(trial.account, order)
        return await bank.cancel_charge(trial.account, order.reference)

    return cancel


async def _find_received(trial: Trial) -> Call:
    e2e_id = await trial.stage.put(trial.account, Received(value=PLENTY))
    return lambda bank: bank.find_received(trial.account, e2e_id)


async def _find_refund(trial: Trial) -> Call:
    refund = (await refunds(trial))()
    await refund.made(trial.adapter, far())
    return lambda bank: bank.find_refund(trial.account, refund.key)


async def _remove_callback(trial: Trial, bank: EveryCall) -> None:
    made = await trial.adapter.register_callback(trial.account, callback_order(trial))
    try:
        await bank.remove_callback(trial.account, made.id)
    finally:
        with contextlib.suppress(ProviderError):
            await trial.adapter.remove_callback(trial.account, made.id)


def callback_order(trial: Trial) -> CallbackOrder:
    """Return an order to send callbacks to an address where nobody listens."""
    url = f"http://127.0.0.1:1/callbacks/verified/{secrets.token_hex(4)}"
    return CallbackOrder(url=url, secret=trial.stage.callback_secrets.current)


def payouts(trial: Trial, method: PayoutMethod | None = None) -> MakeMoneyCall:
    """Return what makes payouts by one method."""
    destination = trial.stage.payee(method or trial.method)

    def made() -> MoneyCall:
        order = trial.order(destination=destination)
        return MoneyCall(
            order.provider_key,
            order.value,
            lambda bank, send_by: bank.create_payout(trial.account, order, send_by),
        )

    return made


def refund_order(e2e_id: str, value: Money, key: str = "") -> RefundOrder:
    """Return an order to give a payment back, with a key that nobody has used unless given."""
    return RefundOrder(
        provider_key=key or new_provider_key(),
        reference=new_reference(),
        payment_e2e_id=e2e_id,
        value=value,
        description="",
    )


async def refunds(trial: Trial) -> MakeMoneyCall:
    """Return what makes refunds, of a centavo each, of a payment that has just come in."""
    e2e_id = await trial.stage.put(trial.account, Received(value=PLENTY))

    def made() -> MoneyCall:
        order = refund_order(e2e_id, Money(1))
        return MoneyCall(
            order.provider_key,
            order.value,
            lambda bank, send_by: bank.create_refund(trial.account, order, send_by),
        )

    return made


PREPARED: Final[Mapping[PortCall, Prepare]] = {
    PortCall.PROBE: plain(lambda _, bank: bank.probe()),
    PortCall.GET_BALANCE: plain(lambda t, bank: bank.get_balance(t.account)),
    PortCall.LIST_STATEMENT: plain(
        lambda t, bank: bank.list_statement(t.account, t.days(0, 0), None, 10)
    ),
    PortCall.LIST_KEYS: plain(lambda t, bank: bank.list_keys(t.account)),
    PortCall.GET_KEY: _key,
    PortCall.GET_CHARGE: _charge,
    PortCall.GET_CHARGE_PAYMENT: _charge_payment,
    PortCall.FIND_PAYOUT: _find_payout,
    PortCall.CREATE_KEY: plain(_create_key),
    PortCall.CANCEL_KEY: plain(_cancel_key),
    PortCall.LOOK_UP_KEY: _look_up_key,
    PortCall.CREATE_CHARGE: _create_charge,
    PortCall.CANCEL_CHARGE: _cancel_charge,
    PortCall.FIND_RECEIVED: _find_received,
    PortCall.LIST_RECEIVED: plain(
        lambda t, bank: bank.list_received(t.account, t.days(0, 0), None, 10)
    ),
    PortCall.FIND_REFUND: _find_refund,
    PortCall.LIST_REFUNDS: plain(
        lambda t, bank: bank.list_refunds(t.account, t.days(0, 0), None, 10)
    ),
    PortCall.LIST_BLOCKS: plain(lambda t, bank: bank.list_blocks(t.account)),
    PortCall.REGISTER_CALLBACK: plain(
        lambda t, bank: bank.register_callback(t.account, callback_order(t))
    ),
    PortCall.LIST_CALLBACKS: plain(lambda t, bank: bank.list_callbacks(t.account)),
    PortCall.REMOVE_CALLBACK: plain(_remove_callback),
    PortCall.LIST_MISSED_EVENTS: plain(lambda t, bank: bank.list_missed_events(t.account, 10)),
    PortCall.ACKNOWLEDGE_EVENTS: plain(
        lambda t, bank: bank.acknowledge_events(t.account, ["evt_1"])
    ),
}
"""Every call but the two that move money."""

ONCE: Final = frozenset({PortCall.CREATE_KEY, PortCall.CREATE_CHARGE, PortCall.REGISTER_CALLBACK})
"""Calls that change something, and must not be repeated by the adapter."""
CHANGES: Final = ONCE | {
    PortCall.CANCEL_KEY,
    PortCall.CANCEL_CHARGE,
    PortCall.REMOVE_CALLBACK,
    PortCall.ACKNOWLEDGE_EVENTS,
}
"""Calls that change something other than money at the bank."""
WITHOUT_RESULT: Final = frozenset(
    {PortCall.PROBE, PortCall.REMOVE_CALLBACK, PortCall.ACKNOWLEDGE_EVENTS}
)
"""Calls that return nothing: any whole answer of a success may be enough for them."""
