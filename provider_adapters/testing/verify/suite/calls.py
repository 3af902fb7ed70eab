"""Each call of the port as the suite makes it: what must be at the bank first, and with what."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, cast

from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.payout_orders import PayoutMethod, PayoutOrder
from gateway.banks.port.provider_callbacks import CallbackOrder
from gateway.banks.port.provider_options import EveryCall
from gateway.banks.port.providers import Accepted, ProviderAccount, Settled
from gateway.banks.port.refunds import RefundOrder
from gateway.core.money import Money
from provider_adapters.testing.verify.cases import applies_if
from provider_adapters.testing.verify.stage import Charge, Received
from provider_adapters.testing.verify.trial import Trial, new_provider_key, new_reference

Read = Callable[[ProviderAccount], Awaitable[object]]
Order = PayoutOrder | RefundOrder
MakeOrder = Callable[[], Order]
"""Makes another order each time, with a key of its own."""
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


async def arguments(trial: Trial, call: PortCall) -> tuple[object, ...]:  # noqa: C901, PLR0911, PLR0912, PLR0915 - a table
    """Let be at the bank what a call needs, and return what it is given; new each time."""
    account, own, stage = trial.account, trial.adapter, trial.stage
    match call:
        case PortCall.PROBE:
            return ()
        case PortCall.LIST_STATEMENT | PortCall.LIST_RECEIVED | PortCall.LIST_REFUNDS:
            return account, trial.days(0, 0), None, 10
        case PortCall.GET_KEY:
            applies_if(trial.can(PortCall.LIST_KEYS), "without list_keys nobody knows a key's id")
            [key, *_] = await own.list_keys(account)
            return account, key.public_id(account.account_id)
        case PortCall.GET_CHARGE | PortCall.GET_CHARGE_PAYMENT:
            return account, await stage.put(account, Charge(value=PLENTY))
        case PortCall.FIND_PAYOUT:
            order = trial.order()
            ordered = await trial.pay(order)
            assert isinstance(ordered, OK), ordered
            return account, order.provider_key, ordered.provider_id
        case PortCall.FIND_RECEIVED:
            return account, await stage.put(account, Received(value=PLENTY))
        case PortCall.FIND_REFUND:
            refund = (await refunds(trial))()
            await trial.pay(refund)
            return account, refund.provider_key
        case PortCall.CREATE_KEY:
            return account, stage.new_key()
        case PortCall.LOOK_UP_KEY:
            return account, stage.own_key(stage.accounts[1])
        case PortCall.CREATE_CHARGE:
            return account, stage.charge_order(stage.own_key(account))
        case PortCall.REGISTER_CALLBACK:
            return account, callback_order(trial)
        case PortCall.LIST_MISSED_EVENTS:
            return account, 10
        case PortCall.ACKNOWLEDGE_EVENTS:
            return account, ["evt_1"]
        case PortCall.CANCEL_KEY:
            return account, await own.create_key(account, stage.new_key())
        case PortCall.CANCEL_CHARGE:
            charge = stage.charge_order(stage.own_key(account))
            await own.create_charge(account, charge)
            return account, charge.reference
        case PortCall.REMOVE_CALLBACK:
            return account, (await own.register_callback(account, callback_order(trial))).id
        case _:
            return (account,)


def make(bank: EveryCall, call: PortCall, given: tuple[object, ...]) -> Awaitable[object]:
    """Make a call once."""
    return cast("Awaitable[object]", getattr(bank, call.value)(*given))


async def a_read(trial: Trial) -> Read:
    """Return a read that the adapter declares, which every account can make."""
    bank, put = trial.adapter, trial.stage.put
    if trial.can(PortCall.GET_BALANCE):
        return bank.get_balance
    if trial.can(PortCall.LIST_STATEMENT):
        return lambda account: bank.list_statement(account, trial.days(-1, -1), None, 10)
    if trial.can(PortCall.LIST_KEYS):
        return bank.list_keys
    applies_if(trial.can(PortCall.GET_CHARGE), "no read that every account can make is declared")
    accounts = trial.stage.accounts[:2]
    made = {each.provider_account: await put(each, Charge(value=PLENTY)) for each in accounts}
    return lambda account: bank.get_charge(account, made[account.provider_account])


def callback_order(trial: Trial) -> CallbackOrder:
    """Return an order to send callbacks to an address where nobody listens."""
    url = f"http://127.0.0.1:1/callbacks/verified/{secrets.token_hex(4)}"
    return CallbackOrder(url=url, secret=trial.stage.callback_secrets.current)


def payouts(trial: Trial, method: PayoutMethod | None = None) -> MakeOrder:
    """Return what orders payouts by one method."""
    destination = trial.stage.payee(method or trial.method)
    return lambda: trial.order(destination=destination)


async def refunds(trial: Trial) -> MakeOrder:
    """Return what orders refunds, of a centavo each, of a payment that has just come in."""
    e2e_id = await trial.stage.put(trial.account, Received(value=PLENTY))
    return lambda: refund_order(e2e_id, Money(1))


async def money_orders(trial: Trial) -> Sequence[MakeOrder]:
    """Return what orders payouts and refunds, as far as they are declared."""
    paying = [payouts(trial)] if trial.can(PortCall.CREATE_PAYOUT) else []
    return [*paying, await refunds(trial)] if trial.can(PortCall.CREATE_REFUND) else paying


def refund_order(e2e_id: str, value: Money) -> RefundOrder:
    """Return an order to give a payment back, with a key that nobody has used."""
    return RefundOrder(
        provider_key=new_provider_key(),
        reference=new_reference(),
        payment_e2e_id=e2e_id,
        value=value,
        description="",
    )
