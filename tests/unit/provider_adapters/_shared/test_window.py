"""Calls of the last seconds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provider_adapters._shared.window import Tally


def test_calls_and_failures_are_counted():
    tally = Tally(30)

    for failed in (True, False, True):
        tally.add(1000, failed=failed)

    assert (tally.calls, tally.failures) == (3, 2)


@pytest.mark.parametrize(("later", "calls"), [(0, 2), (26, 2), (30, 1), (300, 1)])
def test_what_is_older_than_the_span_is_forgotten(later: float, calls: int):
    tally = Tally(30)
    tally.add(1000, failed=True)

    tally.add(1000 + later, failed=False)

    assert tally.calls == calls


@given(st.lists(st.tuples(st.floats(0, 20), st.booleans()), max_size=60))
def test_never_more_than_happened_nor_less_than_lately(steps: list[tuple[float, bool]]):
    """It forgets at most a tenth of the span early."""
    tally, now, seen = Tally(30), 1000.0, []

    for step, failed in steps:
        now += step
        tally.add(now, failed=failed)
        seen.append((now, failed))

    sure = sum(1 for at, _ in seen if at > now - 27)
    possible = sum(1 for at, _ in seen if at > now - 30)
    assert sure <= tally.calls <= possible
    assert 0 <= tally.failures <= tally.calls
