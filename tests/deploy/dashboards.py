"""The dashboards of deploy/grafana, and what they ask."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
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
            for target in panel["targets"]:
                yield panel["title"], target["expr"]


def queries() -> Iterator[tuple[str, str]]:
    """Give them as Grafana sends them, for one environment and cluster."""
    values = {**PLACE, "__rate_interval": "1m"}
    for title, query in panels():
        for name, value in values.items():
            query = query.replace(f"${name}", value)  # noqa: PLW2901 - one after the other
        yield title, query
