"""The series as they are declared."""

import re

from gateway.telemetry.metrics import series
from gateway.telemetry.metrics.series import SERIES
from tests.world.metrics import WORDS


def test_names_are_prometheus_names():
    """Prefix, base unit, and ``_total`` on counters alone."""
    for family in SERIES:
        assert re.fullmatch(r"pixgate_[a-z_]+", family.name)
        assert family.name.endswith("_total") is (family.kind == "counter")
        assert family.kind != "histogram" or family.name.endswith("_seconds")
    assert len({family.name for family in SERIES}) == len(SERIES)


def test_the_histogram_bounds_include_our_timeouts():
    """Reads end at 8 s, payouts at 20 s: a time-out is visible as a bucket."""
    assert {8, 20} <= set(series.PROVIDER_DURATION.bounds)


def test_no_label_can_contain_a_caller_s_text():
    """
    Every label is closed in code or by the vocabulary, but for what is set once at start.

    Of credentials a bounded number is shown, by ids that we made.
    """
    for family in SERIES:
        unknown = [label.name for label in family.labels if WORDS.allowed(label) is None]
        is_open = family in (series.BUILD_INFO, series.CONFIG_INFO, series.WORST_CREDENTIALS)
        assert unknown == [] or is_open
