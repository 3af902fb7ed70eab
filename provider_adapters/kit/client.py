"""
The client that all adapters share: rules for every bank, and retries of reads.

A read may be repeated once when its connection failed. A call that moves money
is sent at most once, before its deadline or not at all, and always ends in an
outcome: proven unsent, or as the bank answered, or unknown.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from typing import Final, TypeVar

from gateway.banks.client.messages import ProviderAnswer, ProviderRequest, SendProgress
from gateway.banks.client.tls import TlsFiles, TlsFilesRefused
from gateway.banks.client.transport import Transport
from gateway.banks.port.answers import REFUSED_BEFORE_EXECUTION
from gateway.banks.port.capabilities import Hosts
from gateway.banks.port.providers import (
    NotSent,
    Outcome,
    ProviderError,
    Reason,
    Rejected,
    Unavailable,
    Unknown,
    Unreachable,
)
from gateway.core import trace
from gateway.core.clocks import Deadline
from gateway.net.common.certificates import NoMemoryFiles
from gateway.net.common.runtime import Runtime
from gateway.telemetry import records
from gateway.telemetry.ports import Event
from provider_adapters.kit import faults
from provider_adapters.kit.admission import Admission
from provider_adapters.kit.bank_limits import BankLimits
from provider_adapters.kit.factory import AdapterContext, AdapterRefused
from provider_adapters.kit.limits import ClientLimits
from provider_adapters.kit.settings import AccountLimits, BankSettings, address_of
from provider_adapters.kit.transcript import Transcript


class RetryBudget:
    """
    The limit of repeated reads of one provider; calls that move money are never repeated.

    ``in_flight`` returns the provider's number of calls at the moment.
    """

    def __init__(
        self, limits: ClientLimits, random: Callable[[], float], in_flight: Callable[[], int]
    ) -> None:
        self._limits = limits
        self._random = random
        self._in_flight = in_flight
        self._running = 0

    def pause_after(self, failure: ProviderError, by: Deadline) -> float | None:
        """
        Return the seconds to wait before repeating; None when it must not be repeated.

        Only a lost connection is worth it: a bad answer is still the answer,
        and after a time-out no time is left.
        """
        if failure.reason not in faults.NO_ANSWER:
            return None
        if self._running >= max(1.0, self._limits.retry_share * self._in_flight()):
            return None
        pause = self._limits.retry_after_s + self._limits.retry_spread_s * self._random()
        return pause if pause < by.left() else None

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count a repetition while it runs, including its pause."""
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1


_log = logging.getLogger("pixgate.provider.rows")
# Looking a member up by its name costs Python 3.11 a call each time.
_CANCELLED: Final[str] = Reason.CANCELLED
_RATE_LIMITED: Final[str] = Reason.RATE_LIMITED
_TOO_MANY: Final = HTTPStatus.TOO_MANY_REQUESTS.value
Value = TypeVar("Value")
Translate = Callable[[ProviderAnswer], Value]
"""Makes a value of an answer, or raises a ``ProviderError``; no side effects."""
UnknownWord = Callable[[], None]
"""Counts an unlisted word, so that a change of the bank's interface shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientParts:
    """A client's parts; the transcript lists the fields that may be shown."""

    provider: str
    transport: Transport
    limits: ClientLimits
    observer: records.Observer
    transcript: Transcript
    runtime: Runtime = field(default_factory=Runtime)


