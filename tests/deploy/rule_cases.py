"""
When every alert fires and when it is silent: ``rules/*.yaml``, as promtool wants it.

A case says after how long (``fires: 20m`` or ``silent: 20m``), which series there are in
promtool's notation, and which labels a firing alert has beyond those of its rule. What the rule
says of itself, its labels and annotations, is taken from there and not repeated. Every series has
the labels of ``PLACE``, as scraping adds them, unless it names an environment of its own, and every
alert must keep them. Many zeros are ``0+0x20``: promtool reads ``0x20`` as one hexadecimal number.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
ALERTS = ROOT / "deploy/alerts.yaml"
FOLDER = Path(__file__).parent / "rules"

_READ: list[dict[str, Any]] = [
    rule for group in yaml.safe_load(ALERTS.read_text())["groups"] for rule in group["rules"]
]
RULES = [rule for rule in _READ if "alert" in rule]
RECORDS = [rule for rule in _READ if "record" in rule]
"""Series that Prometheus makes of others, for alerts and dashboards."""
PLACE: Mapping[str, str] = {"environment": "production", "cluster": "sa-1"}
RUNBOOKS = "https://pages.example/runbook"
_HEXADECIMAL = re.compile(r"(?:^| )-?0x")
_LABEL = re.compile(r"\{\{ \$labels\.(\w+) \}\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """
    One look at one alert.

    Attributes:
        at: After how long, such as ``20m``; ``every`` is the time between values.
        labels: Of the alert that fires, beyond those of its rule and of ``PLACE``; one that is
            empty is not there.
    """

    alert: str
    fires: bool
    at: str
    series: Mapping[str, str]
    labels: Mapping[str, str] = field(default_factory=dict)
    every: str = "1m"

    def __str__(self) -> str:
        return f"{self.alert} {'fires' if self.fires else 'silent'} at {self.at}"


def cases() -> list[Case]:
    return [
        _case(alert, dict(said))
        for file in sorted(FOLDER.glob("*.yaml"))
        for alert, listed in yaml.safe_load(file.read_text()).items()
        for said in listed
    ]


def written(folder: Path, those: Iterable[Case]) -> list[Path]:
    """Write files for promtool, each of one alert alone: it evaluates every rule at every step."""
    return [file for rule in RULES for file in _written(folder, rule, those)]


def written_out(expression: str) -> str:
    for rule in reversed(RECORDS):  # a later one may rest on an earlier one
        expression = expression.replace(rule["record"], f"({rule['expr']})")
    return expression


def _records(expression: str) -> list[Mapping[str, Any]]:
    """Return the recorded series that an expression rests on, in their order."""
    used: list[Mapping[str, Any]] = []
    for rule in reversed(RECORDS):
        if any(rule["record"] in each for each in (expression, *(own["expr"] for own in used))):
            used.insert(0, rule)
    return used


def _written(folder: Path, rule: Mapping[str, Any], those: Iterable[Case]) -> Iterator[Path]:
    """Write the rule, and promtool's cases for it; JSON is YAML."""
    alert = rule["alert"]
    rules = folder / f"{alert}.rules.yaml"
    used = _records(rule["expr"])
    rules.write_text(json.dumps({"groups": [{"name": alert, "rules": [*used, rule]}]}))
    for alike in _by_interval([case for case in those if case.alert == alert]):
        every = alike[0].every
        first = {"rule_files": [str(rules)], "evaluation_interval": every}
        file = folder / f"{alert}.{every}.yaml"
        file.write_text(json.dumps({**first, "tests": [_test(rule, case) for case in alike]}))
        yield file


def _case(alert: str, said: dict[str, Any]) -> Case:
    """Read one; whatever else is said is a mistake."""
    assert not any(map(_HEXADECIMAL.search, said["series"].values())), f"{alert}: write 0+0x20"
    fires = "fires" in said
    at = str(said.pop("fires" if fires else "silent"))
    return Case(alert=alert, fires=fires, at=at, **said)


def _test(rule: Mapping[str, Any], case: Case) -> dict[str, Any]:
    """Write the series of a case, and its expected result."""
    return {
        "interval": case.every,
        "external_labels": {"runbooks": RUNBOOKS},
        "input_series": [
            {"series": _placed(name), "values": of} for name, of in case.series.items()
        ],
        "alert_rule_test": [
            {
                "alertname": case.alert,
                "eval_time": case.at,
                "exp_alerts": [_alert(rule, case)] if case.fires else [],
            }
        ],
    }


def _alert(rule: Mapping[str, Any], case: Case) -> dict[str, Any]:
    labels = {**PLACE, **rule["labels"], **case.labels}
    kept = {name: value for name, value in labels.items() if value}
    said = {
        name: text.replace("{{ $externalLabels.runbooks }}", RUNBOOKS)
        for name, text in rule["annotations"].items()
    }
    return {
        "exp_labels": kept,
        "exp_annotations": {
            name: _LABEL.sub(lambda found: labels[found[1]], text) for name, text in said.items()
        },
    }


def _placed(series: str) -> str:
    if "environment=" in series:
        return series
    place = ",".join(f'{name}="{value}"' for name, value in PLACE.items())
    name, _, labels = series.partition("{")
    return f"{name}{{{place},{labels}" if labels else f"{name}{{{place}}}"


def _by_interval(those: list[Case]) -> Iterator[list[Case]]:
    """Group cases by the time between values: promtool has one for a file."""
    for every in sorted({case.every for case in those}):
        yield [case for case in those if case.every == every]
