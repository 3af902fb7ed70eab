"""The optional ports: every call has a name, every reason a sentence."""

from __future__ import annotations

from gateway.domain.bank import provider_options
from gateway.domain.bank.provider_options import (
    WHY,
    BlockCalls,
    ChargeCalls,
    IncomingCalls,
    KeyCalls,
    Option,
    RefundCalls,
)
from tests.unit.offering import OfferingBank


def test_every_call_of_the_ports_is_an_option():
    ports = (KeyCalls, ChargeCalls, IncomingCalls, RefundCalls, BlockCalls)

    calls = [name for port in ports for name in vars(port) if not name.startswith("_")]

    assert sorted(calls) == sorted(option.value for option in Option)


def test_a_bank_with_the_calls_fulfils_the_ports():
    bank = OfferingBank()

    assert isinstance(bank, KeyCalls)
    assert isinstance(bank, ChargeCalls)
    assert isinstance(bank, IncomingCalls)
    assert isinstance(bank, RefundCalls)


def test_every_reason_has_its_sentence():
    named = {
        value
        for name, value in vars(provider_options).items()
        if name.isupper() and isinstance(value, str)
    }

    assert named <= set(WHY)
    assert all(sentence.endswith(".") for sentence in WHY.values())
