"""The optional ports: every call has a name, every reason a sentence."""

from __future__ import annotations

import inspect

from gateway.banks.port import provider_options
from gateway.banks.port.capabilities import OPTIONAL_CALLS, PortCall
from gateway.banks.port.provider_options import (
    WHY,
    BlockCalls,
    CallbackCalls,
    ChargeCalls,
    EveryCall,
    IncomingCalls,
    KeyCalls,
    RefundCalls,
)


def test_every_call_of_the_ports_is_an_option():
    ports = (KeyCalls, ChargeCalls, IncomingCalls, RefundCalls, BlockCalls, CallbackCalls)

    calls = [name for port in ports for name in vars(port) if not name.startswith("_")]

    assert sorted(calls) == sorted(option.value for option in OPTIONAL_CALLS)


def test_every_call_is_a_method_of_the_port():
    for call in PortCall:
        assert inspect.iscoroutinefunction(getattr(EveryCall, call)), call


def test_every_reason_has_its_sentence():
    named = {
        value
        for name, value in vars(provider_options).items()
        if name.isupper() and isinstance(value, str)
    }

    assert named <= set(WHY)
    assert all(sentence.endswith(".") for sentence in WHY.values())
