"""What a case works with: a fresh stage, and an adapter that reaches its bank through a relay."""

from __future__ import annotations

import contextlib
import secrets
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final, cast

import msgspec

from gateway.banks.client.transport import HttpTransport
from gateway.banks.port.capabilities import Capabilities, PortCall
from gateway.banks.port.payout_orders import (
    BankDestination,
    Destination,
    PayoutMethod,
    PayoutOrder,
)
from gateway.banks.port.provider_options import EveryCall
from gateway.banks.port.providers import Outcome, ProviderAccount
from gateway.banks.port.refunds import RefundOrder
from gateway.core.account import Environment
from gateway.core.clocks import Deadline
from gateway.core.money import Money
from gateway.core.windows import Window
from gateway.telemetry.ports import Event
from provider_adapters.kit.factory import AdapterContext, AdapterFactory, MakeTransport
from provider_adapters.kit.settings import ALL_OPERATIONS, AccountLimits, ClientLimits
from provider_adapters.testing.verify.relay import Play, Relay, pass_on
from provider_adapters.testing.verify.stage import Fate, Stage

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
    """An observer that keeps what the adapter tells: arguments, by the name of the method."""

    def __init__(self) -> None:
        self.told = defaultdict[str, list[tuple[Any, ...]]](list)

    def __getattr__(self, method: str) -> Callable[..., None]:
        """Return what keeps the arguments of a method."""
        return lambda *given: self.told[method].append(given)

    @property
    def counts(self) -> Sequence[Event]:
        """Every event that was counted."""
        return [event for event, _ in self.told["count"]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The adapter that is verified, by name, and what carries its requests."""

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
        """What the adapter declares."""
        return self.adapter.capabilities

    def can(self, call: PortCall) -> bool:
        """Say whether the adapter declares a call."""
        return call in self.capabilities.calls

    @property
    def method(self) -> PayoutMethod:
        """What payouts are made by where a case does not care."""
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
        """Make an order with a key that nobody has used; to somebody, if it does not matter."""
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
        """Return what the bank's books say was paid under an order's provider key."""
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
    """Return a reference that nobody has used."""
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
