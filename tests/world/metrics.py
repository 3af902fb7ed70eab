"""What a scrape would show, as numbers."""

from __future__ import annotations

from typing import Any

from prometheus_client.samples import Sample

from gateway.telemetry.metrics.families import Family, Vocabulary
from gateway.telemetry.metrics.registry import Instance, MetricRegistry

INSTANCE = Instance(
    version="1.2.3",
    commit="0123456789ab",
    environment="sandbox",
    config_digest="abc",
    routes=13,
    policies=5,
    providers=1,
)
WORDS = Vocabulary(
    surface=frozenset({"banking"}),
    route=frozenset({"banking.balance"}),
    provider=frozenset({"sandbox"}),
    operation=frozenset({"get_balance"}),
    policy=frozenset({"read"}),
)


def shown(metrics: MetricRegistry, family: Family[Any], *key: str) -> float:
    """Return one value of a counter or a gauge; zero when it is missing."""
    return _value(metrics, family, family.name, key)


def timed(metrics: MetricRegistry, family: Family[Any], *key: str) -> tuple[float, float]:
    """Return how many observations there were and their sum in seconds."""
    count, total = (_value(metrics, family, f"{family.name}_{of}", key) for of in ("count", "sum"))
    return count, total


def samples(metrics: MetricRegistry, family: Family[Any]) -> list[Sample]:
    """Return every sample of a family, as a scrape would find them."""
    name = family.name.removesuffix("_total")
    found = (each for each in metrics.registry.collect() if each.name == name)
    return [sample for each in found for sample in each.samples]


def _value(metrics: MetricRegistry, family: Family[Any], name: str, key: tuple[str, ...]) -> float:
    labels = dict(zip(family.label_names, key, strict=True))
    return metrics.registry.get_sample_value(name, labels) or 0.0
