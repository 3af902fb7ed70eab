"""Under which trace id a request is served: the caller's where it is acceptable, else a new one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from multidict import CIMultiDictProxy, istr

from gateway.telemetry import trace, traceparent
from gateway.telemetry.ports import Event
from gateway.telemetry.records import Observer

TRACE_ID: Final = istr("X-Trace-ID")
_TRACEPARENT: Final = istr("traceparent")
_TRACESTATE: Final = istr("tracestate")


def begin_trace(
    headers: CIMultiDictProxy[str], observer: Observer, *, uuids: bool
) -> tuple[str, str]:
    """
    Make the request's trace the current one, for logs and for banks.

    A caller's ``traceparent`` goes on to banks whatever the id is.

    Returns:
        Our trace id, and the W3C trace id where that has other digits.
    """
    sent, parents = headers.getall(TRACE_ID, ()), headers.getall(_TRACEPARENT, ())
    if not sent and not parents:
        trace_id = trace.new_trace_id()
        trace.begin(trace_id)
        traceparent.forget()
        return trace_id, ""
    trace_id = find_trace_id(sent, parents, observer, uuids=uuids)
    trace.begin(trace_id)
    return trace_id, traceparent.begin(trace_id, parents, headers.getall(_TRACESTATE, ()))


def find_trace_id(
    sent: Sequence[str], parents: Sequence[str], observer: Observer, *, uuids: bool
) -> str:
    """Take the caller's id, or continue its W3C trace; ``uuids`` takes no other form."""
    if not sent:
        return (trace.continued(parents) if parents else None) or trace.new_trace_id()
    accepted = trace.accepted(sent)
    if accepted and not (uuids and not trace.is_uuid(accepted)):
        return accepted
    observer.count(Event.TRACE_ID_REPLACED, "unacceptable")
    return trace.new_trace_id()
