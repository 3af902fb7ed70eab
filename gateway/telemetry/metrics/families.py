"""
A metric family: its name, its labels and its values, as text only when scraped.

Writing every name and label anew takes far longer than writing the numbers, and
meanwhile nothing else of the process runs. The library's module of the
plain form is left alone, for it brings a server along; the samples are the same.

An update costs a look-up and an addition; prometheus-client's own children take
a lock each. Cells are written on the event loop's thread and may be read on any.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate, product
from math import prod
from typing import Final

from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.openmetrics import exposition as openmetrics
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

OTHER: Final = "_OTHER"
"""Stands for every label value outside of its set, so that no caller can add series."""
NONE: Final = "none"
"""Surface and route of a request that never reached one."""


class Kind(StrEnum):
    """The type of a metric."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Label:
    """
    One label.

    Attributes:
        values: Its closed set; None when the set is known at start only (see
            ``Vocabulary``), or when the one value is set by us at start.
    """

    name: str
    values: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """
    One metric as documented.

    Attributes:
        name: With prefix and unit, as scraped.
        joined: How the values of several processes make one: ``sum``, ``max`` or ``min``.
        bounds: Upper bounds of a histogram's buckets, in seconds.
    """

    name: str
    kind: Kind
    meaning: str
    labels: tuple[Label, ...] = ()
    joined: str = "sum"
    bounds: tuple[float, ...] = ()

    @property
    def label_names(self) -> tuple[str, ...]:
        """Names of the labels, in the order in which values are given."""
        return tuple(label.name for label in self.labels)


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """
    The words of this process: label values that rows and configuration decide.

    Attributes:
        operation: Calls of a bank, by the provider port's names.
        policy: Names of the quotas.
    """

    surface: frozenset[str]
    route: frozenset[str]
    provider: frozenset[str]
    operation: frozenset[str]
    policy: frozenset[str]

    def allowed(self, label: Label) -> frozenset[str] | None:
        """Return the closed set of a label; None for a value that we alone set, at start."""
        if label.values is not None:
            return frozenset(label.values)
        words = {
            "surface": self.surface | {NONE},
            "route": self.route | {NONE},
            "provider": self.provider,
            "name": self.provider,
            "operation": self.operation,
            "policy": self.policy,
        }
        return words.get(label.name)


_EXACT: Final = 1e6
"""Below it, a number is written as Python writes it."""
_COUNTER: Final = "counter"


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """
    A form of the text.

    Attributes:
        heading: Writes what stands above the samples of a metric.
        end: What every text ends with.
    """

    content_type: str
    heading: Callable[[Metric], str]
    end: str = ""


class _Alone(Collector):
    """One metric as a collector."""

    def __init__(self, metric: Metric) -> None:
        self._metric = metric

    def collect(self) -> Iterable[Metric]:
        return (self._metric,)


def template(metric: Metric) -> str:
    """Write the samples of a metric with ``%s`` for each number."""
    lines = _lines(metric, comments=False)
    return "".join(f"{line.rpartition(' ')[0].replace('%', '%%')} %s\n" for line in lines)


def written(collector: Collector, form: Form) -> str:
    """Write the samples of a collector, without the end of the text."""
    return "".join(
        form.heading(metric) + "".join(f"{line}\n" for line in _lines(metric, comments=False))
        for metric in collector.collect()
    )


def number(value: float) -> str:
    """Write a number as prometheus-client does."""
    return repr(value) if -_EXACT < value < _EXACT else _far_number(value)


def _far_number(value: float) -> str:
    """Write a large number, an infinity or NaN."""
    return str(floatToGoString(value))  # type: ignore[no-untyped-call] # theirs


def _plain_heading(metric: Metric) -> str:
    """Write it as version 0.0.4 has it: a counter is named like its samples."""
    name = metric.name + "_total" * (metric.type == _COUNTER)
    meaning = metric.documentation.replace("\\", r"\\").replace("\n", r"\n")
    return f"# HELP {name} {meaning}\n# TYPE {name} {metric.type}\n"


def _openmetrics_heading(metric: Metric) -> str:
    """Write it as OpenMetrics has it."""
    return "".join(f"{line}\n" for line in _lines(metric, comments=True))


def _lines(metric: Metric, *, comments: bool) -> list[str]:
    """Return the lines of a metric in OpenMetrics that are comments, or those that are not."""
    text: bytes = openmetrics.generate_latest(_Alone(metric))  # type: ignore[no-untyped-call] # theirs
    lines = text.decode().removesuffix(_END).split("\n")
    return [line for line in lines if line and line.startswith("#") is comments]


_END: Final = "# EOF\n"
PLAIN: Final = Form(content_type="text/plain; version=0.0.4; charset=utf-8", heading=_plain_heading)
OPENMETRICS: Final = Form(
    content_type=openmetrics.CONTENT_TYPE_LATEST, heading=_openmetrics_heading, end=_END
)
Key = tuple[str, ...]
"""Label values in the order of the family's labels."""
Cell = list[float]
"""One number, or the buckets of a histogram with the sum behind them."""
_MOST_AT_START: Final = 64


class Admission:
    """Maps label values to their closed sets; what is outside becomes ``_OTHER``."""

    def __init__(self, family: Family, vocabulary: Vocabulary) -> None:
        """Look up the set of each label once."""
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
        """Start without samples, or at zero (see the class)."""
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

    def put_alone(self, key: Key, value: float) -> None:
        """Set one number, and forget every other one."""
        self._cells = {self._admit(key): [float(value)]}

    def items(self) -> Iterator[tuple[Key, Cell]]:
        """Return every key that was set, with a copy of its cell."""
        return ((key, cell.copy()) for key, cell in self._cells.copy().items())

    def get(self, *key: str) -> float:
        """Return one number; zero when it was never set."""
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
        """Prepare the text of a key's sample, at its first scrape."""
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

    def items(self) -> Iterator[tuple[Key, Cell]]:
        """Return every key that was observed, with a copy of its cell."""
        return ((key, cell.copy()) for key, cell in self._cells.copy().items())

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
        """Prepare the text of a key's samples, at its first scrape."""
        metric = self.metric()
        names = (*map(str, map(float, self._bounds)), "+Inf")
        metric.add_metric(key, [(name, 0.0) for name in names], 0.0)
        return self._templates.setdefault(key, template(metric))
