"""The dashboards of deploy/grafana, and what they ask."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.deploy.rule_cases import PLACE, ROOT

GRAFANA = ROOT / "deploy/grafana"
DASHBOARDS: Mapping[Path, dict[str, Any]] = {
    file: json.loads(file.read_text()) for file in sorted((GRAFANA / "dashboards").glob("*.json"))
}


def panels() -> Iterator[tuple[str, str]]:
    """Give the title of every panel, with each of its queries as it is written."""
    for dashboard in DASHBOARDS.values():
        for panel in dashboard["panels"]:
            for target in panel.get("targets", []):
                yield panel["title"], target["expr"]


def variables() -> Iterator[tuple[str, str, str]]:
    """Give every variable whose values are a label's: its name, the series and the label."""
    for dashboard in DASHBOARDS.values():
        for each in dashboard["templating"]["list"]:
            found = re.fullmatch(r"label_values\((.+), (\w+)\)", each["query"])
            if found:
                yield each["name"], filled(found[1]), found[2]


def judged(panel: Mapping[str, Any]) -> Sequence[float]:
    """Return the values at which a panel changes its colour; none where it does not."""
    defaults = panel.get("fieldConfig", {"defaults": {}})["defaults"]  # a row has none
    steps = defaults.get("thresholds", {"steps": []})["steps"]
    return [step["value"] for step in steps if step["value"] is not None]


def runbook_of(panel: Mapping[str, Any]) -> Sequence[str]:
    place = "${runbooks}#"
    urls = (link["url"] for link in panel.get("links", []))
    return [url.removeprefix(place) for url in urls if url.startswith(place)]


def queries() -> Iterator[tuple[str, str]]:
    """Give them and those of marks as Grafana sends them, for one environment and cluster."""
    return ((title, filled(query)) for title, query in (*panels(), *marks()))


def marks() -> Iterator[tuple[str, str]]:
    """Give the name of every kind of mark in the panels, with its query."""
    for dashboard in DASHBOARDS.values():
        for mark in dashboard["annotations"]["list"]:
            yield mark["name"], mark["expr"]


def filled(query: str) -> str:
    for name, value in {**PLACE, "instance": ".*", "__rate_interval": "1m"}.items():
        query = query.replace(f"${name}", value)
    return query
