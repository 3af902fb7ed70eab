"""Where spans are recorded, and that nothing is wrapped where they are not."""

from __future__ import annotations

import uuid

import msgspec
import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from gateway.app import build_tracing
from gateway.banks.client.messages import ProviderAnswer, ProviderRequest, SendProgress
from gateway.config.settings import Settings
from gateway.config.settings import Telemetry as Asked
from gateway.config.settings import Tracing as AskedTracing
from gateway.config.values import Address, Secret
from gateway.core import errors, trace
from gateway.core.calls import Call
from gateway.core.errors import ServiceError
from gateway.http.server import begin_trace
from gateway.net.common.runtime import untraced
from gateway.telemetry.tracing import Tracing
from tests.world.gateway import listener_client

REQUEST = ProviderRequest(operation="get_balance", method="GET", template="/{id}", path="/7?a=b")


def recording() -> tuple[Tracing, InMemorySpanExporter]:
    """Record everything, in a request."""
    exporter = InMemorySpanExporter()
    made = Tracing(exporter, {}, 1.0)
    made.start()
    trace.begin(str(uuid.uuid4()))
    made.begin_request({})
    return made, exporter


def test_without_a_collector_nothing_is_traced():
    surface = listener_client.surface(listener_client.route())

    assert build_tracing.build_tracing(Settings()) is None
    assert build_tracing.traced_requests(None) is begin_trace
    assert build_tracing.traced_calls(None) is untraced
    assert build_tracing.traced_gates(None, [surface]) == [surface]


def test_a_configured_collector_is_called_with_its_headers():
    tracing = AskedTracing(
        endpoint=Address("http://127.0.0.1:9/v1/traces"), headers={"X-Key": Secret("told")}
    )
    settings = msgspec.structs.replace(Settings(), telemetry=Asked(tracing=tracing))

    made = build_tracing.build_tracing(settings)

    assert made is not None
    assert dict(made._exporter._client._headers)["x-key"] == "told"


class Carrier:
    """A transport that answers at once, and keeps what would be sent."""

    def __init__(self, status: int) -> None:
        self.status, self.sent = status, ""

    async def call(
        self, _request: ProviderRequest, _progress: SendProgress, _within_s: float
    ) -> ProviderAnswer:
        self.sent = trace.outgoing()[1]
        return ProviderAnswer(status=self.status, headers={}, body=b"secret")


async def test_a_bank_call_is_a_client_span_sent_in_traceparent():
    tracing, exporter = recording()
    carrier = Carrier(503)
    traced = build_tracing.traced_calls(tracing)("https://bank.example:8443/api", carrier)

    await traced.call(REQUEST, SendProgress(), 1.0)

    await tracing.stop()
    [span] = exporter.get_finished_spans()
    assert span.name == "GET /{id}"
    assert carrier.sent.split("-")[2] == f"{span.get_span_context().span_id:016x}"
    assert dict(span.attributes or {}) == {
        "http.request.method": "GET",
        "server.address": "bank.example",
        "server.port": 8443,
        "http.response.status_code": 503,
        "pixgate.operation": "get_balance",
        "error.type": "503",
    }


async def test_a_gate_is_one_span_and_refuses_unchanged():
    tracing, exporter = recording()

    def refuse(_call: Call) -> None:
        raise ServiceError(errors.PERMISSION_DENIED, "no_permission")

    shown = listener_client.surface(
        listener_client.route(), policies=[listener_client.Asks(refuse)] * 2
    )
    [surface] = build_tracing.traced_gates(tracing, [shown])
    [policy] = surface.gates[0].policies
    waiting = policy(None)
    assert waiting is not None

    with pytest.raises(ServiceError):
        await waiting

    await tracing.stop()
    [span] = exporter.get_finished_spans()
    assert (span.name, (span.attributes or {})["error.type"]) == ("gate", "no_permission")
