"""
Cells: values kept in plain dictionaries, turned into text only when scraped.

An update costs a look-up and an addition; prometheus-client's own children take
a lock each. Cells are written on the event loop's thread and may be read on any.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate, product
from math import prod
from typing import Final

from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)

from gateway.telemetry.metrics.exposition import number, template
from gateway.telemetry.metrics.families import OTHER, Family, Kind, Vocabulary

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

    __slots__ = ("_admit", "_cells", "_templates", "family")

    def __init__(self, family: Family, vocabulary: Vocabulary) -> None:
        """Begin without samples, or at zero (see the class)."""
        self._templates: dict[Key, str] = {}
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
        self.cell(key)[0] = float(value)

    def get(self, *key: str) -> float:
        """Return one number; zero when nothing was ever told of it."""
        cell = self._cells.get(key)
        return cell[0] if cell is not None else 0.0

    def metric(self) -> CounterMetricFamily | GaugeMetricFamily:
        """Make the metric without samples."""
        kind = CounterMetricFamily if self.family.kind is Kind.COUNTER else GaugeMetricFamily
        return kind(self.family.name, self.family.meaning, labels=self.family.label_names)

    def written(self) -> Iterator[str]:
        """Write the samples of a scrape, a piece for each key."""
        for key, cell in self._cells.copy().items():
            line = self._templates.get(key) or self._template(key)
            yield line % number(cell[0])

    def _template(self, key: Key) -> str:
        """Write what does not change of a key's sample, at its first scrape."""
        metric = self.metric()
        metric.add_metric(key, 0.0)
        return self._templates.setdefault(key, template(metric))


class Timings:
    """Observations of a histogram, in seconds."""

    __slots__ = ("_admit", "_bounds", "_cells", "_templates", "family")

    def __init__(self, family: Family, vocabulary: Vocabulary) -> None:
        """Begin without observations."""
        self._templates: dict[Key, str] = {}
        self.family = family
        self._admit = Admission(family, vocabulary)
        self._bounds = family.bounds
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

    def metric(self) -> HistogramMetricFamily:
        """Make the metric without samples."""
        return HistogramMetricFamily(
            self.family.name, self.family.meaning, labels=self.family.label_names
        )

    def written(self) -> Iterator[str]:
        """Write the samples of a scrape, a piece for each key; buckets are cumulative there."""
        for key, cell in self._cells.copy().items():
            lines = self._templates.get(key) or self._template(key)
            *counts, total = cell.copy()
            buckets = [*accumulate(counts)]
            yield lines % (*map(number, buckets), number(buckets[-1]), number(total))

    def _template(self, key: Key) -> str:
        """Write what does not change of a key's samples, at its first scrape."""
        metric = self.metric()
        names = (*map(str, map(float, self._bounds)), "+Inf")
        metric.add_metric(key, [(name, 0.0) for name in names], 0.0)
        return self._templates.setdefault(key, template(metric))
