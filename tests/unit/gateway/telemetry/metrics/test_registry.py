"""The series as scraped."""

import gzip
import re
from dataclasses import replace
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, Gauge
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_openmetrics
from prometheus_client.parser import text_string_to_metric_families as read_text

from gateway.banks.port.capabilities import PortCall
from gateway.telemetry.metrics import registry, series
from gateway.telemetry.metrics.families import OTHER, Family
from gateway.telemetry.metrics.registry import MetricRegistry
from gateway.telemetry.metrics.series import SERIES
from tests.world.metrics import INSTANCE, WORDS, samples, shown, timed


@pytest.fixture
def values() -> MetricRegistry:
    return MetricRegistry(INSTANCE, WORDS)


def test_a_used_series_is_scraped(values: MetricRegistry):
    for family in SERIES:
        if family is not series.CONFIG_INFO:
            values.child(family, *keys(family))

    text = values.render()[0].decode()

    missing = [each.name for each in SERIES if f"# TYPE {each.name} {each.kind}\n" not in text]
    assert missing == []


def keys(family: Family[Any]) -> list[str]:
    return [min(WORDS.allowed(label) or {"abc"}) for label in family.labels]


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
def test_prometheus_and_openmetrics_output_can_be_parsed(
    values: MetricRegistry, as_openmetrics, read, content_type
):
    values.child(series.OVERHEAD, "banking.balance").observe(0.003)

    text, named = values.render(as_openmetrics=as_openmetrics)

    found = {family.name: family for family in read(text.decode())}
    buckets = {
        sample.labels["le"]: sample.value
        for sample in found["pixgate_overhead_seconds"].samples
        if sample.name.endswith("_bucket") and sample.labels["route"] == "banking.balance"
    }
    assert named == content_type
    assert (buckets["0.0025"], buckets["0.005"], buckets["+Inf"]) == (0, 1, 1)


def test_exemplars_are_written_in_openmetrics_alone(values: MetricRegistry):
    values.child(series.OVERHEAD, "banking.balance").observe(0.003, "t-1")

    plain, openmetrics = (values.render(as_openmetrics=each)[0] for each in (False, True))

    assert b"t-1" not in plain
    assert b'le="0.005",route="banking.balance"} 1.0 # {trace_id="t-1"} 0.003' in openmetrics


