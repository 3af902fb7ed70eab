"""The witness of whether a byte left us."""

from __future__ import annotations

import pytest

from gateway.banks.client.messages import SendProgress, SendRefused
from gateway.banks.port.providers import Evidence, Phase, Reason, Unavailable
from gateway.core.clocks import Deadline
from tests.world.banks.witness import Clock


def test_progress_records_how_far_a_call_got():
    progress = SendProgress()
    seen = [(progress.phase, progress.bytes_left)]

    for step in (progress.connecting, progress.connected, progress.sending):
        step()
        seen.append((progress.phase, progress.bytes_left))
    progress.answered(200)

    assert seen == [
        (Phase.REFUSED_HERE, False),
        (Phase.CONNECTING, False),
        (Phase.CONNECTED, False),
        (Phase.SENT, True),
    ]
    assert (progress.phase, progress.http_status) == (Phase.ANSWERED, 200)


def test_nothing_is_sent_at_or_after_the_deadline():
    clock = Clock()
    progress = SendProgress(Deadline(clock.at + 1, clock))
    clock.passes(1)

    with pytest.raises(SendRefused):
        progress.sending()

    assert (progress.bytes_left, progress.refused_here) == (False, True)


def test_nothing_is_sent_after_the_call_ended():
    """Even if a task of the transport is still running then."""
    progress = SendProgress()
    progress.end()

    with pytest.raises(SendRefused):
        progress.sending()

    assert not progress.bytes_left


def test_the_evidence_is_plain_text_and_numbers():
    progress = SendProgress()
    progress.sending()

    evidence = progress.evidence(Unavailable(Reason.TIMEOUT))

    assert evidence == Evidence(phase=Phase.SENT, bytes_left=True, reason="timeout")
    assert type(evidence.reason) is str
