"""Trace ids of requests."""

from __future__ import annotations

import uuid

import pytest
from multidict import CIMultiDict, CIMultiDictProxy

from gateway.core import trace
from gateway.http.server import begin_trace
from tests.world.kernel import Witness

PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def found(*headers: tuple[str, str], uuids: bool = False) -> tuple[str, list[tuple[str, str]]]:
    """Find a trace id, and tell what was counted."""
    witness = Witness()
    sent = CIMultiDictProxy(CIMultiDict(headers))
    return begin_trace(sent, witness, uuids=uuids)[0], witness.counted


@pytest.mark.parametrize(
    ("headers", "goes_on"),
    [
        ([("traceparent", PARENT)], True),
        ([("X-Trace-ID", "mine"), ("traceparent", PARENT)], True),
        ([("X-Trace-ID", "mine")], False),
        ([("traceparent", PARENT), ("traceparent", PARENT)], False),
    ],
)
async def test_a_caller_s_trace_continues_to_banks(headers, goes_on):
    """With our own parent id."""
    sent = CIMultiDictProxy(CIMultiDict(headers))

    trace_id, _ = begin_trace(sent, Witness(), uuids=False)

    told, outgoing, _ = trace.outgoing()
    assert trace.current_trace_id() == told == trace_id
    assert (outgoing[:36] == PARENT[:36]) is goes_on
    assert outgoing != PARENT


async def test_a_request_without_a_traceparent_does_not_continue_the_previous_trace():
    """Both arrive on one connection, perhaps from two callers behind a proxy."""
    begin_trace(CIMultiDictProxy(CIMultiDict([("traceparent", PARENT)])), Witness(), uuids=False)

    trace_id, w3c = begin_trace(CIMultiDictProxy(CIMultiDict()), Witness(), uuids=False)

    assert w3c == ""
    assert trace.outgoing()[1][3:35] == trace_id.replace("-", "")


@pytest.mark.parametrize(
    ("sent", "uuids"), [(["a b"], False), (["a", "b"], False), (["mine"], True)], ids=str
)
def test_an_unacceptable_trace_id_is_replaced_and_counted(sent, uuids):
    trace_id, counted = found(*[("X-Trace-ID", each) for each in sent], uuids=uuids)

    assert uuid.UUID(trace_id)
    assert counted == [("trace_id_replaced", "unacceptable")]
