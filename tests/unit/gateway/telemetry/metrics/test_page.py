"""The page about the series."""

from pathlib import Path

from gateway.telemetry.metrics.page import describe_metrics

PAGE = Path(__file__).parents[5] / "docs/metrics.md"


def test_the_page_matches_the_code():
    """After a change of a series, write the page again."""
    assert PAGE.read_text() == describe_metrics()
