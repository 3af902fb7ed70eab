"""The metrics of one process: cells that prometheus-client writes down at a scrape."""

from __future__ import annotations

import gzip
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from time import sleep
from typing import Any, Final, cast

from prometheus_client import (
    CONTENT_TYPE_PLAIN_0_0_4,
    CollectorRegistry,
    GCCollector,
    Metric,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)
from prometheus_client.openmetrics import exposition as openmetrics
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

from gateway.telemetry.metrics import series
from gateway.telemetry.metrics.cells import Counter, Gauge, Histogram
from gateway.telemetry.metrics.families import OTHER, Child, Family, Key, Vocabulary
from gateway.telemetry.metrics.series import SERIES

MOST_AT_START: Final = 1500
"""Lines of one metric: the calls of five banks by outcome, but not every status of every row."""
_MOST_KNOWN: Final = 4096
"""Found again without a look; a caller who makes up label values fills no memory."""
_AT_ONCE: Final = 50
"""Samples that a scrape writes in one go: half a millisecond."""
_A_MOMENT_S: Final = 0.0001
"""How long it sleeps then, in seconds."""

Read = Callable[[], Mapping[Key, float]]
"""Returns a figure's values as they are now; called on the thread of a scrape."""
Cell = Counter | Gauge | Histogram


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """The running version; ``routes``, ``policies`` and ``providers`` count the loaded ones."""

    version: str
    commit: str
    environment: str
    config_digest: str
    routes: int
    policies: int
    providers: int


class MetricRegistry(Collector):
    """
    The metrics of one process, in a registry of its own.

    A counter or histogram starts at zero with every combination of its label
    values, as long as these are few: ``increase()`` does not see the first value
    of a series. A gauge is absent until it is set, for zero would be a statement.

    Attributes:
        registry: Holds all series, and the process's own.
    """

    def __init__(self, instance: Instance, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self._digest = instance.config_digest
        self.registry = CollectorRegistry(auto_describe=False)
        self._allowed = {
            family.name: [vocabulary.allowed(label) for label in family.labels] for family in SERIES
        }
        self._cells: dict[str, dict[Key, Cell]] = {}
        self._known: dict[tuple[str, Key], Cell] = {}
        self._reads: dict[str, Read] = {}
        self.registry.register(self)
        for family in SERIES:
            if family.metric is not Gauge:
                self._start(family)
        ProcessCollector(registry=self.registry)
        GCCollector(registry=self.registry)
        self._introduce(instance)

    def child(self, family: Family[Child], *values: str) -> Child:
        """
        Return the metric of some label values.

        A label value outside of its closed set becomes ``_OTHER``.

        Raises:
            ValueError: when there are more or fewer values than labels.
        """
        known = self._known.get((family.name, values))
        if known is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            known = self._known[family.name, values] = self._find(family, values)
        return cast("Child", known)

    def _find(self, family: Family[Any], values: Key) -> Cell:
        key = tuple(
            value if allowed is None or value in allowed else OTHER
            for value, allowed in zip(values, self._allowed[family.name], strict=True)
        )
        cells = self._cells.setdefault(family.name, {})
        if key not in cells:
            cells[key] = family.begin()
        return cells[key]

    def read(self, family: Family[Counter] | Family[Gauge], read: Read) -> None:
        """Read a metric's values with every scrape, instead of keeping them."""
        self._reads[family.name] = read

    def cells(self, family: Family[Child]) -> Mapping[Key, Child]:
        """Return the series of a metric by their label values."""
        cells = cast("dict[Key, Child]", self._cells.get(family.name, {}))
        return cells.copy()  # in one step: others are added while a scrape reads

    def collect(self) -> Iterator[Metric]:
        """Yield every metric that has begun, for prometheus-client."""
        for family in SERIES:
            read = self._reads.get(family.name)
            if read is not None:
                yield _written(family, read())
            elif family.name not in self._cells:
                continue
            elif family.metric is Histogram:
                yield _histogram(family, self.cells(family))
            else:
                cells = self.cells(family)
                yield _written(family, {key: cell.value for key, cell in cells.items()})

    def change_digest(self, digest: str) -> None:
        """Show that another configuration is in force."""
        self._digest = digest

    def render(self, *, as_openmetrics: bool = False, zipped: bool = False) -> tuple[bytes, str]:
        """
        Render all series; return the page with its content type.

        To be called in a thread: it sleeps again and again, for a moment, so
        that the event loop is not blocked meanwhile. Exemplars are written
        in OpenMetrics alone.
        """
        paced = _Paced(self.registry)
        if as_openmetrics:
            text: bytes = openmetrics.generate_latest(paced)  # type: ignore[no-untyped-call] # theirs
            content_type = openmetrics.CONTENT_TYPE_LATEST
        else:
            text, content_type = generate_latest(paced), CONTENT_TYPE_PLAIN_0_0_4
        return gzip.compress(text) if zipped else text, content_type

    def _start(self, family: Family[Any]) -> None:
        """Begin a metric with all its series, if they are few."""
        cells: dict[Key, Cell] = {}
        self._cells[family.name] = cells
        allowed = [sorted(each or ()) for each in self._allowed[family.name]]
        lines = len(family.bounds) + 3 if family.bounds else 1  # +Inf, count and sum
        if lines * prod(map(len, allowed)) <= MOST_AT_START:
            cells.update((key, family.begin()) for key in product(*allowed))

    def _introduce(self, instance: Instance) -> None:
        build = (instance.version, instance.commit, platform.python_version(), instance.environment)
        self.child(series.BUILD_INFO, *build).set(1)
        self.read(series.CONFIG_INFO, lambda: {(self._digest,): 1})
        self.child(series.ROUTES_LOADED).set(instance.routes)
        self.child(series.POLICIES_LOADED).set(instance.policies)
        self.child(series.PROVIDERS_LOADED).set(instance.providers)


def _written(family: Family[Any], values: Mapping[Key, float]) -> Metric:
    kind = CounterMetricFamily if family.metric is Counter else GaugeMetricFamily
    metric = kind(family.name, family.meaning, labels=family.label_names)
    for key, value in values.items():
        metric.add_metric(key, value)
    return metric


def _histogram(family: Family[Histogram], cells: Mapping[Key, Histogram]) -> Metric:
    metric = HistogramMetricFamily(family.name, family.meaning, labels=family.label_names)
    for key, cell in cells.items():
        metric.add_metric(key, cell.buckets(), cell.total)
    return metric


class _Paced(Collector):
    """
    A registry whose scrape sleeps between samples, so that the event loop runs meanwhile.

    Without it requests wait some 5 ms for the interpreter again and again, for as long as
    thousands of lines take.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def collect(self) -> Iterable[Metric]:
        for metric in self._registry.collect():
            metric.samples = cast("list[Sample]", _slowly(metric.samples))
            yield metric


def _slowly(samples: Iterable[Sample]) -> Iterator[Sample]:
    for number, sample in enumerate(samples):
        if number % _AT_ONCE == 0:
            sleep(_A_MOMENT_S)
        yield sample
