"""Deadlines on a clock that never runs backwards."""

import pytest

from gateway.domain.kernel.clocks import Deadline
from tests.unit.standing import Clock


@pytest.mark.parametrize(
    ("seconds", "left", "passed"),
    [(0.0, 20.0, False), (19.5, 0.5, False), (20.0, 0.0, True), (21.0, -1.0, True)],
)
def test_a_deadline_passes_at_its_instant(seconds: float, left: float, passed: bool):
    clock = Clock()
    deadline = Deadline(clock.monotonic() + 20.0, clock.monotonic)

    clock.passes(seconds)

    assert (deadline.left(), deadline.passed()) == (left, passed)
