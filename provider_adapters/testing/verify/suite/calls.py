"""Each call of the port as the suite makes it: what must be at the bank first, and with what."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from gateway.domain.bank.capabilities import PortCall
from gateway.domain.bank.payout_orders import PayoutMethod
from gateway.domain.bank.provider_callbacks import CallbackOrder
from gateway.domain.bank.provider_options import EveryCall
from gateway.domain.bank.providers import Accepted, Outcome, ProviderAccount, ProviderError, Settled
from gateway.domain.bank.refunds import RefundOrder
from gateway.domain.kernel.clocks import Deadline
from gateway.domain.kernel.money import Money
from gateway.domain.kernel.windows import Window
from provider_adapters.testing.verify.stage import Charge, NotApplicable, Received, Stage
from provider_adapters.testing.verify.trial import Trial, far, new_provider_key

Call = Callable[[EveryCall], Awaitable[object]]
"""Makes the call once; what it creates is new each time."""


@dataclass(frozen=True, slots=True)
class Ready:
    """
    A trial whose bank can be prepared for a call.

    Attributes:
        clean: An adapter that nothing goes wrong for, as long as the case runs.
    """

    trial: Trial
    clean: EveryCall

    @property
    def account(self) -> ProviderAccount:
        """The stage's first account."""
        return self.trial.account

    @property
    def stage(self) -> Stage:
        """The trial's."""
        return self.trial.stage


Prepare = Callable[[Ready], Awaitable[Call]]
"""Lets be at the bank what a call needs, and returns the call."""

CENTAVO: Final = Money(1)
PLENTY: Final = Money(10_00)


@dataclass(frozen=True, slots=True)
class MoneyCall:
    """A payout or a refund that was ordered; ``key`` is ours, new for each."""

    key: str
    value: Money
    made: Callable[[EveryCall, Deadline], Awaitable[Outcome]]


MakeMoneyCall = Callable[[], MoneyCall]


def today() -> Window:
    """Return the window of this day."""
    day = datetime.now(UTC).date()
    return Window(day, day)


def recent() -> Window:
    """Return the days around now: a bank's day is another one, and its clock may be ahead."""
    day = datetime.now(UTC).date()
    return Window(day - timedelta(days=1), day + timedelta(days=1))


def new_reference() -> str:
    """Return a reference that nobody has used."""
    return f"verified-{secrets.token_hex(8)}"


async def _probe(_: Ready) -> Call:
    return lambda bank: bank.probe()


async def _balance(ready: Ready) -> Call:
    return lambda bank: bank.get_balance(ready.account)


async def _statement(ready: Ready) -> Call:
    return lambda bank: bank.list_statement(ready.account, today(), None, 10)


async def _keys(ready: Ready) -> Call:
    return lambda bank: bank.list_keys(ready.account)


async def _key(ready: Ready) -> Call:
    if PortCall.LIST_KEYS not in ready.trial.capabilities.calls:
        message = "without list_keys nobody knows a key's id"
        raise NotApplicable(message)
    found = await ready.clean.list_keys(ready.account)
    ready.trial.expect(found, "the first account has no key")
    key_id = found[0].public_id(ready.account.account_id)
    return lambda bank: bank.get_key(ready.account, key_id)


async def _charge(ready: Ready) -> Call:
    reference = await ready.stage.put(ready.account, Charge(value=PLENTY))
    return lambda bank: bank.get_charge(ready.account, reference)


async def _charge_payment(ready: Ready) -> Call:
    reference = await ready.stage.put(ready.account, Charge(value=PLENTY))
    return lambda bank: bank.get_charge_payment(ready.account, reference)


async def _find_payout(ready: Ready) -> Call:
    order = ready.trial.order()
    ordered = await ready.clean.create_payout(ready.account, order, far())
    ready.trial.expect(
        isinstance(ordered, Accepted | Settled), f"a payout was answered by {ordered!r}"
    )
    known = ordered.provider_id if isinstance(ordered, Accepted | Settled) else ""
    return lambda bank: bank.find_payout(ready.account, order.provider_key, known)


async def _create_key(ready: Ready) -> Call:
    return lambda bank: bank.create_key(ready.account, ready.stage.new_key())


async def _cancel_key(ready: Ready) -> Call:
    async def cancel(bank: EveryCall) -> object:  # one that is cancelled may take fewer requests
        made = await ready.clean.create_key(ready.account, ready.stage.new_key())
        return await bank.cancel_key(ready.account, made)

    return cancel


async def _look_up_key(ready: Ready) -> Call:
    key = ready.stage.own_key(ready.stage.accounts[1])
    return lambda bank: bank.look_up_key(ready.account, key)


async def _create_charge(ready: Ready) -> Call:
    key = ready.stage.own_key(ready.account)
    return lambda bank: bank.create_charge(ready.account, ready.stage.charge_order(key))


async def _cancel_charge(ready: Ready) -> Call:
    key = ready.stage.own_key(ready.account)

    async def cancel(bank: EveryCall) -> object:
        order = ready.stage.charge_order(key)
        await ready.clean.create_charge(ready.account, order)
        return await bank.cancel_charge(ready.account, order.reference)

    return cancel


