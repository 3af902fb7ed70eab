"""Plots: every value has its place, and the picture can be read as XML."""

import re
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest

from bench.svg import Plot, Series


def plot(series: Series) -> Plot:
    """Draw one line."""
    return Plot(title="Cost < of it", across="rows", up="µs", series={"gateway": series})


def circles(drawn: str) -> list[tuple[float, float]]:
    """Find the points."""
    found = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', drawn)
    return [(float(x), float(y)) for x, y in found]


def test_it_is_xml_with_its_words_in_it():
    drawn = plot({10: [1.0], 1_000_000: [2.0]}).written()

    root = ET.fromstring(drawn)  # noqa: S314 - ours
    words = {each.text for each in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"Cost < of it", "rows", "µs", "10", "1M", "● gateway"} <= words


def test_more_is_further_right_by_its_magnitude_and_costlier_is_higher():
    places = circles(plot({1: [1.0], 10: [2.0], 100: [3.0]}).written())

    across = [x for x, _ in places]
    assert across[2] - across[1] == pytest.approx(across[1] - across[0], abs=0.2)
    assert all(higher[1] < lower[1] for lower, higher in pairwise(places))


@pytest.mark.parametrize("series", [{5: [3.0]}, {1: [0.2, 0.4], 512: [99.9]}])
def test_nothing_leaves_the_picture(series: Series):
    for x, y in circles(plot(series).written()):
        assert 64 <= x <= 616
        assert 48 <= y <= 304
