"""
The one client all adapters share: what holds for every bank holds here.

A read may be repeated once when its connection failed. A call that moves money
is written at most once, before its deadline or not at all, and always ends in
an outcome: proven unsent, or what the bank said, or unknown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from gateway.domain.clocks import Deadline
from gateway.domain.providers import (
    NotSent,
    Outcome,
    ProviderError,
    Rejected,
    Unknown,
    Unreachable,
)
from gateway.telemetry import records, trace
from provider_adapters._shared import faults
from provider_adapters._shared.admission import Admission
from provider_adapters._shared.limits import ClientLimits
from provider_adapters._shared.messages import ProviderAnswer, ProviderRequest
from provider_adapters._shared.passage import Passage
from provider_adapters._shared.reasons import Reason
from provider_adapters._shared.retries import Repetition
from provider_adapters._shared.surroundings import Surroundings
from provider_adapters._shared.transcript import Transcript
from provider_adapters._shared.transport import Transport

Value = TypeVar("Value")
Translate = Callable[[ProviderAnswer], Value]
"""Makes a value of an answer, or raises a ``ProviderError``; pure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientParts:
    """What a client is made of; ``transcript`` says which fields may be shown."""

    provider: str
    transport: Transport
    limits: ClientLimits
    observer: records.Observer
    transcript: Transcript
    around: Surroundings = field(default_factory=Surroundings)


class ProviderClient:
    """Calls one provider, within its limits, and tells of every call."""

    def __init__(self, parts: ClientParts) -> None:
        self._parts = parts
        self._limits = parts.limits
        self._around = parts.around
        self.admission = Admission(parts.provider, parts.limits, parts.observer, parts.around)
        self._repetition = Repetition(
            parts.limits, parts.around.chance, lambda: self.admission.bulkhead.in_flight
        )
        self.transcript = parts.transcript

    async def start(self) -> None:
        """Open the transport."""
        await self._parts.transport.start()

    async def close(self) -> None:
        """Close the transport."""
        await self._parts.transport.close()

    def read_by(self) -> Deadline:
        """Return when a read begun now must be over; one that takes two calls shares it."""
        return Deadline(self._around.clock() + self._limits.read_s, self._around.clock)

    async def read(
        self,
        request: ProviderRequest,
        translate: Translate[Value],
        by: Deadline | None = None,
    ) -> Value:
        """
        Ask for something; safe to repeat, and repeated once when the connection failed.

        Raises:
            ProviderError: see ``gateway.domain.providers``.
        """
        by = by or self.read_by()
        if by.passed():
            raise Unreachable(Reason.TIMEOUT)
        try:
            return await self._once(request, translate, Passage(), by.left())
        except ProviderError as failure:
            pause = self._repetition.pause_after(failure, by)
            if pause is None:
                raise
        with self._repetition.running():
            self._parts.observer.provider_retry(self._parts.provider, request.operation)
            await self._around.pause(pause)
            return await self._once(request, translate, Passage(), by.left())

    async def pay(
        self, request: ProviderRequest, translate: Translate[Outcome], send_by: Deadline
    ) -> Outcome:
        """
        Send a request that moves money, once, and say what is known of it.

        ``translate`` returns outcomes only for what the adapter lists; all it
        raises is Unknown.
        """
        passage = Passage(send_by)
        try:
            return await self._once(request, translate, passage, self._limits.payout_s)
        except ProviderError as failure:
            evidence = passage.evidence(failure)
            return Unknown(evidence) if passage.bytes_left else NotSent(evidence)

    async def _once(
        self,
        request: ProviderRequest,
        translate: Translate[Value],
        passage: Passage,
        seconds: float,
    ) -> Value:
        """Make one call and tell of it, however it ends."""
        began = self._around.clock()
        outcome = "unavailable"  # what a cancelled call is told as
        try:
            value = await self._admitted(request, translate, passage, seconds)
            outcome = _word(value)
            return value
        except ProviderError as failure:
            outcome = faults.outcome_word(failure)
            raise
        finally:
            self._tell(request, passage, outcome, self._around.clock() - began)

    async def _admitted(
        self,
        request: ProviderRequest,
        translate: Translate[Value],
        passage: Passage,
        seconds: float,
    ) -> Value:
        """Make one call if the breaker and the bulkhead let it, and tell them how it went."""
        permit = await self.admission.enter(request.kind)
        try:
            value = await self._exchanged(request, translate, passage, seconds)
            if isinstance(value, Unknown):
                self.admission.failed(request.kind, permit, None)
            else:
                self.admission.worked(request.kind, permit)
            return value
        except ProviderError as failure:
            if not passage.refused_here:
                self.admission.failed(request.kind, permit, failure)
            raise
        finally:
            self.admission.leave(request.kind, permit)

    async def _exchanged(
        self,
        request: ProviderRequest,
        translate: Translate[Value],
        passage: Passage,
        seconds: float,
    ) -> Value:
        """Send, receive and understand within so many seconds; keep the transcript."""
        answer: ProviderAnswer | None = None
        reason: str = Reason.CANCELLED
        try:
            async with asyncio.timeout(seconds):
                answer = await self._parts.transport.call(request, passage)
            value = translate(answer)
            reason = ""
            return value
        except TimeoutError as problem:
            failure = faults.timed_out(passage)
            reason = failure.reason
            raise failure from problem
        except ProviderError as failure:
            reason = failure.reason
            raise
        finally:
            self.transcript.keep(self._around.now(), request, answer, reason)

    def _tell(
        self, request: ProviderRequest, passage: Passage, outcome: str, seconds: float
    ) -> None:
        """Tell the observer and the record of the request being served."""
        record = records.current_record()
        if record is not None:
            record.provider = self._parts.provider
            record.provider_outcome = outcome
            record.provider_s += seconds
        self._parts.observer.provider_call(
            records.ProviderCall(
                provider=self._parts.provider,
                operation=request.operation,
                outcome=outcome,
                duration_s=seconds,
                http_status=passage.http_status,
                bytes_left=passage.bytes_left,
                trace_id=trace.current_trace_id(),
            )
        )


def _word(value: object) -> str:
    """Return the outcome that metrics know a value by."""
    if isinstance(value, Unknown):
        return "bad_response"
    return "rejected" if isinstance(value, Rejected) else "ok"
