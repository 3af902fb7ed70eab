"""
Spans by OpenTelemetry: of requests and follow-ups, and of the steps within them.

Imported only where a collector is configured (ADR 0045). Whether a trace is recorded is decided
before its first span is made: for the others OpenTelemetry only writes the ``traceparent``.
"""

from __future__ import annotations

import asyncio
import threading
import zlib
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any, Final, Literal, TypeVar

from opentelemetry.context import Context
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import (
    NonRecordingSpan,
    Span,
    SpanContext,
    SpanKind,
    StatusCode,
    get_current_span,
    set_span_in_context,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from gateway.core import trace
from gateway.core.errors import OutsideFailure, ServiceError
from gateway.telemetry.logs.events import Fields
from gateway.telemetry.observer import Keep
from gateway.telemetry.records import AccessRecord

_W3C: Final = TraceContextTextMapPropagator()
_NOWHERE: Final = Context()
_KINDS: Final = {"internal": SpanKind.INTERNAL, "client": SpanKind.CLIENT}
_CHECKSUMS: Final = 2**32
_STOP_S: Final = 2.0
_REFUSED: Final = 400
_FAILED: Final = 500
Part = TypeVar("Part")
Attributes = Mapping[str, str | int]


class _Ids(RandomIdGenerator):
    """Gives traces that begin here the digits of our trace id."""

    def generate_trace_id(self) -> int:
        """Return our trace id as a number."""
        return int(trace.begun(trace.current_trace_id() or trace.new_trace_id()), 16)


_IDS: Final = _Ids()


class _Place:
    """
    Parent of bank calls; see ``trace.Parent``.

    Attributes:
        span: None where the trace is not recorded.
    """

    __slots__ = ("context", "span")

    def __init__(self, named: Span, span: Span | None = None) -> None:
        self.context = set_span_in_context(named, _NOWHERE)
        self.span = span

    def headers(self) -> tuple[str, str]:
        """Name the span."""
        carrier: dict[str, str] = {}
        _W3C.inject(carrier, self.context)
        return carrier["traceparent"], carrier.get("tracestate", "")


class _Unrecorded(NonRecordingSpan):
    """An unrecorded span of a caller's trace, with a new id at every use."""

    def get_span_context(self) -> SpanContext:
        """Name it."""
        caller = super().get_span_context()
        return SpanContext(
            trace_id=caller.trace_id,
            span_id=_IDS.generate_span_id(),
            is_remote=False,
            trace_state=caller.trace_state,
        )


class Tracing:
    """
    Records spans and hands them to a collector.

    They are exported by a thread of its own, from a queue that drops the oldest when it is full:
    a collector that is slow or away holds nothing up.
    """

    def __init__(self, exporter: SpanExporter, resource: Attributes, ratio: float) -> None:
        """Record a share (``ratio``) of traces, under ``resource``; nothing is started yet."""
        self._exporter = exporter
        self._below = round(ratio * _CHECKSUMS)
        self._provider = TracerProvider(
            sampler=ALWAYS_ON,
            resource=Resource.create(resource),
            id_generator=_IDS,
            shutdown_on_exit=False,
        )
        self._tracer = self._provider.get_tracer("pixgate")

    def start(self) -> None:
        """Begin to export."""
        self._provider.add_span_processor(BatchSpanProcessor(self._exporter))

    async def stop(self) -> None:
        """Export the rest. After two seconds it is lost, and the thread ends by itself."""
        loop, is_over = asyncio.get_running_loop(), asyncio.Event()

        def shut_down() -> None:
            self._provider.shutdown()
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(is_over.set)

        threading.Thread(target=shut_down, name="tracing", daemon=True).start()
        with suppress(TimeoutError):
            async with asyncio.timeout(_STOP_S):
                await is_over.wait()

    def begin_request(self, headers: Mapping[str, str]) -> None:
        """Begin the span of a request whose trace has begun."""
        continued = trace.parent()
        if not isinstance(continued, trace.Continued):
            if self._is_chosen():
                trace.belong_to(self._begun(_NOWHERE))
            return
        sent = {"traceparent": headers["traceparent"], "tracestate": continued.state}
        above = _W3C.extract(sent, _NOWHERE)
        caller = get_current_span(above).get_span_context()
        sampled = caller.trace_flags.sampled
        trace.belong_to(self._begun(above) if sampled else _Place(_Unrecorded(caller)))

    def _begun(self, above: Context) -> _Place:
        span = self._tracer.start_span("request", above, SpanKind.SERVER)
        return _Place(span, span)

    def ending(self, keep: Keep) -> Keep:
        """Return a function that ends the span of each answered request's line."""

        def kept(at: datetime, record: AccessRecord, line: Fields) -> None:
            self._end_request(record)
            keep(at, record, line)

        return kept

    def _end_request(self, record: AccessRecord) -> None:
        place, status = trace.parent(), record.status
        if not isinstance(place, _Place) or place.span is None:
            return
        trace.belong_to(None)
        span = place.span
        attributes: dict[str, str | int] = {
            "http.request.method": record.method,
            "http.response.status_code": status,
            "pixgate.trace_id": record.trace_id,
        }
        if record.path_template:
            attributes["http.route"] = record.path_template
        if record.code:
            attributes["pixgate.error.code"] = record.code
        span.update_name(f"{record.method} {record.path_template}".rstrip())
        span.set_attributes(attributes)
        if status >= _FAILED:
            _fail(span, str(status))
        span.end()

    def records(self, *, begins: bool = False) -> bool:
        """Return whether a step has a span now; without a trace it may begin one."""
        above = trace.parent()
        if isinstance(above, _Place):
            return above.span is not None
        return begins and self._is_chosen()

    @contextmanager
    def span(
        self,
        name: str,
        attributes: Attributes,
        kind: Literal["internal", "client"] = "internal",
    ) -> Iterator[Span]:
        """
        Record a step for the length of the block, where ``records`` says so.

        Args:
            name: One of a few: no ids.
            attributes: Nothing personal, and no text from outside.
            kind: ``client`` for a call to another system.
        """
        above = trace.parent()
        if isinstance(above, _Place):
            context = above.context
        else:
            context = _NOWHERE
            attributes = {**attributes, "pixgate.trace_id": trace.current_trace_id()}
        span = self._tracer.start_span(name, context, _KINDS[kind], attributes)
        token = trace.belong_to(_Place(span, span))
        try:
            yield span
        except (OutsideFailure, ServiceError) as problem:
            _fail(span, problem.reason)
            raise
        except BaseException as problem:
            _fail(span, type(problem).__name__)
            raise
        finally:
            trace.leave(token)
            span.end()

    def answered(self, span: Span, status: int) -> None:
        """Record a server's answer."""
        span.set_attribute("http.response.status_code", status)
        if status >= _REFUSED:
            _fail(span, str(status))

    def watched(
        self, part: Part, name: str, attributes: Attributes, *, begins: bool = False
    ) -> Part:
        """Return a part whose asynchronous methods have spans; the rest is unchanged."""
        kind: Literal["internal", "client"] = "internal" if begins else "client"

        def traced(function: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
            @wraps(function)
            async def call(*given: object, **named: object) -> object:
                if not self.records(begins=begins):
                    return await function(*given, **named)
                with self.span(f"{function.__name__} {name}", attributes, kind):
                    return await function(*given, **named)

            return call

        watched: Any = _Watched(part, traced)
        return watched  # type: ignore[no-any-return]

    def _is_chosen(self) -> bool:
        """Return whether a trace that begins here is recorded; all processes agree."""
        return zlib.crc32(trace.current_trace_id().encode()) < self._below


class _Watched:
    """A wrapper of a part, with other asynchronous methods."""

    __slots__ = ("_methods", "_part", "_traced")

    def __init__(self, part: object, traced: Callable[[Any], Any]) -> None:
        object.__setattr__(self, "_part", part)
        object.__setattr__(self, "_traced", traced)
        object.__setattr__(self, "_methods", {})

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the part has
        if name in self._methods:
            return self._methods[name]
        found = getattr(self._part, name)
        if not iscoroutinefunction(found):
            return found
        made = self._methods[name] = self._traced(found)
        return made

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self._part, name, value)


def _fail(span: Span, reason: str) -> None:
    """Mark a span as failed, by a word of ours: texts of exceptions may quote anything."""
    span.set_attribute("error.type", reason)
    span.set_status(StatusCode.ERROR)
