"""A caller's trace goes on to the bank under a parent of ours; without one a trace is begun."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core import trace

DIGITS = "4bf92f3577b34da6a3ce929d0e0e4736"
SENT = f"00-{DIGITS}-00f067aa0ba902b7-01"
OURS = "5f0c7b7e-8c0a-4f0e-9a53-6f4f1f1d2c3b"
HEADER = re.compile(r"00-([0-9a-f]{32})-([89a-f][0-9a-f]{15})-0[01]")


@pytest.fixture(autouse=True)
def served_before() -> Iterator[None]:
    """An earlier request on the same connection."""
    trace.begin("before", (SENT.replace("4b", "ff"),), ("a=b",))
    yield
    trace.begin("")


def begun(trace_id: str, *parents: str, states: tuple[str, ...] = ()) -> str:
    """Begin a request; return what is logged beside the trace id."""
    return trace.begin(trace_id, parents, states)


def sent_on() -> tuple[str, str]:
    """Return the digits and the flags that a bank is given."""
    _, parent, _ = trace.outgoing()
    assert HEADER.fullmatch(parent)
    return parent[3:35], parent[-2:]


def test_a_request_without_a_traceparent_starts_a_trace_of_its_own_id():
    """One id is enough: nothing else is logged."""
    ours = trace.new_trace_id()

    assert trace.begin(ours) == ""
    assert trace.is_uuid(ours)
    assert trace.outgoing()[0] == ours
    assert sent_on() == (ours.replace("-", ""), "00")
    assert trace.outgoing()[2] == ""


def test_the_trace_continues_with_a_new_parent_each_time():
    logged = begun("mine", SENT)

    parents = {trace.outgoing()[1] for _ in range(400)}

    assert logged == DIGITS
    assert len(parents) == 400
    assert SENT not in parents
    assert all(HEADER.fullmatch(each) and each[3:35] == DIGITS for each in parents)


def test_each_call_outside_a_request_starts_its_own_trace():
    trace.begin("")

    sent = [trace.outgoing() for _ in range(2)]

    assert len({trace_id for trace_id, _, _ in sent}) == 2
    assert all(parent[3:35] == trace.begun(trace_id) for trace_id, parent, _ in sent)


def test_a_trace_without_a_parent_starts_with_our_id():
    """Like after a request whose spans were recorded."""
    begun("mine", SENT)
    trace.belong_to(None)

    assert sent_on() == (trace.begun("mine"), "00")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_a_forked_process_makes_different_ids():
    begun("mine")
    trace.outgoing()  # more ids are drawn than are used
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.write(writing, trace.outgoing()[1].encode())
        os._exit(0)
    os.waitpid(child, 0)

    assert os.read(reading, 100).decode() != trace.outgoing()[1]
    os.close(reading)
    os.close(writing)


def test_the_w3c_trace_id_is_logged_when_it_differs():
    cases = [
        (OURS, (), "", OURS.replace("-", "")),
        (OURS.upper(), (), "", OURS.replace("-", "")),
        ("4bf92f35-77b3-4da6-a3ce-929d0e0e4736", (SENT,), "", DIGITS),
        (OURS, (SENT,), DIGITS, DIGITS),
        ("mine", (SENT,), DIGITS, DIGITS),
    ]

    for trace_id, parents, logged, digits in cases:
        assert begun(trace_id, *parents) == logged
        assert sent_on()[0] == digits


@pytest.mark.parametrize("trace_id", ["mine", "00000000-0000-0000-0000-000000000000", DIGITS[:31]])
def test_an_id_that_is_not_a_uuid_always_makes_the_same_trace(trace_id: str):
    """So that calls with one id of the caller share a trace that can be joined with the log."""
    logged = begun(trace_id)
    first = sent_on()

    assert begun(trace_id) == logged == first[0] == sent_on()[0]
    assert first[1] == "00"


@pytest.mark.parametrize(("flags", "passed_on"), [("00", "00"), ("01", "01"), ("ff", "01")])
def test_only_the_sampled_flag_is_passed_on(flags: str, passed_on: str):
    """The others are reserved for later versions."""
    begun("mine", f"cc-{DIGITS}-00f067aa0ba902b7-{flags}")

    assert sent_on() == (DIGITS, passed_on)


def test_a_later_version_is_read_by_its_first_parts():
    """W3C Trace Context 3.2.4; it is passed on in our own version."""
    for more in ["-what", "-", "-a-b-c", ""]:
        begun("mine", f"01-{DIGITS}-00f067aa0ba902b7-01{more}")

        assert sent_on() == (DIGITS, "01")


def test_an_invalid_or_repeated_traceparent_starts_a_new_trace():
    """Neither it nor the tracestate sent with it is passed on."""
    cases = [
        (SENT, SENT),
        (SENT.upper(),),
        (SENT + "-what",),
        (SENT + "\r\nX: y",),
        (f"01-{DIGITS}-00f067aa0ba902b7-01what",),
        (f"01-{DIGITS}-00f067aa0ba902b7-01-{'a' * 512}",),
        (f"ff-{DIGITS}-00f067aa0ba902b7-01",),
        (f"00-{'0' * 32}-00f067aa0ba902b7-01",),
        (f"00-{DIGITS}-{'0' * 16}-01",),
    ]

    for parents in cases:
        begun(OURS, *parents, states=("rojo=00f067aa0ba902b7",))

        assert sent_on() == (OURS.replace("-", ""), "00")
        assert trace.outgoing()[2] == ""


def test_a_tracestate_is_passed_on():
    cases = [
        (("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE",), "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"),
        (("rojo=1", "congo=2"), "rojo=1,congo=2"),
        ((" rojo=1 ,, congo=2\t",), "rojo=1,congo=2"),
        (("fw529a3039@dt=FfSa;b c", "0a=~!"), "fw529a3039@dt=FfSa;b c,0a=~!"),
        (("",), ""),
    ]

    for states, passed_on in cases:
        begun("mine", SENT, states=states)

        assert trace.outgoing()[2] == passed_on


def test_an_invalid_tracestate_is_left_out():
    cases = [
        ("rojo",),
        ("Rojo=1",),
        ("rojo=",),
        ("rojo=1\r\nX: y",),
        ("rojo=á",),
        ("rojo=a=b",),
        ("a=1,a=2",),
        (",".join(f"k{each}=1" for each in range(33)),),
    ]

    for states in cases:
        begun("mine", SENT, states=states)

        assert trace.outgoing()[2] == ""
        assert sent_on() == (DIGITS, "01")


def test_the_newest_members_of_a_long_tracestate_are_passed_on():
    members = [f"k{each}={'v' * 100}" for each in range(10)]
    begun("mine", SENT, states=(",".join(members),))

    assert trace.outgoing()[2] == ",".join(members[:4])


@given(st.text(max_size=80), st.lists(st.text(max_size=40), max_size=3))
def test_the_forwarded_traceparent_is_safe_for_any_input(parent: str, states: list[str]):
    begun(OURS, parent, states=tuple(states))
    begun(OURS, SENT, states=tuple(states))

    said = "".join(trace.outgoing())

    assert said.isascii()
    assert said.isprintable()
