"""Cells beside prometheus-client's own counters, gauges and histograms."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from random import Random
from typing import Any

import prometheus_client
import pytest
from prometheus_client import CollectorRegistry, Metric, disable_created_metrics, generate_latest
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_openmetrics
from prometheus_client.parser import text_string_to_metric_families as read_text

from gateway.telemetry.metrics import cells
from gateway.telemetry.metrics.cells import Counter, Histogram
from gateway.telemetry.metrics.families import Family
from gateway.telemetry.metrics.registry import MetricRegistry
from gateway.telemetry.metrics.series import SERIES
from tests.world.metrics import INSTANCE, WORDS

TWO_BANKS = replace(
    WORDS,
    route=frozenset({"banking.balance", "banking.pix"}),
    provider=frozenset({"sandbox", "woovi"}),
)
OBSERVATIONS = 5_000
FAMILIES = [each for each in SERIES if not each.name.endswith("_info")]


class Both:
    """Makes every observation twice: in cells, and with prometheus-client's own classes."""

    def __init__(self) -> None:
        self.values = MetricRegistry(INSTANCE, TWO_BANKS)
        self.library = CollectorRegistry()
        self._metrics: dict[str, Any] = {}

    def make(self, family: Family[Any]) -> Any:
        """Return the library's metric of a family; made at its first use."""
        if family.name not in self._metrics:
            kind = getattr(prometheus_client, family.metric.__name__)
            more = {"buckets": family.bounds} if family.bounds else {}
            self._metrics[family.name] = kind(
                family.name, family.meaning, family.label_names, registry=self.library, **more
            )
        return self._metrics[family.name]

    def observe(self, family: Family[Any], key: tuple[str, ...], value: float, trace: str) -> None:
        """Add a value to a series, or set it where the family is a gauge."""
        cell, metric = self.values.child(family, *key), self.make(family)
        metric = metric.labels(*key) if key else metric
        if isinstance(cell, Histogram):
            cell.observe(value, trace)
            metric.observe(value, {"trace_id": trace} if trace else None)
        elif isinstance(cell, Counter):
            cell.value += int(value)
            metric.inc(int(value))
        else:
            cell.set(value)
            metric.set(value)


@pytest.fixture
def both(monkeypatch: pytest.MonkeyPatch) -> Both:
    """Start with the series that begin at zero, and stop the clock of exemplars."""
    disable_created_metrics()
    monkeypatch.setattr(cells, "time", lambda: 1_795_132_800.5)
    monkeypatch.setattr("time.time", lambda: 1_795_132_800.5)
    both = Both()
    for family in SERIES:
        if family.kind != "gauge":
            both.make(family)
            for key in both.values.cells(family):
                both.make(family).labels(*key) if key else None
    return both


@pytest.mark.parametrize("as_openmetrics", [False, True], ids=["text", "openmetrics"])
def test_the_same_observations_give_the_same_text(both: Both, *, as_openmetrics: bool):
    """Names, types, help, labels, values and exemplars; only the order of families differs."""
    random = Random(42)
    keys = {each.name: list(product(*map(sorted, words(each)))) for each in FAMILIES}
    for number in range(OBSERVATIONS):
        family = random.choice(FAMILIES)
        edge = random.choice(family.bounds or (7.0,))
        value = random.choice((edge, random.expovariate(1 / edge), 0.0, 2 * edge))
        trace = f"{number:032x}" if random.random() < 0.2 else ""
        both.observe(family, random.choice(keys[family.name]), value, trace)

    theirs = parsed(both.library, as_openmetrics=as_openmetrics)
    ours = parsed(both.values.registry, as_openmetrics=as_openmetrics)

    assert len(theirs) > len(FAMILIES) / 2
    assert {name: ours[name] for name in theirs} == theirs


def words(family: Family[Any]) -> Iterable[frozenset[str]]:
    return [TWO_BANKS.allowed(label) or frozenset({"abc"}) for label in family.labels]


def parsed(registry: CollectorRegistry, *, as_openmetrics: bool) -> dict[str, Any]:
    """Return the families of a text by their names, the samples of each sorted."""
    if as_openmetrics:
        found: Iterable[Metric] = read_openmetrics(generate_openmetrics(registry).decode())
    else:
        found = read_text(generate_latest(registry).decode())
    return {
        each.name: (each.type, each.documentation, each.unit, sorted(map(repr, each.samples)))
        for each in found
    }


def test_a_histogram_bucket_includes_its_upper_bound():
    histogram = Histogram((0.1, 1))
    for seconds in (0.1, 0.100001, 1.0, 1.1):
        histogram.observe(seconds)

    assert histogram.counts == [1, 2, 1]
    assert histogram.buckets() == [("0.1", 1), ("1.0", 3), ("+Inf", 4)]


def test_a_bucket_keeps_the_last_trace_id_as_its_exemplar(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cells, "time", lambda: 5.0)
    histogram = Histogram((1,))
    for seconds, trace_id in ((0.5, "a"), (0.6, "b"), (0.7, ""), (2.0, "")):
        histogram.observe(seconds, trace_id)

    assert histogram.buckets() == [("1.0", 3, ({"trace_id": "b"}, 0.6, 5.0)), ("+Inf", 4)]
