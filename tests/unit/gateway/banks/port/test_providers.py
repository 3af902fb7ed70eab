"""The port: every call has a name, every fixed refusal a sentence, every reason a metric label."""

from __future__ import annotations

import inspect
import re

from gateway.banks.port import providers
from gateway.banks.port.capabilities import OPTIONAL_CALLS, PortCall
from gateway.banks.port.providers import (
    WHY,
    BlockCalls,
    CallbackCalls,
    ChargeCalls,
    EveryCall,
    IncomingCalls,
    KeyCalls,
    Reason,
    RefundCalls,
)


def test_every_optional_call_of_the_ports_is_declared():
    ports = (KeyCalls, ChargeCalls, IncomingCalls, RefundCalls, BlockCalls, CallbackCalls)

    calls = [name for port in ports for name in vars(port) if not name.startswith("_")]

    assert sorted(calls) == sorted(option.value for option in OPTIONAL_CALLS)


def test_every_call_is_a_method_of_the_port():
    for call in PortCall:
        assert inspect.iscoroutinefunction(getattr(EveryCall, call)), call


def test_every_reason_has_a_sentence():
    named = {
        value
        for name, value in vars(providers).items()
        if name.isupper() and isinstance(value, str)
    }

    assert named <= set(WHY)
    assert all(sentence.endswith(".") for sentence in WHY.values())


def test_a_reason_is_a_metric_label():
    for reason in list(Reason):
        assert re.fullmatch(r"[a-z0-9_]{1,32}", reason.value)
        assert reason.value == reason.name.lower()
