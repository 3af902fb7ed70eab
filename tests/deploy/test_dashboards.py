"""The dashboards are what Grafana reads, and look at the environment and cluster that is chosen."""

import json
import math
import re
from collections.abc import Iterator
from typing import Any

import yaml
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard

from gateway.telemetry.metrics.series import REQUEST_DURATION
from tests.deploy.dashboards import DASHBOARDS, GRAFANA, judged, runbook_of
from tests.deploy.exporters import FOREIGN
from tests.deploy.rule_cases import PLACE, ROOT, RULES, written_out

CHOSEN = 'environment=~"$environment",cluster=~"$cluster"'
OURS = r"pixgate_\w+|pixgate:\w+:\w+|process_\w+|ALERTS\w*"
METRIC = re.compile(rf"\b({OURS}|{'|'.join(FOREIGN)})\b(\{{[^}}]*\}})?")
PROCESSES = {"requests", "processes"}
"""Dashboards of processes; figures of the store are shown by the one process that looks them up."""
OF_PROMETHEUS = {"titleFormat", "useValueForTime", "step"}
"""Fields of an annotation that are Grafana's Prometheus plugin's, not the dashboard's."""
NOT_JUDGED = {
    "Calls by outcome": "rates of every outcome; Share that fails is judged",
    "Callbacks by result": "rates of every result, as many as banks send",
    "Payouts a minute": "rates of every outcome",
    "Outcomes of payout requests": "rates of every outcome",
    "Ended, by bank and state": "rates of every state",
    "Accepted minus ended, last hour": "grows with the traffic",
    "Codes of second factors": "rates of every result",
    "Tokens refreshed": "rates of every result",
    "Known callers not let through": "rates of every reason",
    "Events of the audit log": "a number that grows",
    "Connections of the pool": "beside their limit; Fullest pool is judged",
    "Connections of PostgreSQL": "beside their limit; their share is judged",
    "Configurations in force": "one line a digest: two lines are a drift",
    "Held for a first payee, last hour": "as many as the rule holds",
    "Endpoints by state": "a rise of paused ones is what counts",
    "Rows, policies, providers": "a change is what counts",
    "Ten busiest routes": "rates of every route",
    "Our own part by route, mean": "a route may be slow by its nature",
    "Duration of payout requests": "a heat map",
    "Limited by quota, share": "a partner's affair",
    "Credentials refused": "rates of every result",
    "Answers of the proxy": "rates of every class",
}
"""Panels whose figures no alert compares as they are shown."""
ANY_AT_ALL = {
    "Error budget left of 30 days",
    "Failed by us, a minute",
    "Failed by banks, a minute",
    "Partners hurt now",
    "5xx of the proxy itself",
}
"""Red before an alert fires: alerts wait for a share, an on-call looks at each failure."""


def test_grafana_s_schema_has_every_field():
    """Fields unknown to its models are dropped; empty values may be written differently."""
    register_default_plugins()
    unknown = {
        file.name: sorted(
            path
            for path in lost(dashboard, json.loads(JSONEncoder().encode(read)))
            if not (path.startswith(".annotations.") and path.rpartition(".")[2] in OF_PROMETHEUS)
        )
        for file, dashboard in DASHBOARDS.items()
        for read in [Dashboard.from_json(dashboard)]
    }

    assert {name: fields for name, fields in unknown.items() if fields} == {}


def lost(written: Any, read: Any, path: str = "") -> Iterator[str]:
    if isinstance(written, dict) and isinstance(read, dict):
        for name, value in written.items():
            yield from lost(value, read.get(name), f"{path}.{name}")
    elif isinstance(written, list) and isinstance(read, list) and len(written) == len(read):
        for number, (one, other) in enumerate(zip(written, read, strict=True)):
            yield from lost(one, other, f"{path}[{number}]")
    elif written != read:
        yield path


def test_every_query_filters_by_the_chosen_values():
    """By environment and cluster, and where processes are shown, by process."""
    wrong = [
        (title, query)
        for file, title, query in asked()
        for name, matchers in METRIC.findall(query)
        if not matchers.startswith("{" + CHOSEN + (OF_ONE if is_of_one(file, name) else ""))
    ]

    assert wrong == []
    assert all(METRIC.search(query) for _, _, query in asked())


OF_ONE = ',instance=~"$instance"'


def is_of_one(file: str, name: str) -> bool:
    return file in PROCESSES and name not in {"ALERTS", "ALERTS_FOR_STATE"}


def asked() -> Iterator[tuple[str, str, str]]:
    """Give every query of every panel, with its dashboard and title."""
    for file, dashboard in DASHBOARDS.items():
        for panel in dashboard["panels"]:
            for target in panel.get("targets", []):
                yield file.stem, panel["title"], target["expr"]


def test_there_are_seven_dashboards_with_distinct_panels():
    uids = [each["uid"] for each in DASHBOARDS.values()]
    wanted = ("overview", "requests", "payouts", "banks", "processes", "people", "edge")

    assert sorted(uids) == sorted(f"pixgate-{name}" for name in wanted)
    for file, dashboard in DASHBOARDS.items():
        ids = [panel["id"] for panel in dashboard["panels"]]
        variables = [each["name"] for each in dashboard["templating"]["list"]]
        instance = ["instance"] if file.stem in PROCESSES else []
        panel = ["panel"] if "${panel}" in file.read_text() else []
        assert len(ids) == len(set(ids))
        assert variables == ["datasource", *PLACE, *instance, "runbooks", *panel]


