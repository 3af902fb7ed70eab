"""
Cells: values kept in plain dictionaries, turned into samples only when scraped.

An update costs a look-up and an addition; prometheus-client's own children take
a lock each. Cells are written on the event loop's thread and may be read on any.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import product
from math import prod
from typing import Final

from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

from gateway.telemetry.families import OTHER, Family, Kind, Vocabulary

Key = tuple[str, ...]
"""Label values in the order of the family's labels."""

Cell = list[float]
"""One number, or the buckets of a histogram with the sum behind them."""

_MOST_AT_START: Final = 64


class Admission:
    """Maps label values to their closed sets; what is outside becomes ``_OTHER``."""

    def __init__(self, family: Family, vocabulary: Vocabulary) -> None:
        """Look the sets up once."""
        self._sets = tuple(vocabulary.allowed(label) for label in family.labels)

    def __call__(self, key: Key) -> Key:
        """
        Return the key under which a value is kept.

        Raises:
            ValueError: when there are more or fewer values than labels.
        """
        return tuple(
            value if allowed is None or value in allowed else OTHER
            for value, allowed in zip(key, self._sets, strict=True)
        )

    def every_key(self, at_most: int = _MOST_AT_START) -> list[Key]:
        """List all keys there can be, if they are few and known."""
        known = [sorted(allowed) for allowed in self._sets if allowed is not None]
        if len(known) < len(self._sets) or prod(map(len, known)) > at_most:
            return []
        return list(product(*known))


class Values:
    """
    Numbers of a counter or a gauge.

    A counter with few known keys starts with all of them at zero: an increase
    from nothing to one is invisible to ``increase()``.
    """

    __slots__ = ("_admit", "_cells", "family")

    def __init__(self, family: Family, vocabulary: Vocabulary) -> None:
        """Begin without samples, or at zero (see the class)."""
        self.family = family
        self._admit = Admission(family, vocabulary)
        keys = self._admit.every_key() if family.kind is Kind.COUNTER else []
        self._cells: dict[Key, Cell] = {key: [0.0] for key in keys}

    def cell(self, key: Key) -> Cell:
        """Return the cell of one number, to be kept by whoever updates it often."""
        cell = self._cells.get(key)
        return cell if cell is not None else self._cells.setdefault(self._admit(key), [0.0])

    def add(self, key: Key, by: float = 1.0) -> None:
        """Add to one number."""
        try:
            self._cells[key][0] += by
        except KeyError:
            self.cell(key)[0] += by

    def put(self, key: Key, value: float) -> None:
        """Set one number."""
        self.cell(key)[0] = value

    def get(self, *key: str) -> float:
        """Return one number; zero when nothing was ever told of it."""
        cell = self._cells.get(key)
        return cell[0] if cell is not None else 0.0

    def collect(self) -> Metric:
        """Make the samples of a scrape."""
        kind = CounterMetricFamily if self.family.kind is Kind.COUNTER else GaugeMetricFamily
        metric = kind(self.family.name, self.family.meaning, labels=self.family.label_names)
        for key, cell in self._cells.copy().items():
            metric.add_metric(key, cell[0])
        return metric


class Timings:
    """Observations of a histogram, in seconds."""

    __slots__ = ("_admit", "_bounds", "_cells", "_names", "family")

    def __init__(self, family: Family, vocabulary: Vocabulary) -> None:
        """Begin without observations."""
        self.family = family
        self._admit = Admission(family, vocabulary)
        self._bounds = family.bounds
        self._names = [*map(str, map(float, family.bounds)), "+Inf"]
        self._cells: dict[Key, Cell] = {}

    def cell(self, key: Key) -> Cell:
        """Return the cell of one key, for ``observe_in``."""
        cell = self._cells.get(key)
        if cell is None:
            cell = self._cells.setdefault(self._admit(key), [0.0] * (len(self._bounds) + 2))
        return cell

    def observe(self, key: Key, seconds: float) -> None:
        """Count one observation in its bucket."""
        self.observe_in(self.cell(key), seconds)

    def observe_in(self, cell: Cell, seconds: float) -> None:
        """Count one observation in a cell of ours."""
        cell[bisect_left(self._bounds, seconds)] += 1
        cell[-1] += seconds

    def get(self, *key: str) -> tuple[float, float]:
        """Return how many observations there were and their sum in seconds."""
        cell = self._cells.get(key, [0.0])
        return sum(cell[:-1]), cell[-1]

    def collect(self) -> Metric:
        """Make the samples of a scrape; buckets are cumulative there."""
        metric = HistogramMetricFamily(
            self.family.name, self.family.meaning, labels=self.family.label_names
        )
        for key, cell in self._cells.copy().items():
            *counts, total = cell.copy()
            metric.add_metric(key, self._cumulative(counts), total)
        return metric

    def _cumulative(self, counts: list[float]) -> list[tuple[str, float]]:
        """Pair each bucket's name with the count of it and all below."""
        buckets, so_far = [], 0.0
        for name, count in zip(self._names, counts, strict=True):
            so_far += count
            buckets.append((name, so_far))
        return buckets
