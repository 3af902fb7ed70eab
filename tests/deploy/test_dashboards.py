"""The dashboards are what Grafana reads, and look at the environment and cluster that is chosen."""

import json
import re
from collections.abc import Iterator
from typing import Any

import yaml
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard

from tests.deploy.dashboards import DASHBOARDS, GRAFANA, panels

CHOSEN = 'environment=~"$environment",cluster=~"$cluster"'
METRIC = re.compile(r"\b(pixgate_\w+|process_\w+|up|ALERTS|scrape_samples_scraped)\b(\{[^}]*\})?")


def test_grafana_s_schema_knows_every_field():
    """What its models do not know they leave out."""
    register_default_plugins()
    unknown = {
        file.name: sorted(lost(dashboard, json.loads(JSONEncoder().encode(read))))
        for file, dashboard in DASHBOARDS.items()
        for read in [Dashboard.from_json(dashboard)]
    }

    assert {name: fields for name, fields in unknown.items() if fields} == {}


def lost(written: Any, read: Any, path: str = "") -> Iterator[str]:
    """Name what was not read as it was written."""
    if isinstance(written, dict) and isinstance(read, dict):
        for name, value in written.items():
            yield from lost(value, read.get(name), f"{path}.{name}")
    elif isinstance(written, list) and isinstance(read, list) and len(written) == len(read):
        for number, (one, other) in enumerate(zip(written, read, strict=True)):
            yield from lost(one, other, f"{path}[{number}]")
    elif written != read:
        yield path


def test_every_query_looks_at_the_environment_and_cluster_that_are_chosen():
    wrong = [
        (title, query)
        for title, query in panels()
        for _, matchers in METRIC.findall(query)
        if not matchers.startswith("{" + CHOSEN)
    ]

    assert wrong == []
    assert all(METRIC.search(query) for _, query in panels())


def test_there_are_six_and_their_panels_can_be_told_apart():
    uids = [each["uid"] for each in DASHBOARDS.values()]
    wanted = ("overview", "requests", "payouts", "banks", "processes", "people")

    assert sorted(uids) == sorted(f"pixgate-{name}" for name in wanted)
    for dashboard in DASHBOARDS.values():
        ids = [panel["id"] for panel in dashboard["panels"]]
        variables = [each["name"] for each in dashboard["templating"]["list"]]
        assert len(ids) == len(set(ids))
        assert variables == ["datasource", "environment", "cluster"]


def test_what_is_provisioned_is_what_the_dashboards_choose_first():
    [file] = (GRAFANA / "provisioning/datasources").iterdir()
    [source] = yaml.safe_load(file.read_text())["datasources"]
    chosen = [each["templating"]["list"][0]["current"]["value"] for each in DASHBOARDS.values()]

    assert {source["uid"]} == {*chosen}
