"""Builds tracing: spans of requests, gates, the store, bank calls and follow-ups."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, fields, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final, cast

from multidict import CIMultiDictProxy
from yarl import URL

from gateway.app.store import Store
from gateway.banks.client.messages import ProviderAnswer, ProviderRequest, SendProgress
from gateway.banks.client.transport import LONGEST_S, Transport
from gateway.config.settings import Settings
from gateway.core.calls import Call, Policy
from gateway.http.route import Surface
from gateway.http.server import BeginTrace, ask, begin_trace
from gateway.net.common.runtime import Carrier, Traced, untraced
from gateway.payouts.followup import FollowUp
from gateway.store.kernel.address import address, is_sqlite
from gateway.telemetry.records import Observer

if TYPE_CHECKING:  # an extra
    from gateway.telemetry.tracing import Tracing

_EXPORT_S: Final = 5.0
"""For one call of the collector, its repetitions included."""
_NO_PARTS: Final = frozenset({"url", "database", "identity", "office"})


def build_tracing(settings: Settings) -> Tracing | None:
    """Build the span recorder; None where no collector is configured."""
    asked = settings.telemetry.tracing
    if not asked.endpoint:
        return None
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415 - an extra
        OTLPSpanExporter,
    )

    from gateway.telemetry.tracing import Tracing  # noqa: PLC0415 - an extra

    exporter = OTLPSpanExporter(
        endpoint=str(asked.endpoint),
        headers={name: value.encode().decode() for name, value in asked.headers.items()},
        timeout=_EXPORT_S,
    )
    resource = {
        "service.name": "pixgate",
        "service.version": version("pixgate"),
        "deployment.environment.name": settings.environment.value,
    }
    return Tracing(exporter, resource, asked.ratio)


def traced_requests(tracing: Tracing | None) -> BeginTrace:
    """Return the function that starts the trace of a request, and its span."""
    if tracing is None:
        return begin_trace
    begin_request = tracing.begin_request

    def begin(
        headers: CIMultiDictProxy[str], observer: Observer, *, uuids: bool
    ) -> tuple[str, str]:
        begun = begin_trace(headers, observer, uuids=uuids)
        begin_request(headers)
        return begun

    return begin


def traced_gates(tracing: Tracing | None, surfaces: Sequence[Surface]) -> Sequence[Surface]:
    """Run the policies of each gate within one span."""
    if tracing is None:
        return surfaces

    def together(policies: Sequence[Policy]) -> Sequence[Policy]:
        async def ask_within(call: Call) -> None:
            with tracing.span("gate", {}):
                asking = ask(policies, call)
                if asking is not None:
                    await asking

        def one(call: Call) -> Awaitable[None] | None:
            return ask_within(call) if tracing.records() else ask(policies, call)

        return [cast("Policy", one)] if policies else policies

    def traced(surface: Surface) -> Surface:
        gates = [replace(gate, policies=together(gate.policies)) for gate in surface.gates]
        return replace(surface, gates=gates)

    return [traced(surface) for surface in surfaces]


def traced_store(tracing: Tracing | None, store: Store) -> Store:
    """Wrap each unit of work of the stores in a span."""
    if tracing is None:
        return store
    system = "sqlite" if is_sqlite(address(store.url)) else "postgresql"
    attributes = {"db.system.name": system}

    def watched(parts: Any) -> Any:  # noqa: ANN401 - stores of stores
        names = [each.name for each in fields(parts) if each.name not in _NO_PARTS]
        return replace(
            parts,
            **{name: tracing.watched(getattr(parts, name), name, attributes) for name in names},
        )

    found: Store = watched(store)
    return replace(found, identity=watched(store.identity))


def traced_calls(tracing: Tracing | None) -> Traced:
    """Return the wrapper that gives each bank call a span."""
    if tracing is None:
        return untraced

    def traced(address: str, carrier: Carrier, /) -> Carrier:
        transport = TracedTransport(tracing, cast("Transport", carrier), URL(address))
        return cast("Carrier", transport)

    return traced


def traced_follow_up(tracing: Tracing | None, follow_up: FollowUp) -> FollowUp:
    """Give each status query of the background follow-up a span, which starts a trace."""
    return tracing.watched(follow_up, "follow-up", {}, begins=True) if tracing else follow_up


@dataclass(frozen=True, slots=True)
class TracedTransport:
    """A ``Transport`` whose calls have spans, which go out in ``traceparent``."""

    tracing: Tracing
    carrier: Transport
    bank: URL

    async def start(self) -> None:
        """Open the connections, which need an event loop."""
        await self.carrier.start()

    async def close(self) -> None:
        """Close every connection."""
        await self.carrier.close()

    async def call(
        self, request: ProviderRequest, progress: SendProgress, within_s: float = LONGEST_S
    ) -> ProviderAnswer:
        """Send a request and read the whole answer; see ``Transport.call``."""
        tracing = self.tracing
        if not tracing.records(begins=True):
            return await self.carrier.call(request, progress, within_s)
        attributes: dict[str, str | int] = {
            "http.request.method": request.method,
            "server.address": self.bank.host or "",
            "server.port": self.bank.port or 0,
            "pixgate.operation": request.operation,
        }
        name = f"{request.method} {request.template}"
        with tracing.span(name, attributes, "client") as span:
            answer = await self.carrier.call(request, progress, within_s)
            tracing.answered(span, answer.status)
            return answer
