"""The values of every series of one process, and the text they are scraped as."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter, sleep
from typing import Final

from prometheus_client.gc_collector import GCCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import CollectorRegistry

from gateway.telemetry.metrics import series
from gateway.telemetry.metrics.families import (
    OPENMETRICS,
    PLAIN,
    Family,
    Form,
    Kind,
    Timings,
    Values,
    Vocabulary,
    written,
)
from gateway.telemetry.metrics.series import SERIES

_A_MOMENT_S: Final = 0.0001
"""How long a scrape writes in one go, and how long it sleeps then, in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """What is running; ``routes``, ``policies`` and ``providers`` count what was loaded."""

    version: str
    commit: str
    environment: str
    config_digest: str
    routes: int
    policies: int
    providers: int


class MetricRegistry:
    """
    The values of one process, in a registry of its own.

    ``values`` and ``timings`` hand out the cells of a series; whoever updates
    one per request keeps them instead of asking each time.
    """

    def __init__(self, instance: Instance, vocabulary: Vocabulary) -> None:
        """Begin with what is known at start."""
        self.vocabulary = vocabulary
        self._values = {
            family.name: Values(family, vocabulary)
            for family in SERIES
            if family.kind is not Kind.HISTOGRAM
        }
        self._timings = {
            family.name: Timings(family, vocabulary)
            for family in SERIES
            if family.kind is Kind.HISTOGRAM
        }
        self._headings: dict[str, list[str]] = {}
        self._process = CollectorRegistry(auto_describe=False)
        ProcessCollector(registry=self._process)
        GCCollector(registry=self._process)
        self._introduce(instance)

    def values(self, family: Family) -> Values:
        """Return the cells of a counter or gauge."""
        return self._values[family.name]

    def timings(self, family: Family) -> Timings:
        """Return the cells of a histogram."""
        return self._timings[family.name]

    def change_digest(self, digest: str) -> None:
        """Show that another configuration is in force."""
        self.values(series.CONFIG_INFO).put_alone((digest,), 1)

    def render(self, *, as_openmetrics: bool = False) -> tuple[bytes, str]:
        """
        Write everything down; return it with its content type.

        To be called in a thread: it sleeps again and again, for a moment, so
        that the event loop does not stand still meanwhile.
        """
        form = OPENMETRICS if as_openmetrics else PLAIN
        pieces, began = [], perf_counter()
        for piece in self._written(form):
            pieces.append(piece)
            if perf_counter() - began > _A_MOMENT_S:
                sleep(_A_MOMENT_S)
                began = perf_counter()
        return "".join((*pieces, form.end)).encode(), form.content_type

    def _written(self, form: Form) -> Iterator[str]:
        """Write every series in order, then the metrics of the process itself."""
        families = [self._values.get(each.name) or self._timings[each.name] for each in SERIES]
        headings = self._headings.get(form.content_type)
        if headings is None:
            headings = [form.heading(family.metric()) for family in families]
            self._headings[form.content_type] = headings
        for heading, family in zip(headings, families, strict=True):
            yield heading
            yield from family.written()
        yield written(self._process, form)

    def _introduce(self, instance: Instance) -> None:
        """Set the values that never change."""
        build = (instance.version, instance.commit, platform.python_version(), instance.environment)
        self.values(series.BUILD_INFO).put(build, 1)
        self.values(series.CONFIG_INFO).put((instance.config_digest,), 1)
        self.values(series.ROUTES_LOADED).put((), instance.routes)
        self.values(series.POLICIES_LOADED).put((), instance.policies)
        self.values(series.PROVIDERS_LOADED).put((), instance.providers)
