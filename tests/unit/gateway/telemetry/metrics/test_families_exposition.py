"""The text of a scrape, beside what prometheus-client writes of the same values."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.openmetrics.exposition import CONTENT_TYPE_LATEST
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics
from prometheus_client.registry import Collector

from gateway.telemetry.metrics.families import (
    OPENMETRICS,
    PLAIN,
    Family,
    Form,
    Kind,
    Label,
    Timings,
    Values,
    Vocabulary,
    number,
    template,
    written,
)

WORDS = Vocabulary(
    surface=frozenset(),
    route=frozenset(),
    provider=frozenset(),
    operation=frozenset(),
    policy=frozenset(),
)
ODD = ("plain", 'a"quote', "a\\slash", "a\nline", "100%", "%s", "a b", "ação", "\u2028")
LABELS = (Label("zeta", ODD), Label("alpha"))
NUMBERS = (
    *(0.0, 1.0, -1.0, 0.1, 1e-7, 2.5, 123456.0, 999999.0, 999999.5, 1e6, 1234567.0, 1e15, 1e16),
    *(1e22, -1e6, -1e7, 1.7e308, float("inf"), float("-inf"), float("nan")),
)
FORMS: list[tuple[Form, Callable[..., bytes]]] = [
    (PLAIN, generate_latest),
    (OPENMETRICS, generate_openmetrics),
]
BOUNDS = (0.005, 1, 2.5)


class Shown(Collector):
    """Metrics as a collector."""

    def __init__(self, *metrics: Metric) -> None:
        self.metrics = metrics

    def collect(self) -> Iterable[Metric]:
        return self.metrics


def family(kind: Kind) -> Family:
    name = "things_total" if kind is Kind.COUNTER else "things_seconds"
    return Family(name=name, kind=kind, meaning="A\nline, 100% \\.", labels=LABELS, bounds=BOUNDS)


@pytest.fixture(params=[Kind.COUNTER, Kind.GAUGE], ids=str)
def values(request: pytest.FixtureRequest) -> tuple[Values, Metric]:
    """Some values of ours, and the same as the library has them."""
    ours = Values(family(request.param), WORDS)
    kind = CounterMetricFamily if request.param is Kind.COUNTER else GaugeMetricFamily
    theirs = kind(
        "things_total" if kind is CounterMetricFamily else "things_seconds",
        "A\nline, 100% \\.",
        labels=["zeta", "alpha"],
    )
    for place, value in enumerate(NUMBERS):
        key = (ODD[place % len(ODD)], f"{place}")
        ours.put(key, value)
        theirs.add_metric(key, value)
    return ours, theirs


@pytest.mark.parametrize(("form", "library"), FORMS, ids=["plain", "openmetrics"])
def test_values_are_written_as_the_library_writes_them(
    values: tuple[Values, Metric], form: Form, library: Callable[..., bytes]
):
    """Byte for byte, at the first scrape and at the second."""
    ours, theirs = values

    texts = [form.heading(ours.metric()) + "".join(ours.written()) + form.end for _ in range(2)]

    assert texts == [library(Shown(theirs)).decode()] * 2


def test_timings_are_written_as_the_library_writes_them():
    for form, library in FORMS:
        ours = Timings(family(Kind.HISTOGRAM), WORDS)
        theirs = HistogramMetricFamily(
            "things_seconds", "A\nline, 100% \\.", labels=["zeta", "alpha"]
        )
        for word in ODD:
            for seconds in (0.001, 0.005, 0.25, 1.0, 7.0):
                ours.observe((word, "x"), seconds)
            buckets = [("0.005", 2.0), ("1.0", 4.0), ("2.5", 4.0), ("+Inf", 5.0)]
            theirs.add_metric((word, "x"), buckets, 0.001 + 0.005 + 0.25 + 1.0 + 7.0)

        text = form.heading(ours.metric()) + "".join(ours.written()) + form.end

        assert text == library(Shown(theirs)).decode()


def test_a_collector_of_the_library_s_is_written_as_it_writes_it():
    """As the process's own series are."""
    for form, library in FORMS:
        counter = CounterMetricFamily("calls", "Calls.", labels=["generation"])
        counter.add_metric(["0"], 12345678.0)
        shown = Shown(counter, GaugeMetricFamily("open", "Open.", value=3))

        assert written(shown, form) + form.end == library(shown).decode()


def test_the_forms_are_named_as_the_library_names_them():
    assert PLAIN.content_type == CONTENT_TYPE_PLAIN_0_0_4
    assert OPENMETRICS.content_type == CONTENT_TYPE_LATEST


def test_a_template_leaves_a_place_for_each_number():
    metric = GaugeMetricFamily("things", "Things.", labels=["share"])
    metric.add_metric(["50%"], 1.5)

    assert template(metric) % number(7.0) == 'things{share="50%"} 7.0\n'
