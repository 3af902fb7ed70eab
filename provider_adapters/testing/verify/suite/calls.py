"""Each call of the port as the suite makes it: what must be at the bank first, and with what."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Awaitable, Callable
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
OK: Final = Accepted | Settled
PLENTY: Final = Money(10_00)
MOVES: Final = frozenset({PortCall.CREATE_PAYOUT, PortCall.CREATE_REFUND})
"""Calls that move money; see ``payouts`` and ``refunds``."""
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


async def prepare(trial: Trial, call: PortCall) -> Call:  # noqa: C901, PLR0911, PLR0912, PLR0915 - a table
    """Let be at the bank what a call needs, by the trial's own adapter, and return the call."""
    account, own, put = trial.account, trial.adapter, trial.stage.put
    today = trial.days(0, 0)
    match call:
        case PortCall.PROBE:
            return lambda bank: bank.probe()
        case PortCall.GET_BALANCE | PortCall.LIST_KEYS | PortCall.LIST_BLOCKS:
            return lambda bank: getattr(bank, call.value)(account)
        case PortCall.LIST_STATEMENT | PortCall.LIST_RECEIVED | PortCall.LIST_REFUNDS:
            return lambda bank: getattr(bank, call.value)(account, today, None, 10)
        case PortCall.GET_KEY:
            applies_if(trial.can(PortCall.LIST_KEYS), "without list_keys nobody knows a key's id")
            keys = await own.list_keys(account)
            assert keys, "the first account has no key"
            return lambda bank: bank.get_key(account, keys[0].public_id(account.account_id))
        case PortCall.GET_CHARGE | PortCall.GET_CHARGE_PAYMENT:
            reference = await put(account, Charge(value=PLENTY))
            return lambda bank: getattr(bank, call.value)(account, reference)
        case PortCall.FIND_PAYOUT:
            order = trial.order()
            ordered = await trial.pay(order)
            assert isinstance(ordered, OK), ordered
            known = ordered.provider_id
            return lambda bank: bank.find_payout(account, order.provider_key, known)
        case PortCall.FIND_RECEIVED:
            e2e_id = await put(account, Received(value=PLENTY))
            return lambda bank: bank.find_received(account, e2e_id)
        case PortCall.FIND_REFUND:
            refund = (await refunds(trial))()
            await refund.made(own, far())
            return lambda bank: bank.find_refund(account, refund.key)
        case PortCall.CREATE_KEY:
            return lambda bank: bank.create_key(account, trial.stage.new_key())
        case PortCall.LOOK_UP_KEY:
            sought = trial.stage.own_key(trial.stage.accounts[1])
            return lambda bank: bank.look_up_key(account, sought)
        case PortCall.CREATE_CHARGE:
            ours = trial.stage.own_key(account)
            return lambda bank: bank.create_charge(account, trial.stage.charge_order(ours))
        case PortCall.REGISTER_CALLBACK:
            return lambda bank: bank.register_callback(account, callback_order(trial))
        case PortCall.LIST_CALLBACKS:
            return lambda bank: bank.list_callbacks(account)
        case PortCall.LIST_MISSED_EVENTS:
            return lambda bank: bank.list_missed_events(account, 10)
        case PortCall.ACKNOWLEDGE_EVENTS:
            return lambda bank: bank.acknowledge_events(account, ["evt_1"])
        case PortCall.CANCEL_KEY:
            return lambda bank: _cancel_key(trial, bank)
        case PortCall.CANCEL_CHARGE:
            kept = trial.stage.own_key(account)
            return lambda bank: _cancel_charge(trial, kept, bank)
        case PortCall.REMOVE_CALLBACK:
            return lambda bank: _remove_callback(trial, bank)
        case PortCall.CREATE_PAYOUT | PortCall.CREATE_REFUND:
            message = f"{call.value} moves money"
            raise ValueError(message)


async def _cancel_key(trial: Trial, bank: EveryCall) -> object:
    # another each time: one that is cancelled may take fewer requests
    made = await trial.adapter.create_key(trial.account, trial.stage.new_key())
    return await bank.cancel_key(trial.account, made)


async def _cancel_charge(trial: Trial, key: str, bank: EveryCall) -> object:
    order = trial.stage.charge_order(key)
    await trial.adapter.create_charge(trial.account, order)
    return await bank.cancel_charge(trial.account, order.reference)


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


@dataclass(frozen=True, slots=True)
class MoneyCall:
    """A payout or a refund that was ordered; ``key`` is ours, new for each."""

    key: str
    value: Money
    made: Callable[[EveryCall, Deadline], Awaitable[Outcome]]


MakeMoneyCall = Callable[[], MoneyCall]


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


def refund_order(e2e_id: str, value: Money) -> RefundOrder:
    """Return an order to give a payment back, with a key that nobody has used."""
    return RefundOrder(
        provider_key=new_provider_key(),
        reference=new_reference(),
        payment_e2e_id=e2e_id,
        value=value,
        description="",
    )