class ProviderClient:
    """Calls one provider within its limits, and reports every call."""

    def __init__(self, parts: ClientParts) -> None:
        self._parts = parts
        self._transport = parts.transport
        self._limits = parts.limits
        self._observer = parts.observer
        self._runtime = parts.runtime
        self._clock = parts.runtime.clock
        self._now = parts.runtime.now
        self.admission = Admission(parts.provider, parts.limits, parts.observer, parts.runtime)
        if parts.limits.bounds_accounts:
            self.admission.bank_limits = self._bank_limits()
        self._retries = RetryBudget(
            parts.limits, parts.runtime.random, lambda: self.admission.bulkhead.in_flight
        )
        self.transcript = parts.transcript

    async def start(self) -> None:
        """
        Open the transport.

        Raises:
            AdapterRefused: the TLS files cannot be used, or certificates not from memory.
        """
        try:
            await self._transport.start()
        except NoMemoryFiles as problem:
            message = f"providers.{self._parts.provider}: {problem}"
            raise AdapterRefused(message) from problem
        except TlsFilesRefused as problem:
            message = f"providers.{self._parts.provider}.{problem}"
            raise AdapterRefused(message) from problem

    async def close(self) -> None:
        """Close the transport, and report the number of calls in flight a last time."""
        await self._transport.close()
        self.admission.close()

    def read_by(self) -> Deadline:
        """Return the deadline of a read that begins now; one of two calls shares it."""
        return Deadline(self._clock() + self._limits.read_s, self._clock)

    def unknown_word(self, operation: str) -> UnknownWord:
        """Return the function that reports an unlisted word of the bank."""
        word = f"{self._parts.provider}.{operation}"
        return lambda: self._observer.count(Event.UNKNOWN_STATUS, word)

    def odd_row(self, operation: str) -> UnknownWord:
        """Return the function that reports a left-out part of a row."""
        return lambda: self._left_out(operation, 1)

    async def read(
        self,
        request: ProviderRequest,
        translate: Translate[Value],
        by: Deadline | None = None,
    ) -> Value:
        """
        Send a read; it is repeated once when the connection failed.

        Raises:
            ProviderError: See ``gateway.banks.port.providers``.
        """
        began = self._clock()
        limit_s = self._limits.read_s if by is None else by.left()
        if limit_s <= 0:
            raise Unreachable(Reason.TIMEOUT)
        try:
            return await self._once(request, translate, SendProgress(), limit_s)
        except ProviderError as failure:
            by = Deadline(began + limit_s, self._clock)
            pause = self._retries.pause_after(failure, by)
            if pause is None:
                raise
        with self._retries.running():
            self._observer.provider_retry(self._parts.provider, request.operation)
            await self._runtime.sleep(pause)
            return await self._once(request, translate, SendProgress(), by.left())

    async def pay(
        self, request: ProviderRequest, translate: Translate[Outcome], send_by: Deadline
    ) -> Outcome:
        """
        Send a request that moves money, once, and return its outcome.

        ``translate`` returns outcomes for the answers that the adapter lists;
        any error of it becomes Unknown.
        """
        progress = SendProgress(send_by)
        try:
            return await self._once(request, translate, progress, self._limits.payout_s)
        except ProviderError as failure:
            evidence = progress.evidence(failure)
            if progress.bytes_left:
                return Unknown(evidence)
            return NotSent(evidence, retry_after=failure.retry_after)

    async def change(self, request: ProviderRequest, translate: Translate[Value]) -> Value:
        """
        Send a change that moves no money; sent once, never repeated.

        Raises:
            ProviderError: The error of ``translate`` for the answer; without
                an answer, Unreachable when no byte left us, else Unavailable.
        """
        answered: list[ProviderError] = []

        def noted(answer: ProviderAnswer) -> Value:
            try:
                return translate(answer)
            except ProviderError as failure:
                answered.append(failure)
                raise

        progress = SendProgress(self.read_by())
        try:
            return await self._once(request, noted, progress, self._limits.payout_s)
        except ProviderError as failure:
            if failure in answered:
                raise
            kind = Unavailable if progress.bytes_left else Unreachable
            raise kind(failure.reason) from failure

    async def _once(
        self,
        request: ProviderRequest,
        translate: Translate[Value],
        progress: SendProgress,
        limit_s: float,
    ) -> Value:
        """Make one call, if it is admitted, and report it however it ends."""
        began, outcome = self._clock(), "unavailable"  # reported for a cancelled call
        admission = self.admission
        try:
            permit = admission.enter_now(request)
            if permit is None:
                permit = await admission.enter(request)
            failed: bool | None = None
            try:
                value = await self._exchanged(request, translate, progress, limit_s)
                failed = faults.leaves_unknown(value)
            except ProviderError as failure:
                if not progress.refused_here:
                    failed = faults.blames_the_bank(failure)
                raise
            finally:
                admission.leave(request, permit, failed=failed)
            outcome = _outcome_word(value)
            return value
        except ProviderError as failure:
            outcome = faults.outcome_word(failure)
            raise
        finally:
            self._report(request, progress, outcome, self._clock() - began)

    async def _exchanged(
        self,
        request: ProviderRequest,
        translate: Translate[Value],
        progress: SendProgress,
        limit_s: float,
    ) -> Value:
        """Send, receive and translate; keep the transcript."""
        answer: ProviderAnswer | None = None
        reason = _CANCELLED
        try:
            answer = await self._transport.call(request, progress, limit_s)
            answer.request = request
            value = translate(answer)
            if answer.rows_unreadable:
                self._left_out(request.operation, answer.rows_unreadable)
            reason = value.evidence.reason if isinstance(value, NotSent) else ""
            return value
        except ProviderError as failure:
            reason = failure.reason
            raise
        finally:
            self.transcript.keep(self._now(), request, answer, reason)
            if answer is not None:
                if answer.unknown_words:
                    self._drifted(request.operation, answer.unknown_words)
                self._heed(request, answer, reason)

    def _left_out(self, operation: str, rows: int) -> None:
        """Report rows of a list that could not be read: the list is shown without them."""
        provider = self._parts.provider
        _log.warning("%d unreadable rows left out: %s.%s", rows, provider, operation)
        for _ in range(rows):
            self._observer.count(Event.ROW_UNREADABLE, provider)

    def _drifted(self, operation: str, words: int) -> None:
        """Report words of the bank that the adapter does not list."""
        count = self.unknown_word(operation)
        for _ in range(words):
            count()

    def _heed(self, request: ProviderRequest, answer: ProviderAnswer, reason: str) -> None:
        """Pause an operation that the bank rate-limited, by its status or its own code."""
        bank_limits = self.admission.bank_limits
        if answer.status == _TOO_MANY or reason == _RATE_LIMITED:
            if bank_limits is None:
                bank_limits = self.admission.bank_limits = self._bank_limits()
            bank_limits.refused_by_bank(request, faults.retry_after(answer, self._now))
        elif bank_limits is not None:
            bank_limits.answered(request)

    def _bank_limits(self) -> BankLimits:
        """Keep calls within the bank's limits from now on; refusals are counted."""
        provider, count = self._parts.provider, self._observer.count

        def on_refused(operation: str, limit: str) -> None:
            count(Event.PROVIDER_LIMITED, f"{provider}.{operation}.{limit}")

        return BankLimits(self._limits, self._runtime, on_refused, provider)

    def _report(
        self, request: ProviderRequest, progress: SendProgress, outcome: str, seconds: float
    ) -> None:
        provider = self._parts.provider
        record = records.current_record()
        if record is not None:
            record.provider = provider
            record.provider_outcome = outcome
            record.provider_s += seconds
        self._observer.provider_call(
            records.ProviderCall(
                provider=provider,
                operation=request.operation,
                outcome=outcome,
                duration_s=seconds,
                http_status=progress.http_status,
                bytes_left=progress.bytes_left,
                trace_id=trace.current_trace_id(),
                provider_key=trace.followed_payout(),
            )
        )


