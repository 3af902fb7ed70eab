"""The caller's trace goes on to the bank, under a parent of ours."""

from __future__ import annotations

import re

import pytest

from gateway.telemetry import traceparent

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SENT = f"00-{TRACE}-00f067aa0ba902b7-01"


@pytest.fixture(autouse=True)
def nothing_kept() -> None:
    traceparent.begin(())


def test_without_a_caller_s_there_is_none():
    assert traceparent.outgoing() == ""


def test_the_trace_goes_on_with_a_new_parent_each_time():
    traceparent.begin((SENT,))

    written = {traceparent.outgoing() for _ in range(20)}

    assert len(written) == 20
    assert SENT not in written
    assert all(re.fullmatch(rf"00-{TRACE}-[0-9a-f]{{16}}-01", each) for each in written)


@pytest.mark.parametrize(("flags", "sent_on"), [("00", "00"), ("01", "01"), ("ff", "01")])
def test_of_the_flags_we_know_one(flags: str, sent_on: str):
    """The others are of versions yet to come, and are not ours to pass on."""
    traceparent.begin((f"cc-{TRACE}-00f067aa0ba902b7-{flags}",))

    assert traceparent.outgoing().startswith("00-")
    assert traceparent.outgoing().endswith(f"-{sent_on}")


@pytest.mark.parametrize(
    "values",
    [
        (),
        (SENT, SENT),
        (SENT.upper(),),
        (SENT + "\r\nX: y",),
        (f"ff-{TRACE}-00f067aa0ba902b7-01",),
        (f"00-{'0' * 32}-00f067aa0ba902b7-01",),
        (f"00-{TRACE}-{'0' * 16}-01",),
    ],
    ids=str,
)
def test_what_is_no_one_valid_value_is_forgotten(values: tuple[str, ...]):
    """And what the request before it on the same connection sent, too."""
    traceparent.begin((SENT,))

    traceparent.begin(values)

    assert traceparent.outgoing() == ""
