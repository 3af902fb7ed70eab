"""Whether another request is served at all."""

from __future__ import annotations

import pytest

from gateway.domain.kernel.errors import OVERLOADED
from gateway.http.server import Admission
from tests.unit.refusals import refused


def admission(seen: list[tuple[str, str]], *, in_flight: int = 0, lag_s: float = 0.0) -> Admission:
    """At most ten requests, at most a quarter of a second."""
    return Admission(
        most=10,
        longest_lag_s=0.25,
        lag_s=lambda: lag_s,
        count=lambda event, label: seen.append((event, label)),
        in_flight=in_flight,
    )


@pytest.mark.parametrize(("in_flight", "lag_s"), [(0, 0.0), (10, 0.25)], ids=["idle", "at both"])
def test_a_process_within_its_limits_serves(in_flight: int, lag_s: float):
    seen: list[tuple[str, str]] = []

    admission(seen, in_flight=in_flight, lag_s=lag_s).check()

    assert seen == []


@pytest.mark.parametrize(
    ("in_flight", "lag_s", "reason"), [(11, 0.0, "in_flight"), (0, 0.26, "loop_lag")]
)
def test_a_process_beyond_one_sheds(in_flight: int, lag_s: float, reason: str):
    """Counted by its reason; the caller is told to come again in a second."""
    seen: list[tuple[str, str]] = []

    with refused(OVERLOADED) as refusal:
        admission(seen, in_flight=in_flight, lag_s=lag_s).check()

    assert seen == [("shed", reason)]
    assert refusal.value.headers == {"Retry-After": "1"}