def client_of(
    context: AdapterContext,
    base_url: str,
    harmless: Collection[str],
    limits: ClientLimits,
    tls: TlsFiles | None = None,
) -> ProviderClient:
    """
    Make the client of a provider whose accounts share its connections; it opens nothing yet.

    ``base_url`` comes from ``kit.settings``. Transcripts show the
    fields of the bank's documents that are ``harmless``, and no others. ``limits`` are the
    provider's; the bank's limits for each account are part of them.
    """
    context.on_limits(limits)
    name, runtime = context.name, context.runtime
    if runtime.on_certificate is None:
        on_certificate = partial(context.observer.certificate, name)
        runtime = dataclasses.replace(runtime, on_certificate=on_certificate)
    files = tls or TlsFiles()
    transport = context.transport(base_url, limits, context.environment, runtime, files)
    parts = parts_of(context, runtime.traced(base_url, transport), harmless, limits)
    return ProviderClient(dataclasses.replace(parts, runtime=runtime))


def parts_of(
    context: AdapterContext, transport: Transport, harmless: Collection[str], limits: ClientLimits
) -> ClientParts:
    """Return a client's parts from a factory's context."""
    return ClientParts(
        provider=context.name,
        transport=transport,
        limits=limits,
        observer=context.observer,
        transcript=Transcript(context.name, harmless),
        runtime=context.runtime,
    )


def client_at(  # noqa: PLR0913 - each by its name
    context: AdapterContext,
    chosen: BankSettings,
    hosts: Hosts,
    harmless: Collection[str],
    *,
    declared: AccountLimits | None = None,
    usual: str = "",
) -> ProviderClient:
    """
    Make the client of a bank at the address of its settings, else at its usual host.

    Args:
        context: As the factory was given it.
        chosen: The settings.
        hosts: All hosts of the bank.
        harmless: As ``client_of`` has it.
        declared: The bank's limits for each account.
        usual: The usual host, where the environment has more than one.

    Raises:
        AdapterRefused: A host of the other environment, or none of the bank's.
    """
    place = f"providers.{context.name}.settings.base_url"
    url = chosen.base_url or f"https://{usual or min(hosts.of(context.environment))}"
    base_url = address_of(place, url, context.environment, hosts)
    limits = chosen.limits.within(declared) if declared else chosen.limits
    return client_of(context, base_url, harmless, limits, chosen.tls)


def _outcome_word(value: object) -> str:
    if isinstance(value, Unknown):
        return "bad_response"
    if isinstance(value, NotSent) and value.evidence.reason in REFUSED_BEFORE_EXECUTION:
        return str(value.evidence.reason)
    return "rejected" if isinstance(value, Rejected) else "ok"
