"""What a case works with: a fresh stage, and an adapter that reaches its bank through a relay."""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from typing import Final, cast

import msgspec

from gateway.domain.accounts.accounts import Environment
from gateway.domain.bank.capabilities import Capabilities, PortCall
from gateway.domain.bank.payout_orders import (
    BankDestination,
    Destination,
    PayoutMethod,
    PayoutOrder,
)
from gateway.domain.bank.provider_options import EveryCall
from gateway.domain.bank.providers import Outcome, ProviderAccount
from gateway.domain.kernel.clocks import Deadline
from gateway.domain.kernel.money import Money
from gateway.domain.kernel.windows import Window
from gateway.net.client.transport import HttpTransport
from gateway.telemetry.ports import Event
from gateway.telemetry.records import ProviderCall
from provider_adapters.kit.factory import AdapterContext, AdapterFactory, MakeTransport
from provider_adapters.kit.settings import ALL_OPERATIONS, AccountLimits, ClientLimits
from provider_adapters.testing.verify.relay import Relay
from provider_adapters.testing.verify.stage import PayoutWish, Stage

MakeStage = Callable[[], Stage]
"""A stage's class; called once for each case."""

# What a bank allows each account is lifted: a simulated bank bears more, and the suite asks often.
_UNBOUNDED: Final = AccountLimits(
    in_flight=0, rates={ALL_OPERATIONS: None, **{call.value: None for call in PortCall}}
)

PLENTY: Final = ClientLimits(
    connect_s=60.0, read_s=60.0, payout_s=60.0, retry_after_s=0.001, account_limits=_UNBOUNDED
)
"""For banks that answer: what takes longer hangs, however busy the machine is."""

SHORT: Final = ClientLimits(
    connect_s=1.5,
    read_s=2.0,
    payout_s=2.0,
    retry_after_s=0.001,
    answer_bytes=128 * 1024,
    account_limits=_UNBOUNDED,
)
"""For banks that do not; long enough for a machine that is busy with others."""

UNCONNECTED: Final = msgspec.structs.replace(SHORT, connect_s=0.4, read_s=1.0, payout_s=1.0)
"""For addresses where no connection ever comes about."""

_SHORT_WITH_TLS: Final = msgspec.structs.replace(SHORT, connect_s=2.0, read_s=3.0, payout_s=3.0)

_PROVIDER: Final = "verified"


