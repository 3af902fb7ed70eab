"""Which traces are recorded, how they are named, and what a span says."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from random import Random

import pytest
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from gateway.banks.port.providers import Reason, Unreachable
from gateway.core import trace
from gateway.telemetry import tracing
from gateway.telemetry.records import AccessRecord
from gateway.telemetry.tracing import Tracing

CALLER = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7")


@pytest.fixture(autouse=True)
def _outside() -> Iterator[None]:
    """No trace of another test."""
    trace.begin("before")
    yield
    trace.begin("after")


def begun(ratio: float, trace_id: str = "", parent: str = "", state: str = "") -> Tracing:
    """Begin a request, of a caller's trace if there is one; nothing is exported yet."""
    recording = Tracing(InMemorySpanExporter(), {"service.name": "tests"}, ratio)
    trace.begin(trace_id or str(uuid.UUID(int=1)), [parent] if parent else [], [state])
    recording.begin_request({"traceparent": parent})
    return recording


def exported(ratio: float = 1.0) -> Tracing:
    """Begin a request whose spans are exported until it is stopped, which each test does."""
    recording = begun(ratio)
    recording.start()
    return recording


def end(recording: Tracing, **known: object) -> None:
    record = AccessRecord(trace_id=trace.current_trace_id(), method="GET", status=200)
    for name, value in known.items():
        setattr(record, name, value)
    recording.ending(lambda *_: None)(datetime(2026, 1, 1, tzinfo=UTC), record, record)


def test_a_caller_s_sampled_flag_overrides_the_ratio():
    recorded, said = {}, {}
    for ratio, flags in ((1.0, "00"), (0.0, "01")):
        parent = f"00-{'-'.join(CALLER)}-{flags}"
        recording = begun(ratio, parent=parent, state="a=1")
        recorded[flags] = recording.records()
        _, said[flags], state = trace.outgoing()
        assert state == "a=1"
        assert trace.outgoing()[1].split("-")[1] == CALLER[0]

    assert recorded == {"00": False, "01": True}
    assert {flags: parent[-2:] for flags, parent in said.items()} == {"00": "00", "01": "01"}
    assert CALLER[1] not in {parent.split("-")[2] for parent in said.values()}


def test_each_process_samples_the_same_share_of_traces():
    """A UUID fixes bits that OpenTelemetry's own sampler by ratio reads."""
    random = Random(7)
    ids = [str(uuid.UUID(int=random.getrandbits(128), version=4)) for _ in range(2_000)]

    processes = begun(0.25), begun(0.25)

    def is_recorded(process: Tracing, trace_id: str) -> bool:
        trace.begin(trace_id)
        return process.records(begins=True)

    first, again = ([is_recorded(process, each) for each in ids] for process in processes)

    assert first == again
    assert 450 < sum(first) < 550


def test_a_trace_that_starts_here_has_our_trace_id():
    ours = str(uuid.uuid4())

    begun(1.0, ours)

    assert trace.outgoing()[1][3:35] == ours.replace("-", "")


async def test_a_finished_request_span_has_its_route_and_status():
    recording = exported()

    end(recording, status=503, path_template="/v1/{id}", code="SVC.GTW.006")

    assert not recording.records()
    await recording.stop()
    [span] = finished(recording)
    assert (span.name, span.status.status_code.name) == ("GET /v1/{id}", "ERROR")
    assert dict(span.attributes or {}) == {
        "http.request.method": "GET",
        "http.route": "/v1/{id}",
        "http.response.status_code": 503,
        "pixgate.error.code": "SVC.GTW.006",
        "pixgate.trace_id": str(uuid.UUID(int=1)),
        "error.type": "503",
    }


async def test_a_failed_span_has_our_reason_without_the_error_text():
    recording = exported()
    for problem in (ValueError("a secret"), Unreachable(Reason.TIMEOUT)):
        with pytest.raises(type(problem)), recording.span("step", {}):
            raise problem

    await recording.stop()

    failed = finished(recording)
    assert [(each.attributes or {})["error.type"] for each in failed] == ["ValueError", "timeout"]
    assert not any(each.events or each.status.description for each in failed)


class Part:
    def __init__(self) -> None:
        self.told: list[str] = []
        self.word = "a"

    async def write(self) -> str:
        self.told.append(trace.outgoing()[1])
        return self.word

    def read(self) -> str:
        return self.word


async def test_a_watched_part_adds_a_span_for_each_call_within_a_request():
    recording, part = exported(), Part()
    watched = recording.watched(part, "part", {"db.system.name": "sqlite"})

    watched.word = "b"
    said = await watched.write(), watched.read(), part.word
    trace.belong_to(None)
    await watched.write()

    await recording.stop()
    [span] = finished(recording)
    assert said == ("b", "b", "b")
    assert (span.name, span.kind.name) == ("write part", "CLIENT")
    assert f"{span.get_span_context().span_id:016x}" == part.told[0].split("-")[2]


class Hanging(SpanExporter):
    """A collector that does not answer."""

    def __init__(self) -> None:
        self.let_go = threading.Event()

    def export(self, spans: object) -> SpanExportResult:
        self.let_go.wait()
        return SpanExportResult.FAILURE


async def test_stopping_does_not_wait_for_a_hanging_collector(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tracing, "_STOP_S", 0.01)
    collector = Hanging()
    recording = Tracing(collector, {}, 1.0)
    recording.start()
    trace.begin(str(uuid.uuid4()))
    recording.begin_request({})
    end(recording)

    await recording.stop()

    assert not collector.let_go.is_set()
    collector.let_go.set()


def finished(recording: Tracing) -> tuple[object, ...]:
    return recording._exporter.get_finished_spans()