def test_a_compressed_text_is_the_same(values: MetricRegistry, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(values, "registry", CollectorRegistry())
    Gauge("a", "A.", registry=values.registry)

    assert gzip.decompress(values.render(zipped=True)[0]) == values.render()[0]


def test_a_long_scrape_yields_to_other_threads(
    values: MetricRegistry, monkeypatch: pytest.MonkeyPatch
):
    """It would otherwise hold the interpreter while requests wait."""
    slept: list[float] = []
    monkeypatch.setattr(registry, "sleep", slept.append)
    monkeypatch.setattr(values, "registry", CollectorRegistry())
    many = Gauge("many", "Many.", ["number"], registry=values.registry)
    for number in range(120):
        many.labels(number)
    Gauge("one", "One.", registry=values.registry)

    text = values.render()[0]

    assert text.count(b"\nmany{") == 120
    assert slept == [0.0001] * (3 + 1)


def test_a_value_outside_the_allowed_set_adds_no_series(values: MetricRegistry):
    """A caller must not be able to fill memory with label values."""
    for number in range(1000):
        values.child(series.DENIALS, f"made up {number}", "balance").value += 1
        values.child(series.OVERHEAD, f"made up {number}").observe(0.5)

    assert shown(values, series.DENIALS, OTHER, "balance") == 1000
    assert timed(values, series.OVERHEAD, OTHER) == (1000, 500)
    assert b"made up" not in values.render()[0]


def test_a_missing_label_value_raises_an_error(values: MetricRegistry):
    with pytest.raises(ValueError, match="shorter"):
        values.child(series.SHED_REQUESTS, "pages", "loop_lag", "7")


def test_a_family_starts_at_zero_only_when_it_has_few_series(values: MetricRegistry):
    """An increase from nothing to one is invisible to ``increase()``."""
    begun = {
        family.name: len(samples(values, family))
        for family in (
            *(series.AUTH_ATTEMPTS, series.STORE_DURATION, series.EVENT_LOOP_LAG),
            series.REQUESTS,
        )
    }

    assert begun == {
        "pixgate_auth_attempts_total": 3 * 16,
        "pixgate_store_seconds": 2 * (len(series.STORE_DURATION.bounds) + 3),
        "pixgate_event_loop_lag_seconds": len(series.EVENT_LOOP_LAG.bounds) + 3,
        "pixgate_http_requests_total": 0,
    }


def test_each_counter_that_alerts_watch_by_bank_starts_at_zero_with_five_banks():
    """So many adapters there are."""
    banks = frozenset({"sandbox", "woovi", "starkbank", "asaas", "apipix"})
    words = replace(WORDS, provider=banks, operation=frozenset(PortCall))
    values = MetricRegistry(INSTANCE, words)

    begun = [
        family.name
        for family in (series.PROVIDER_REQUESTS, series.PROVIDER_LIMITED, series.ADAPTER_FAULTS)
        if not values.cells(family)
    ]

    assert begun == []


def test_an_unset_gauge_is_absent(values: MetricRegistry):
    """Zero would be a statement."""
    before = b"pixgate_credential_store_up" in values.render()[0]
    values.child(series.CREDENTIAL_STORE_UP).set(0)

    assert not before
    assert b"pixgate_credential_store_up 0.0\n" in values.render()[0]


def test_series_are_added_while_a_scrape_reads(values: MetricRegistry):
    """As for the first request that is answered in some way: the loop does not stop for it."""
    scrape = iter(values.collect())
    while next(scrape).name != "pixgate_errors":
        pass
    cells = values.cells(series.REQUESTS)

    values.child(series.REQUESTS, "banking", "banking.balance", "GET", "200").value += 1

    assert (len(cells), len(values.cells(series.REQUESTS))) == (0, 1)
    assert next(scrape).name == "pixgate_auth_attempts"


def test_a_gauge_callback_is_read_at_each_scrape(values: MetricRegistry):
    """Of a counter that started at zero, too."""
    times = {("address",): 1, ("full",): 0}
    waiting = {(): 2}
    values.read(series.CONNECTIONS_TURNED_AWAY, lambda: times)
    values.read(series.STORE_WAITING, lambda: waiting)
    values.child(series.CONNECTIONS_TURNED_AWAY, "full").value += 7
    before = values.render()[0].decode()
    times["address",] = 3
    waiting.clear()

    text = values.render()[0].decode()

    name = "pixgate_http_connections_turned_away_total"
    assert f'{name}{{reason="address"}} 1.0' in before
    assert f'{name}{{reason="address"}} 3.0' in text
    assert text.count(f"# TYPE {name} counter") == 1
    assert "pixgate_store_connections_waiting 2.0" in before
    assert "pixgate_store_connections_waiting 2.0" not in text


def test_series_with_known_labels_exist_from_the_start(values: MetricRegistry):
    text = values.render()[0].decode()

    labels = 'commit="0123456789ab",environment="sandbox",python="3.+",version="1.2.3"'
    assert re.search(rf"pixgate_build_info\{{{labels}\}} 1", text)
    assert 'pixgate_config_info{digest="abc"} 1.0' in text
    assert "pixgate_routes_loaded 13.0" in text
    assert "pixgate_policies_loaded 5.0" in text
    assert "pixgate_providers_loaded 1.0" in text


def test_two_registries_share_no_series(values: MetricRegistry):
    other = MetricRegistry(INSTANCE, WORDS)

    values.child(series.SHED_REQUESTS, "pages", "loop_lag").value += 1

    assert shown(other, series.SHED_REQUESTS, "pages", "loop_lag") == 0


def test_series_used_in_alerts_start_at_zero(values: MetricRegistry):
    text = values.render()[0].decode()

    assert 'pixgate_payouts_total{method="pix",outcome="intent_failed"} 0.0' in text
    assert 'pixgate_payout_stopped_total{scope="provider"} 0.0' in text
