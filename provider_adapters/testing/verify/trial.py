"""Cases of the suite; each gets a fresh stage, and an adapter behind a relay to its bank."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import pkgutil
import secrets
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final, cast

import msgspec

from gateway.banks.client.transport import HttpTransport
from gateway.banks.port.capabilities import Capabilities, PortCall
from gateway.banks.port.payout_orders import BankDestination, Destination, PayoutMethod, PayoutOrder
from gateway.banks.port.provider_callbacks import CallbackOrder
from gateway.banks.port.providers import Accepted, EveryCall, Outcome, ProviderAccount, Settled
from gateway.banks.port.refunds import RefundOrder
from gateway.core.account import Environment
from gateway.core.clocks import Deadline
from gateway.core.money import Money
from gateway.core.windows import Window
from gateway.telemetry.ports import Event
from provider_adapters.kit.factory import AdapterContext, AdapterFactory, MakeTransport
from provider_adapters.kit.settings import ALL_OPERATIONS, AccountLimits, ClientLimits
from provider_adapters.testing.verify import suite
from provider_adapters.testing.verify.relay import Play, Relay, pass_on
from provider_adapters.testing.verify.stage import Charge, Fate, NotApplicable, Received, Stage

MakeStage = Callable[[], Stage]

# What a bank allows each account is lifted: a simulated bank bears more, and the suite asks often.
_UNBOUNDED: Final = AccountLimits(
    in_flight=0, rates={ALL_OPERATIONS: None, **{call.value: None for call in PortCall}}
)

PLENTY: Final = ClientLimits(
    connect_s=60.0, read_s=60.0, payout_s=60.0, retry_after_s=0.001, account_limits=_UNBOUNDED
)
"""For banks that answer: what takes longer hangs, however busy the machine is."""

SHORT: Final = msgspec.structs.replace(
    PLENTY, connect_s=2.0, read_s=2.5, payout_s=2.5, answer_bytes=128 * 1024
)
"""For banks that do not; long enough for a machine that is busy with others."""

ORDERED: Final = Money(10_50)
"""What is paid where a case does not care."""


class Witness:
    """An observer that records the adapter's reports: arguments, by the name of the method."""

    def __init__(self) -> None:
        self.told = defaultdict[str, list[tuple[Any, ...]]](list)

    def __getattr__(self, method: str) -> Callable[..., None]:
        return lambda *given: self.told[method].append(given)

    @property
    def counts(self) -> Sequence[Event]:
        """Every event that was counted."""
        return [event for event, _ in self.told["count"]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The adapter to verify, by name, and the transport of its requests."""

    name: str
    factory: AdapterFactory
    make_stage: MakeStage
    transport: MakeTransport = HttpTransport


@dataclass(frozen=True, slots=True)
class Trial:
    """One case of one adapter behind a relay; ``today`` stays, so that midnight moves no window."""

    subject: Subject
    stage: Stage
    adapter: EveryCall
    relay: Relay
    witness: Witness
    today: date

    @property
    def account(self) -> ProviderAccount:
        """The stage's first account."""
        return self.stage.accounts[0]

    @property
    def capabilities(self) -> Capabilities:
        """The adapter's capabilities."""
        return self.adapter.capabilities

    def can(self, call: PortCall) -> bool:
        """Return whether the adapter declares a call."""
        return call in self.capabilities.calls

    @property
    def method(self) -> PayoutMethod:
        """The method of payouts where a case does not depend on it."""
        pix = PayoutMethod.PIX in self.capabilities.destinations
        return PayoutMethod.PIX if pix else PayoutMethod.BANK_ACCOUNT

    def days(self, first: int, last: int) -> Window:
        """Return a window of days from today, which is 0; a bank's day may be another one."""
        return Window(self.today + timedelta(days=first), self.today + timedelta(days=last))

    @contextlib.asynccontextmanager
    async def at(self, address: str, limits: ClientLimits = PLENTY) -> AsyncIterator[Trial]:
        """Start another adapter, for a bank at an address."""
        async with _started(self.subject, self.stage.settings(address), limits) as (made, witness):
            yield replace(self, adapter=made, witness=witness)

    @contextlib.asynccontextmanager
    async def again(
        self,
        play: Play = pass_on,
        *,
        at: int = 1,
        once: bool = False,
        limits: ClientLimits = PLENTY,
    ) -> AsyncIterator[Trial]:
        """Start another adapter, behind a relay of its own that plays from a request on."""
        relay = _relay_of(self.stage)
        relay.begin(play, at=at, once=once)
        async with relay.open(), self.at(relay.address, limits) as made:
            yield replace(made, relay=relay)

    def order(self, value: Money = ORDERED, destination: Destination | None = None) -> PayoutOrder:
        """Make an order with an unused key; to any payee, by default."""
        destination = destination or self.stage.payee(self.method)
        by_account = isinstance(destination, BankDestination)
        return PayoutOrder(
            provider_key=new_provider_key(),
            method=PayoutMethod.BANK_ACCOUNT if by_account else PayoutMethod.PIX,
            value=value,
            destination=destination,
            description="",
        )

    async def wished(self, fate: Fate) -> PayoutOrder:
        """Make an order of a payout that has this fate."""
        wish = await self.stage.wish(fate)
        return self.order(wish.value, wish.destination)

    async def pay(
        self, order: PayoutOrder | RefundOrder, send_by: Deadline | None = None
    ) -> Outcome:
        """Order a payout or refund of the first account; by a deadline that no case reaches."""
        if isinstance(order, PayoutOrder):
            return await self.adapter.create_payout(self.account, order, send_by or far())
        return await self.adapter.create_refund(self.account, order, send_by or far())

    async def paid(self, order: PayoutOrder | RefundOrder) -> list[Money]:
        """Return the amount paid in the bank's books under an order's provider key."""
        return list(await self.stage.executions(order.provider_key))


def far() -> Deadline:
    """Return a deadline that no case reaches."""
    return Deadline(time.monotonic() + 120.0, time.monotonic)


def passed() -> Deadline:
    """Return a deadline that has passed."""
    return Deadline(time.monotonic() - 1.0, time.monotonic)


def new_provider_key() -> str:
    """Return a key of a payout or refund as the gateway derives them: 32 hexadecimal digits."""
    return secrets.token_hex(16)


def new_reference() -> str:
    """Return an unused reference."""
    return f"verified-{secrets.token_hex(8)}"


@contextlib.asynccontextmanager
async def trial_of(subject: Subject) -> AsyncIterator[Trial]:
    """Start a stage for one case, and an adapter of its bank."""
    today, stage = datetime.now(UTC).date(), subject.make_stage()
    try:
        await stage.start()
        relay = _relay_of(stage)
        async with (
            relay.open(),
            _started(subject, stage.settings(relay.address), PLENTY) as (adapter, witness),
        ):
            yield Trial(subject, stage, adapter, relay, witness, today)
    finally:
        await stage.close()


def _relay_of(stage: Stage) -> Relay:
    return Relay(stage.address, stage.relay_tls, {stage.token_path: stage.token_address})


@contextlib.asynccontextmanager
async def _started(
    subject: Subject, settings: Mapping[str, object], limits: ClientLimits
) -> AsyncIterator[tuple[EveryCall, Witness]]:
    """Start an adapter; the limits are the suite's where its settings have them."""
    witness = Witness()
    fields = subject.factory.settings.__struct_fields__
    limited = {"limits": msgspec.to_builtins(limits)} if "limits" in fields else {}
    context = AdapterContext(
        name="verified",
        environment=Environment.SANDBOX,
        observer=witness,
        transport=subject.transport,
    )
    made = cast("EveryCall", subject.factory({**settings, **limited}, context))
    await made.start()
    try:
        yield made, witness
    finally:
        await made.close()


Run = Callable[..., Awaitable[None]]
LONGEST_S: Final = 120.0
"""For one case; the slowest takes a few seconds on a machine that is busy with others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One thing that is proven of an adapter; it must declare the calls that this needs."""

    id: str
    needs: frozenset[PortCall]
    run: Callable[[Trial], Awaitable[None]]

    @property
    def group(self) -> str:
        """The first step of its id."""
        return self.id.partition(".")[0]

    def lacking(self, capabilities: Capabilities) -> str:
        """Return the reason why an adapter of these capabilities need not pass; empty if none."""
        absent = sorted(self.needs - capabilities.calls)
        return f"{', '.join(absent)} is not declared" if absent else ""


_CASES: Final[dict[str, Case]] = {}


def case(id: str, *given: object, needs: Collection[PortCall] = ()) -> Callable[[Run], Run]:  # noqa: A002 - what it is
    """Register a function as a case; ``given`` are its arguments after the trial."""

    def registered(run: Run) -> Run:
        made = Case(id=id, needs=frozenset(needs), run=lambda trial: run(trial, *given))
        if _CASES.setdefault(id, made) is not made:
            message = f"there is a case {id} already"
            raise ValueError(message)
        return run

    return registered


def every_case() -> Mapping[str, Case]:
    """Return all cases of the suite by their ids, group by group."""
    for module in pkgutil.iter_modules(suite.__path__, f"{suite.__name__}."):
        importlib.import_module(module.name)
    return dict(sorted(_CASES.items()))


def applies_if(holds: object, otherwise: str) -> None:
    """Raise ``NotApplicable`` with a reason unless something holds."""
    if not holds:
        raise NotApplicable(otherwise)


async def prove(subject: Subject, case: Case) -> None:
    """Run a case on a fresh stage; raises ``NotApplicable``, and anything else for a failure."""
    async with asyncio.timeout(LONGEST_S), trial_of(subject) as trial:
        applies_if(not (lacking := case.lacking(trial.capabilities)), lacking)
        await case.run(trial)


Read = Callable[[ProviderAccount], Awaitable[object]]
Order = PayoutOrder | RefundOrder
MakeOrder = Callable[[], Order]
"""Makes another order each time, with a key of its own."""
OK: Final = Accepted | Settled
TEN_REAIS: Final = Money(10_00)
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
    """Create the records that a call needs, and return its arguments; new each time."""
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
            return account, await stage.put(account, Charge(value=TEN_REAIS))
        case PortCall.FIND_PAYOUT:
            order = trial.order()
            ordered = await trial.pay(order)
            assert isinstance(ordered, OK), ordered
            return account, order.provider_key, ordered.provider_id
        case PortCall.FIND_RECEIVED:
            return account, await stage.put(account, Received(value=TEN_REAIS))
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
    made = {each.provider_account: await put(each, Charge(value=TEN_REAIS)) for each in accounts}
    return lambda account: bank.get_charge(account, made[account.provider_account])


def callback_order(trial: Trial) -> CallbackOrder:
    """Return an order to send callbacks to an address without a listener."""
    url = f"http://127.0.0.1:1/callbacks/verified/{secrets.token_hex(4)}"
    return CallbackOrder(url=url, secret=trial.stage.callback_secrets.current)


def payouts(trial: Trial, method: PayoutMethod | None = None) -> MakeOrder:
    """Return the calls that order payouts by one method."""
    destination = trial.stage.payee(method or trial.method)
    return lambda: trial.order(destination=destination)


async def refunds(trial: Trial) -> MakeOrder:
    """Return the calls that order refunds, of a centavo each, of a payment just received."""
    e2e_id = await trial.stage.put(trial.account, Received(value=TEN_REAIS))
    return lambda: refund_order(e2e_id, Money(1))


async def money_orders(trial: Trial) -> Sequence[MakeOrder]:
    """Return the calls that order payouts and refunds, as far as they are declared."""
    paying = [payouts(trial)] if trial.can(PortCall.CREATE_PAYOUT) else []
    return [*paying, await refunds(trial)] if trial.can(PortCall.CREATE_REFUND) else paying


def refund_order(e2e_id: str, value: Money) -> RefundOrder:
    """Return an order to refund a payment, with an unused key."""
    return RefundOrder(
        provider_key=new_provider_key(),
        reference=new_reference(),
        payment_e2e_id=e2e_id,
        value=value,
        description="",
    )
