"""What a case works with: a fresh stage, and adapters that reach its bank through a relay."""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
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
from gateway.domain.bank.providers import ProviderAccount, ProviderError
from gateway.domain.kernel.clocks import Deadline
from gateway.domain.kernel.money import Money
from gateway.net.client.transport import HttpTransport
from gateway.telemetry.ports import Event
from gateway.telemetry.records import ProviderCall
from provider_adapters.kit.factory import AdapterContext, AdapterFactory, MakeTransport
from provider_adapters.kit.settings import ALL_OPERATIONS, AccountLimits, ClientLimits
from provider_adapters.testing.verify.cases import CaseFailed
from provider_adapters.testing.verify.relay import Relay, TokenMemory
from provider_adapters.testing.verify.stage import PayoutWish, Stage

MakeStage = Callable[[], Stage]
"""A stage's class; called once for each case."""

# What a bank allows each account is lifted: a simulated bank bears more, and the suite asks often.
_UNBOUNDED: Final = AccountLimits(
    in_flight=0, rates={ALL_OPERATIONS: None, **{call.value: None for call in PortCall}}
)

PLENTY: Final = ClientLimits(
    connect_s=10.0, read_s=30.0, payout_s=30.0, retry_after_s=0.001, account_limits=_UNBOUNDED
)
"""For banks that answer: what takes longer hangs."""

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
class Harness:
    """An adapter, started, with the relay that it reaches its bank through."""

    adapter: EveryCall
    relay: Relay
    witness: Witness


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


@dataclass(slots=True, kw_only=True)
class Trial:
    """
    One case of one adapter.

    Attributes:
        checks: How many expectations were met, see ``expect``.
    """

    subject: Subject
    stage: Stage
    capabilities: Capabilities
    checks: int = 0
    _tokens: TokenMemory | None = None

    @property
    def account(self) -> ProviderAccount:
        """The stage's first account."""
        return self.stage.accounts[0]

    @property
    def short(self) -> ClientLimits:
        """Limits for a bank that does not answer; a handshake of TLS takes its time."""
        return SHORT if self.stage.relay_tls is None else _SHORT_WITH_TLS

    def expect(self, holds: object, otherwise: str) -> None:
        """Fail the case with a sentence unless something holds; count it otherwise."""
        if not holds:
            raise CaseFailed(otherwise)
        self.checks += 1

    async def raised(
        self, kinds: type[ProviderError], made: Awaitable[object], what: str
    ) -> ProviderError:
        """Await a call that must raise one of the port's errors, and return that."""
        try:
            answered = await made
        except kinds as failure:
            self.checks += 1
            return failure
        except ProviderError as failure:
            message = f"{what}: raised {failure!r} and not {kinds.__name__}"
            raise CaseFailed(message) from failure
        message = f"{what}: answered {answered!r} and did not raise {kinds.__name__}"
        raise CaseFailed(message)

    @contextlib.asynccontextmanager
    async def harness(
        self,
        limits: ClientLimits = PLENTY,
        more: Mapping[str, object] | None = None,
        *,
        relay: Relay | None = None,
    ) -> AsyncIterator[Harness]:
        """Start an adapter behind a relay of its own; ``more`` goes over its settings."""
        relay, witness = relay or self._relay(), Witness()
        async with contextlib.AsyncExitStack() as opened:
            await opened.enter_async_context(relay.open())
            made = self.adapter(relay.address, limits, witness, more)
            adapter = await opened.enter_async_context(made)
            yield Harness(adapter=adapter, relay=relay, witness=witness)

    def light_relay(self, *, over_tls: bool) -> Relay:
        """
        Make a relay for one of some thousand attempts of this case.

        All attempts share their tokens; without ``over_tls`` the adapter is spared handshakes
        where it takes an address without TLS, which is most of what they would cost.
        """
        if self._tokens is None and self.stage.token_path:
            self._tokens = TokenMemory(self.stage.token_path)
        tls = self.stage.relay_tls
        bare = tls is not None and tls.without is not None and not over_tls
        return self._relay(bare=bare, tokens=self._tokens)

    def _relay(self, *, bare: bool = False, tokens: TokenMemory | None = None) -> Relay:
        """Make a relay that hands on to every host of the bank."""
        stage = self.stage
        hosts = {stage.token_path: stage.token_address}
        return Relay(stage.address, stage.relay_tls, bare, elsewhere=hosts, tokens=tokens)

    @contextlib.asynccontextmanager
    async def adapter(
        self,
        address: str,
        limits: ClientLimits = PLENTY,
        witness: Witness | None = None,
        more: Mapping[str, object] | None = None,
    ) -> AsyncIterator[EveryCall]:
        """Make and start an adapter for a bank at an address."""
        settings = {**self.stage.settings(address), **(more or {})}
        made = _make(self.subject, settings, limits, witness or Witness())
        await made.start()
        try:
            yield made
        finally:
            await made.close()

    def order(
        self,
        wish: PayoutWish | None = None,
        *,
        key: str = "",
        value: Money | None = None,
        destination: Destination | None = None,
    ) -> PayoutOrder:
        """Make an order of R$ 10.50, or as wished; with a key that nobody has used."""
        if destination is None:
            destination = wish.destination if wish else self.stage.payee(self.method)
        return PayoutOrder(
            provider_key=key or new_provider_key(),
            method=_method_of(destination),
            value=value or (wish.value if wish else Money(1050)),
            destination=destination,
            description="",
        )

    @property
    def method(self) -> PayoutMethod:
        """What payouts are made by where a case does not care."""
        pix = PayoutMethod.PIX in self.capabilities.destinations
        return PayoutMethod.PIX if pix else PayoutMethod.BANK_ACCOUNT


def far() -> Deadline:
    """Return a deadline that no case reaches."""
    return Deadline(time.monotonic() + 60.0, time.monotonic)


def soon() -> Deadline:
    """Return a deadline that ends what comes before the money, if the bank does not answer."""
    return Deadline(time.monotonic() + 4.0, time.monotonic)


def passed() -> Deadline:
    """Return a deadline that has passed."""
    return Deadline(time.monotonic() - 1.0, time.monotonic)


def new_provider_key() -> str:
    """Return a key of a payout or refund as the gateway derives them: 32 hexadecimal digits."""
    return secrets.token_hex(16)


@contextlib.asynccontextmanager
async def trial_of(subject: Subject) -> AsyncIterator[Trial]:
    """Start a stage for one case."""
    stage = subject.make_stage()
    try:
        await stage.start()
        made = _make(subject, stage.settings(stage.address), PLENTY, Witness())
        yield Trial(subject=subject, stage=stage, capabilities=made.capabilities)
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


def _method_of(destination: Destination) -> PayoutMethod:
    by_account = isinstance(destination, BankDestination)
    return PayoutMethod.BANK_ACCOUNT if by_account else PayoutMethod.PIX
