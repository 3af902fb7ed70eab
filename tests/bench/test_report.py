"""What figures mean: pairs of the same round, medians, limits."""

import pytest

from bench import report, subjects
from bench.report import Figures, Round


def rounds(*cpu_us: float) -> Figures:
    """Rounds of a thousand answers each, by their CPU per request."""
    return Figures(
        rounds=[
            Round(
                answers=1000,
                seconds=1.0,
                cpu_s=each / 1000,
                other_cores=0.0,
                p50_ms=1.0,
                p99_ms=2.0,
            )
            for each in cpu_us
        ]
    )


@pytest.mark.parametrize(
    ("values", "shown"),
    [([], "not measured"), ([1.26], "1.3"), ([3.0, 1.0, 2.0], "2.0 (1.0..3.0)")],
)
def test_a_figure_is_its_median_and_how_far_it_spread(values: list[float], shown: str):
    assert report.spread(values, ".1f") == shown


def test_a_ratio_compares_rounds_that_followed_each_other():
    """The machine may have been busier in one round than in another."""
    measured = {subjects.BALANCE: rounds(60, 120), subjects.PROXY: rounds(80, 160)}

    values = report.cpu_ratio(subjects.BALANCE, subjects.PROXY)(measured)

    assert values == pytest.approx([0.75, 0.75])


def test_a_ratio_to_what_was_not_measured_is_none():
    measured = {subjects.BALANCE: rounds(60)}

    assert report.cpu_ratio(subjects.WORKERS, subjects.BALANCE)(measured) == []


@pytest.mark.parametrize(("balance", "failed"), [(60, []), (100, []), (101, ["R1"])])
def test_a_goal_fails_above_its_limit(balance: float, failed: list[str]):
    measured = {subjects.BALANCE: rounds(balance), subjects.PROXY: rounds(100)}

    assert report.failed(measured) == failed


def test_memory_is_a_goal_too():
    measured = {subjects.BALANCE: rounds(50)}
    measured[subjects.BALANCE].pss_mb = 97.0

    assert report.failed(measured) == ["R14"]
