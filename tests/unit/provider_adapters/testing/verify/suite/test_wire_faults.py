"""The table of faults: none is lost, and each says what an adapter makes of it."""

from gateway.banks.port.provider_reasons import Reason
from provider_adapters.testing.verify.suite.wire import FAULTS


def test_none_is_lost():
    assert len(FAULTS) == len({fault.name for fault in FAULTS}) == 34


def test_a_reason_is_one_of_ours():
    assert {fault.reason for fault in FAULTS} <= {"", *Reason}


def test_what_waits_ends_with_a_time_limit():
    assert {fault.reason for fault in FAULTS if fault.waits} == {Reason.TIMEOUT}
    assert {fault.waits for fault in FAULTS if fault.reason == Reason.TIMEOUT} == {True}