def test_panels_do_not_overlap():
    for file, dashboard in DASHBOARDS.items():
        taken = [
            (x, y)
            for panel in dashboard["panels"]
            for at in [panel["gridPos"]]
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        ]
        assert len(taken) == len(set(taken)), file.name
        assert max(x for x, _ in taken) < 24


def test_a_figure_with_an_alert_has_thresholds_and_a_link_to_the_runbook():
    """A figure shows whether it is good; NOT_JUDGED gives the reason for those that do not."""
    watched = {name for rule in RULES for name, _ in METRIC.findall(written_out(rule["expr"]))}
    bare = {
        panel["title"]
        for dashboard in DASHBOARDS.values()
        for panel in dashboard["panels"]
        if panel["type"] == "stat" or watched & metrics_of(panel)
        if not (judged(panel) and runbook_of(panel))
    }

    assert bare == set(NOT_JUDGED)


def metrics_of(panel: dict[str, Any]) -> set[str]:
    return {
        name
        for target in panel.get("targets", [])
        for name, _ in METRIC.findall(written_out(target["expr"]))
    }


def test_every_alert_has_a_panel_that_leads_to_its_section():
    led = {
        name
        for dashboard in DASHBOARDS.values()
        for panel in dashboard["panels"]
        for name in runbook_of(panel)
    }

    assert led == {rule["alert"].lower() for rule in RULES}


def test_thresholds_are_drawn_in_every_panel_that_has_them():
    """A threshold that is not drawn is not seen."""
    hidden = [
        panel["title"]
        for dashboard in DASHBOARDS.values()
        for panel in dashboard["panels"]
        if judged(panel) and not is_shown(panel)
    ]

    assert hidden == []


def is_shown(panel: dict[str, Any]) -> bool:
    defaults = panel["fieldConfig"]["defaults"]
    if panel["type"] == "timeseries":
        return defaults["custom"]["thresholdsStyle"]["mode"] == "line+area"
    coloured = defaults["color"] == {"mode": "thresholds"}
    return coloured and (panel["type"] != "stat" or panel["options"]["colorMode"] == "background")


def test_a_panel_is_red_when_one_of_its_alerts_fires():
    """At the same number, or at the remaining one, in days or as a whole."""
    wrong = [
        (panel["title"], values)
        for dashboard in DASHBOARDS.values()
        for panel in dashboard["panels"]
        if (values := judged(panel)) and panel["title"] not in ANY_AT_ALL
        if not any(meets(value, numbers(name)) for value in values for name in runbook_of(panel))
    ]

    assert wrong == []


BY_ANCHOR = {rule["alert"].lower(): rule for rule in RULES}


def numbers(anchor: str) -> set[float]:
    products = re.findall(r"(?:[<>]=?|==) ([\d.]+(?: \* [\d.]+)*)", BY_ANCHOR[anchor]["expr"])
    return {math.prod(map(float, product.split(" * "))) for product in products}


def meets(value: float, wanted: set[float]) -> bool:
    """Whole figures above 0 begin at 1; shares are shown as what is left; counts of 10 minutes."""
    shown = {value, 1 - value, value * 86400, value * 600}
    one = {0.0} if value in {1, 0.001} else set()
    return any(math.isclose(each, other, abs_tol=1e-9) for each in shown | one for other in wanted)


def test_every_dashboard_has_annotations_filtered_by_the_chosen_values():
    for dashboard in DASHBOARDS.values():
        marks = dashboard["annotations"]["list"]
        assert [each["name"] for each in marks] == ["Deployments", "Configurations read"]
        for mark in marks:
            assert mark["useValueForTime"] == "on"
            assert all(of.startswith("{" + CHOSEN) for _, of in METRIC.findall(mark["expr"]))


def test_durations_of_requests_show_the_traces_of_slow_ones():
    """The only histogram with exemplars; the data source names where traces are read."""
    shown = {
        target.get("exemplar", False)
        for dashboard in DASHBOARDS.values()
        for panel in dashboard["panels"]
        if panel["type"] == "timeseries"
        for target in panel["targets"]
        if f"{REQUEST_DURATION.name}_bucket" in target["expr"]
    }
    [file] = (GRAFANA / "provisioning/datasources").iterdir()
    [source] = yaml.safe_load(file.read_text())["datasources"]
    [trace] = source["jsonData"]["exemplarTraceIdDestinations"]
    pages = (ROOT / "gateway/traces/pages.py").read_text()

    assert shown == {True}
    assert trace["name"] == "trace_id"
    assert trace["url"].endswith("/panel/trace/$${__value.raw}")
    assert '"/panel/trace/{trace_id}"' in pages


def test_the_provisioned_data_source_is_the_dashboards_default():
    [file] = (GRAFANA / "provisioning/datasources").iterdir()
    [source] = yaml.safe_load(file.read_text())["datasources"]
    chosen = [each["templating"]["list"][0]["current"]["value"] for each in DASHBOARDS.values()]

    assert {source["uid"]} == {*chosen}