async def _find_received(ready: Ready) -> Call:
    e2e_id = await ready.stage.put(ready.account, Received(value=PLENTY))
    return lambda bank: bank.find_received(ready.account, e2e_id)


async def _list_received(ready: Ready) -> Call:
    return lambda bank: bank.list_received(ready.account, today(), None, 10)


async def _find_refund(ready: Ready) -> Call:
    refund = (await refunds(ready.trial))()
    await refund.made(ready.clean, far())
    return lambda bank: bank.find_refund(ready.account, refund.key)


async def _list_refunds(ready: Ready) -> Call:
    return lambda bank: bank.list_refunds(ready.account, today(), None, 10)


async def _blocks(ready: Ready) -> Call:
    return lambda bank: bank.list_blocks(ready.account)


async def _register(ready: Ready) -> Call:
    return lambda bank: bank.register_callback(ready.account, callback_order(ready))


async def _list_callbacks(ready: Ready) -> Call:
    return lambda bank: bank.list_callbacks(ready.account)


async def _remove_callback(ready: Ready) -> Call:
    async def remove(bank: EveryCall) -> None:
        made = await ready.clean.register_callback(ready.account, callback_order(ready))
        try:
            await bank.remove_callback(ready.account, made.id)
        finally:
            with contextlib.suppress(ProviderError):
                await ready.clean.remove_callback(ready.account, made.id)

    return remove


async def _missed(ready: Ready) -> Call:
    return lambda bank: bank.list_missed_events(ready.account, 10)


async def _acknowledge(ready: Ready) -> Call:
    return lambda bank: bank.acknowledge_events(ready.account, ["evt_1"])


def callback_order(ready: Ready) -> CallbackOrder:
    """Return an order to send callbacks to an address where nobody listens."""
    url = f"http://127.0.0.1:1/callbacks/verified/{secrets.token_hex(4)}"
    return CallbackOrder(url=url, secret=ready.stage.callback_secrets.current)


def payouts(trial: Trial, method: PayoutMethod) -> MakeMoneyCall:
    """Return what makes payouts by one method."""
    destination = trial.stage.payee(method)

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
        order = RefundOrder(
            provider_key=new_provider_key(),
            reference=new_reference(),
            payment_e2e_id=e2e_id,
            value=CENTAVO,
            description="",
        )
        return MoneyCall(
            order.provider_key,
            order.value,
            lambda bank, send_by: bank.create_refund(trial.account, order, send_by),
        )

    return made


PREPARED: Final[Mapping[PortCall, Prepare]] = {
    PortCall.PROBE: _probe,
    PortCall.GET_BALANCE: _balance,
    PortCall.LIST_STATEMENT: _statement,
    PortCall.LIST_KEYS: _keys,
    PortCall.GET_KEY: _key,
    PortCall.GET_CHARGE: _charge,
    PortCall.GET_CHARGE_PAYMENT: _charge_payment,
    PortCall.FIND_PAYOUT: _find_payout,
    PortCall.CREATE_KEY: _create_key,
    PortCall.CANCEL_KEY: _cancel_key,
    PortCall.LOOK_UP_KEY: _look_up_key,
    PortCall.CREATE_CHARGE: _create_charge,
    PortCall.CANCEL_CHARGE: _cancel_charge,
    PortCall.FIND_RECEIVED: _find_received,
    PortCall.LIST_RECEIVED: _list_received,
    PortCall.FIND_REFUND: _find_refund,
    PortCall.LIST_REFUNDS: _list_refunds,
    PortCall.LIST_BLOCKS: _blocks,
    PortCall.REGISTER_CALLBACK: _register,
    PortCall.LIST_CALLBACKS: _list_callbacks,
    PortCall.REMOVE_CALLBACK: _remove_callback,
    PortCall.LIST_MISSED_EVENTS: _missed,
    PortCall.ACKNOWLEDGE_EVENTS: _acknowledge,
}
"""Every call but the two that move money."""

CHANGES: Final = frozenset(
    {
        PortCall.CREATE_KEY,
        PortCall.CANCEL_KEY,
        PortCall.CREATE_CHARGE,
        PortCall.CANCEL_CHARGE,
        PortCall.REGISTER_CALLBACK,
        PortCall.REMOVE_CALLBACK,
        PortCall.ACKNOWLEDGE_EVENTS,
    }
)
"""Calls that change something other than money at the bank."""

ONCE: Final = frozenset({PortCall.CREATE_KEY, PortCall.CREATE_CHARGE, PortCall.REGISTER_CALLBACK})
"""Those of them that must not be repeated by the adapter."""

FEW_AT_ONCE: Final[Mapping[PortCall, int]] = {PortCall.REMOVE_CALLBACK: 3}
"""How many may be tried at once: banks have room for a few addresses alone."""

WITHOUT_RESULT: Final = frozenset(
    {PortCall.PROBE, PortCall.REMOVE_CALLBACK, PortCall.ACKNOWLEDGE_EVENTS}
)
"""Calls that return nothing: any whole answer of a success may be enough for them."""