@dataclass(slots=True)
class Witness:
    """An observer that remembers what the adapter told."""

    calls: list[ProviderCall] = field(default_factory=list)
    retries: list[str] = field(default_factory=list)
    counts: list[tuple[str, str]] = field(default_factory=list)
    states: list[str] = field(default_factory=list)

    def provider_call(self, call: ProviderCall) -> None:
        """Remember a call."""
        self.calls.append(call)

    def breaker(self, provider: str, operation_class: str, state: str) -> None:
        """Remember a state of the circuit breaker."""
        self.states.append(state)

    def provider_retry(self, provider: str, operation: str) -> None:
        """Remember a repetition."""
        self.retries.append(operation)

    def in_flight(self, provider: str, calls: int, limit: int) -> None:
        """Take no notice."""

    def certificate(self, provider: str, ends: datetime) -> None:
        """Take no notice."""

    def count(self, event: Event, label: str) -> None:
        """Remember what was counted."""
        self.counts.append((str(event), label))


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """
    What is verified.

    Attributes:
        name: The adapter's.
        transport: What carries its requests.
    """

    name: str
    factory: AdapterFactory
    make_stage: MakeStage
    transport: MakeTransport = HttpTransport


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """
    One case of one adapter.

    Attributes:
        adapter: Started, behind the relay.
        witness: Its observer.
        today: The day on which the stage was opened, so that midnight moves no window.
        tokens: Shared by light relays.
    """

    subject: Subject
    stage: Stage
    adapter: EveryCall
    relay: Relay
    witness: Witness
    today: date
    tokens: dict[bytes, bytes]

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

    @property
    def short(self) -> ClientLimits:
        """Limits for a bank that does not answer; a handshake of TLS takes its time."""
        return SHORT if self.stage.relay_tls is None else _SHORT_WITH_TLS

    def days(self, first: int, last: int) -> Window:
        """Return a window of days, counted from today: yesterday is -1."""
        return Window(self.today + timedelta(days=first), self.today + timedelta(days=last))

    @property
    def recent(self) -> Window:
        """The days around now: a bank's day is another one, and its clock may be ahead."""
        return self.days(-1, 1)

    @contextlib.asynccontextmanager
    async def at(self, address: str, limits: ClientLimits = PLENTY) -> AsyncIterator[Trial]:
        """Start another adapter, for a bank at an address."""
        witness = Witness()
        made = _make(self.subject, self.stage.settings(address), limits, witness)
        await made.start()
        try:
            yield replace(self, adapter=made, witness=witness)
        finally:
            await made.close()

    @contextlib.asynccontextmanager
    async def again(
        self, limits: ClientLimits = PLENTY, relay: Relay | None = None
    ) -> AsyncIterator[Trial]:
        """Start another adapter, behind a relay of its own."""
        relay = relay or Relay(self.stage.address, self.stage.relay_tls, elsewhere=self._hosts)
        async with relay.open(), self.at(relay.address, limits) as made:
            yield replace(made, relay=relay)

    def light_relay(self, *, over_tls: bool) -> Relay:
        """
        Make a relay for one of some thousand attempts of this case.

        All attempts share their tokens; without ``over_tls`` the adapter is spared handshakes
        where it takes an address without TLS, which is most of what they would cost.
        """
        tls = self.stage.relay_tls
        bare = tls is not None and tls.without is not None and not over_tls
        return Relay(
            self.stage.address,
            tls,
            bare,
            elsewhere=self._hosts,
            token_path=self.stage.token_path,
            tokens=self.tokens,
        )

    @property
    def _hosts(self) -> Mapping[str, str]:
        return {self.stage.token_path: self.stage.token_address}

    def order(
        self,
        wish: PayoutWish | None = None,
        *,
        value: Money | None = None,
        destination: Destination | None = None,
    ) -> PayoutOrder:
        """Make an order of R$ 10.50, or as wished; with a key that nobody has used."""
        if destination is None:
            destination = wish.destination if wish else self.stage.payee(self.method)
        by_account = isinstance(destination, BankDestination)
        return PayoutOrder(
            provider_key=new_provider_key(),
            method=PayoutMethod.BANK_ACCOUNT if by_account else PayoutMethod.PIX,
            value=value or (wish.value if wish else Money(1050)),
            destination=destination,
            description="",
        )

    async def pay(self, order: PayoutOrder) -> Outcome:
        """Order a payout of the first account."""
        return await self.adapter.create_payout(self.account, order, far())

    async def paid(self, key: str) -> list[Money]:
        """Return what the bank's books say was paid under a provider key."""
        return list(await self.stage.executions(key))


def far() -> Deadline:
    """Return a deadline that no case reaches."""
    return Deadline(time.monotonic() + 120.0, time.monotonic)


def soon() -> Deadline:
    """Return a deadline that ends what comes before the money, if the bank does not answer."""
    return Deadline(time.monotonic() + 4.0, time.monotonic)


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
    today, stage, witness = datetime.now(UTC).date(), subject.make_stage(), Witness()
    try:
        await stage.start()
        first = Trial(
            subject=subject,
            stage=stage,
            adapter=_make(subject, stage.settings(stage.address), PLENTY, witness),
            relay=Relay(stage.address),
            witness=witness,
            today=today,
            tokens={},
        )
        async with first.again() as trial:
            yield trial
    finally:
        await stage.close()


def _make(
    subject: Subject, settings: Mapping[str, object], limits: ClientLimits, witness: Witness
) -> EveryCall:
    """Make an adapter; the limits are the suite's where its settings have them."""
    fields = subject.factory.settings.__struct_fields__
    limited = {"limits": msgspec.to_builtins(limits)} if "limits" in fields else {}
    context = AdapterContext(
        name=_PROVIDER,
        environment=Environment.SANDBOX,
        observer=witness,
        transport=subject.transport,
    )
    return cast("EveryCall", subject.factory({**settings, **limited}, context))
