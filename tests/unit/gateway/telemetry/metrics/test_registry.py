"""The series as scraped."""

import re
from collections.abc import Iterator

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_openmetrics
from prometheus_client.parser import text_string_to_metric_families as read_text

from gateway.telemetry.metrics import registry, series
from gateway.telemetry.metrics.families import Kind
from gateway.telemetry.metrics.registry import MetricRegistry
from gateway.telemetry.metrics.series import SERIES
from tests.unit.gateway.telemetry.metrics.registry import INSTANCE, WORDS


@pytest.fixture
def values() -> MetricRegistry:
    return MetricRegistry(INSTANCE, WORDS)


def test_every_series_is_scraped(values: MetricRegistry):
    text = values.render()[0].decode()

    for family in SERIES:
        assert f"# TYPE {family.name} {family.kind}\n" in text


def test_the_process_and_its_collector_are_scraped(values: MetricRegistry):
    text = values.render()[0].decode()

    assert "process_resident_memory_bytes" in text
    assert "python_gc_collections_total" in text


@pytest.mark.parametrize(
    ("as_openmetrics", "read", "content_type"),
    [
        (False, read_text, "text/plain; version=0.0.4; charset=utf-8"),
        (True, read_openmetrics, "application/openmetrics-text; version=1.0.0; charset=utf-8"),
    ],
    ids=["text", "openmetrics"],
)
def test_both_forms_can_be_read_back(values: MetricRegistry, as_openmetrics, read, content_type):
    values.timings(series.OVERHEAD).observe(("banking.balance",), 0.003)

    text, named = values.render(as_openmetrics=as_openmetrics)

    found = {family.name: family for family in read(text.decode())}
    buckets = {
        sample.labels["le"]: sample.value
        for sample in found["gateway_overhead_seconds"].samples
        if sample.name.endswith("_bucket")
    }
    assert named == content_type
    assert (buckets["0.0025"], buckets["0.005"], buckets["+Inf"]) == (0, 1, 1)


@pytest.mark.parametrize("as_openmetrics", [False, True], ids=["text", "openmetrics"])
def test_every_number_that_was_told_is_read_back(values: MetricRegistry, *, as_openmetrics: bool):
    """Family by family, each under a number of its own."""
    told = {}
    for place, family in enumerate(SERIES, 1):
        key = tuple(min(WORDS.allowed(label) or {"abc"}) for label in family.labels)
        labels = dict(zip(family.label_names, key, strict=True))
        if family.kind is Kind.HISTOGRAM:
            values.timings(family).observe(key, place)
        else:
            values.values(family).put(key, place)
        told[family.name] = (labels, place)

    text = values.render(as_openmetrics=as_openmetrics)[0].decode()

    read = read_openmetrics if as_openmetrics else read_text
    found = [sample for family in read(text) for sample in family.samples]
    for name, (labels, place) in told.items():
        names = {name, f"{name}_sum"}
        [value] = [one.value for one in found if one.name in names and one.labels == labels]
        assert value == place, name


def test_a_scrape_lets_others_run_meanwhile(
    values: MetricRegistry, monkeypatch: pytest.MonkeyPatch
):
    """It holds the interpreter a tenth of a millisecond at most, then sleeps."""
    now, slept = [0.0], []
    monkeypatch.setattr(registry, "sleep", slept.append)
    monkeypatch.setattr(registry, "perf_counter", lambda: now[0])
    pieces = [str(number) for number in range(10)]

    def slowly(_form: object) -> Iterator[str]:
        for piece in pieces:
            now[0] += 0.00006
            yield piece

    monkeypatch.setattr(values, "_written", slowly)

    assert values.render()[0] == b"0123456789"
    assert slept == [0.0001] * 5


def test_what_is_known_at_start_is_there_at_start(values: MetricRegistry):
    text = values.render()[0].decode()

    labels = 'commit="0123456789ab",environment="sandbox",python="3.+",version="1.2.3"'
    assert re.search(rf"pixgate_build_info\{{{labels}\}} 1", text)
    assert 'gateway_config_info{digest="abc"} 1.0' in text
    assert "gateway_routes_loaded 13.0" in text
    assert "gateway_policies_loaded 5.0" in text
    assert "gateway_providers_loaded 1.0" in text


def test_two_instances_share_nothing(values: MetricRegistry):
    other = MetricRegistry(INSTANCE, WORDS)

    values.values(series.SHED_REQUESTS).add(("loop_lag",))

    assert other.values(series.SHED_REQUESTS).get("loop_lag") == 0


def test_what_alerts_watch_starts_at_zero(values: MetricRegistry):
    text = values.render()[0].decode()

    assert 'gateway_payouts_total{method="pix",outcome="intent_failed"} 0.0' in text
    assert 'gateway_payout_stopped_total{scope="provider"} 0.0' in text
