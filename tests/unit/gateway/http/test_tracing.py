"""Trace ids of requests."""

from __future__ import annotations

import uuid

import pytest
from multidict import CIMultiDict, CIMultiDictProxy

from gateway.http.tracing import begin_trace, find_trace_id
from gateway.telemetry import trace, traceparent
from tests.unit.gateway.http.stage import Witness

PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
CONTINUED = "4bf92f35-77b3-4da6-a3ce-929d0e0e4736"


def found(*headers: tuple[str, str], uuids: bool = False) -> tuple[str, list[tuple[str, str]]]:
    """Find a trace id, and tell what was counted."""
    witness = Witness()
    sent = CIMultiDictProxy(CIMultiDict(headers))
    return find_trace_id(sent, witness, uuids=uuids), witness.counted


@pytest.mark.parametrize(
    ("headers", "trace_id"),
    [
        ([("x-trace-id", "mine")], "mine"),
        ([("traceparent", PARENT)], CONTINUED),
        ([("X-Trace-ID", "mine"), ("traceparent", PARENT)], "mine"),
    ],
)
def test_the_caller_s_own_is_kept(headers, trace_id):
    assert found(*headers) == (trace_id, [])


@pytest.mark.parametrize(
    ("headers", "goes_on"),
    [
        ([("traceparent", PARENT)], True),
        ([("X-Trace-ID", "mine"), ("traceparent", PARENT)], True),
        ([("X-Trace-ID", "mine")], False),
        ([("traceparent", PARENT), ("traceparent", PARENT)], False),
    ],
)
async def test_a_caller_s_trace_goes_on_to_banks(headers, goes_on):
    """With a parent of ours in it."""
    sent = CIMultiDictProxy(CIMultiDict(headers))

    trace_id = begin_trace(sent, Witness(), uuids=False)

    outgoing = traceparent.outgoing()
    assert trace.current_trace_id() == trace_id
    assert (outgoing[:36] == PARENT[:36]) is goes_on
    assert outgoing != PARENT


@pytest.mark.parametrize("headers", [[], [("traceparent", "00-1-2-01")]])
def test_one_is_made_where_none_was_sent(headers):
    trace_id, counted = found(*headers)

    assert uuid.UUID(trace_id)
    assert counted == []


@pytest.mark.parametrize(
    ("sent", "uuids"), [(["a b"], False), (["a", "b"], False), (["mine"], True)], ids=str
)
def test_one_that_is_not_acceptable_is_replaced_and_counted(sent, uuids):
    trace_id, counted = found(*[("X-Trace-ID", each) for each in sent], uuids=uuids)

    assert uuid.UUID(trace_id)
    assert counted == [("trace_id_replaced", "unacceptable")]
