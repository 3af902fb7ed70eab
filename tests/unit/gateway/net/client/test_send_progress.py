"""The witness of whether a byte left us."""

from __future__ import annotations

import pytest

from gateway.domain.bank.providers import Evidence, Phase, Unavailable
from gateway.domain.kernel.clocks import Deadline
from gateway.net.client.reasons import Reason
from gateway.net.client.send_progress import Passage, SendRefused
from tests.unit.provider_adapters.witness import Clock


def test_it_tells_how_far_a_call_got():
    passage = Passage()
    seen = [(passage.phase, passage.bytes_left)]

    for step in (passage.connecting, passage.connected, passage.leaving):
        step()
        seen.append((passage.phase, passage.bytes_left))
    passage.answered(200)

    assert seen == [
        (Phase.REFUSED_HERE, False),
        (Phase.CONNECTING, False),
        (Phase.CONNECTED, False),
        (Phase.SENT, True),
    ]
    assert (passage.phase, passage.http_status) == (Phase.ANSWERED, 200)


def test_nothing_leaves_at_or_after_the_deadline():
    clock = Clock()
    passage = Passage(Deadline(clock.at + 1, clock))
    clock.passes(1)

    with pytest.raises(SendRefused):
        passage.leaving()

    assert (passage.bytes_left, passage.refused_here) == (False, True)


def test_nothing_leaves_after_the_call_ended():
    """Whatever task of the transport is still alive then."""
    passage = Passage()
    passage.end()

    with pytest.raises(SendRefused):
        passage.leaving()

    assert not passage.bytes_left


def test_the_evidence_is_plain_text_and_numbers():
    passage = Passage()
    passage.leaving()

    evidence = passage.evidence(Unavailable(Reason.TIMEOUT))

    assert evidence == Evidence(phase=Phase.SENT, bytes_left=True, reason="timeout")
    assert type(evidence.reason) is str
