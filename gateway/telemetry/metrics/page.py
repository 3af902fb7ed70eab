"""The documentation page of all series, written from the series themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from gateway.telemetry.metrics.cells import Gauge
from gateway.telemetry.metrics.families import Family, Label
from gateway.telemetry.metrics.registry import MOST_AT_START
from gateway.telemetry.metrics.series import REQUEST_DURATION, SERIES, WORST_CREDENTIALS


def describe_metrics() -> str:
    """Write the page of all series, in Markdown."""
    return "\n".join(
        [
            *_PAGE,
            "| Metric | Type | Labels | Meaning |",
            "| --- | --- | --- | --- |",
            *map(_row, SERIES),
            "",
            "| Label | Of | Values |",
            "| --- | --- | --- |",
            *_label_rows(),
            "",
        ]
    )


# ruff: noqa: E501 - each text is a line of the page
_PAGE: Final = (
    "# Metrics",
    "",
    "Written by the gateway from its own series; do not edit.",
    "",
    "Scraped from `/metrics` of the operations listener. Each process counts for itself: in queries,",
    "add up the counters and histograms of several processes; for a gauge, its type names the function.",
    "Durations are in seconds. The usual `process_*` and `python_gc_*` series are there too.",
    "",
    "A label's values are a closed set. Other values are counted as `_OTHER`, so callers cannot add",
    f"series. Counters and histograms of at most {MOST_AT_START:,} lines start at 0 with every combination of",
    "their labels, so that `increase()` sees the first event. Gauges are absent until they are set.",
    f"Only `{WORST_CREDENTIALS.name}` names credentials and companies, by their ids: forty series",
    "of a process at most, which change with the refused callers.",
    "",
    "An answer of `/metrics` is kept for 5 seconds, so events may show up that much later. Figures",
    "that are looked up in the store (sessions, approvals, keys, mailbox, what is due) are up to 15",
    "seconds older.",
    "The answer is compressed with gzip and written in OpenMetrics where the request accepts these.",
    f"In OpenMetrics the buckets of `{REQUEST_DURATION.name}` have an exemplar: the",
    "`trace_id` of the last request in that bucket that took 250 ms or more or was answered with an",
    "error, where the id has at most 64 characters.",
    "",
)

_KNOWN_AT_START: Final = {
    "surface": "names of the surfaces, `none`",
    "route": "names of the routes, `none`",
    "provider": "names of the configuration",
    "name": "names of the providers",
    "operation": "calls of the provider port",
    "policy": "names of the quotas",
    "event": "actions of the audit log",
    "credential": "ids of credentials",
    "company": "ids of companies",
}
_LONGEST_LIST: Final = 16


def _label_rows() -> Iterator[str]:
    """Write the table of labels; a name with several sets of values has one line for each."""
    owners: dict[tuple[str, str], list[str]] = {}
    for family in SERIES:
        for label in family.labels:
            owners.setdefault((label.name, _values_of(label)), []).append(f"`{family.name}`")
    names = [name for name, _ in owners]
    for (name, values), families in sorted(owners.items()):
        of = ", ".join(families) if names.count(name) > 1 else "every metric that has it"
        yield f"| `{name}` | {of} | {values} |"


def _row(family: Family[Any]) -> str:
    kind = family.kind + (f" ({family.joined})" if family.metric is Gauge else "")
    labels = ", ".join(f"`{name}`" for name in family.label_names) or "-"
    return f"| `{family.name}` | {kind} | {labels} | {family.meaning} |"


def _values_of(label: Label) -> str:
    """Write a label's values; of a long list the ends."""
    if label.values is None:
        return _KNOWN_AT_START.get(label.name, "one, set at start")
    shown = [f"`{value}`" for value in label.values]
    return ", ".join(shown) if len(shown) <= _LONGEST_LIST else f"{shown[0]} to {shown[-1]}"
