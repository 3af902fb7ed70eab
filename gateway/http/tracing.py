"""Under which trace id a request is served: the caller's where it is acceptable, else a new one."""

from __future__ import annotations

from typing import Final

from multidict import CIMultiDictProxy, istr

from gateway.telemetry import trace, traceparent
from gateway.telemetry.records import Observer

TRACE_ID: Final = istr("X-Trace-ID")
_TRACEPARENT: Final = istr("traceparent")


def begin_trace(headers: CIMultiDictProxy[str], observer: Observer, *, uuids: bool) -> str:
    """
    Make the request's trace the current one, for logs and for banks; return its id.

    A caller's ``traceparent`` goes on to banks whatever the id is.
    """
    trace_id = find_trace_id(headers, observer, uuids=uuids)
    trace.begin(trace_id)
    parents = headers.getall(_TRACEPARENT, ())
    if parents:
        traceparent.begin(parents)
    return trace_id


def find_trace_id(headers: CIMultiDictProxy[str], observer: Observer, *, uuids: bool) -> str:
    """Take the caller's id, or continue its W3C trace; ``uuids`` takes no other form."""
    sent = headers.getall(TRACE_ID, ())
    if not sent:
        parents = headers.getall(_TRACEPARENT, ())
        return (trace.continued(parents) if parents else None) or trace.new_trace_id()
    accepted = trace.accepted(sent)
    if accepted and not (uuids and not trace.is_uuid(accepted)):
        return accepted
    observer.count("trace_id_replaced", "unacceptable")
    return trace.new_trace_id()
