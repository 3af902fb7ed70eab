"""The campaign of the pipeline: payouts amid kills and faults, which keep both cores busy."""

from __future__ import annotations

import pytest

from tests.torture.judging import Record, hold


@pytest.mark.torture
@pytest.mark.timeout(1800)
@pytest.mark.pipeline
def test_nothing_is_paid_twice_and_nothing_is_lost(record_property: Record):
    """Figures and seed are always shown; the small campaign is at another bank each day."""
    hold("ci", "sandbox", record_property)
