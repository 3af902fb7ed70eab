"""Every alert is shown to fire and to be silent, by Prometheus itself."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.deploy.rule_cases import ALERTS, FOLDER, RULES, by_interval, cases, document
from tests.servers.promtool import promtool

NAMES = [rule["alert"] for rule in RULES]
CASES = cases()


def of(alert: str, *, fires: bool) -> list[Any]:
    """Return the cases of an alert."""
    return [case for case in CASES if (case.alert, case.fires) == (alert, fires)]


@pytest.mark.parametrize("fires", [True, False], ids=["fires", "silent"])
@pytest.mark.parametrize("alert", NAMES)
def test_every_alert_has_a_case_of_either_kind(alert: str, fires: bool):
    word = "fires" if fires else "silent"

    assert of(alert, fires=fires), (
        f"add under `{alert}:` in a file of {FOLDER.name}/ a case `- {word}: 20m` with `series:`"
    )


def test_no_case_is_of_an_alert_that_is_gone():
    assert {case.alert for case in CASES} == set(NAMES)


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_a_silent_case_has_what_the_rule_looks_at(rule: dict[str, Any]):
    """Nothing at all fires nothing, and shows nothing."""
    for case in of(rule["alert"], fires=False):
        told = {re.split(r"[{ ]", name)[0] for name in case.series}
        assert any(re.search(rf"\b{name}\b", rule["expr"]) for name in told), str(case)


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_an_alert_fires_and_is_silent_when_it_should(rule: dict[str, Any], tmp_path: Path):
    those = [case for case in CASES if case.alert == rule["alert"]]
    for number, alike in enumerate(by_interval(those)):
        file = tmp_path / f"{number}.yaml"
        file.write_text(document(rule, alike))

        status, said = promtool("test", "rules", file)

        assert status == 0, said


def test_prometheus_reads_the_rules():
    status, said = promtool("check", "rules", ALERTS)

    assert (status, f"SUCCESS: {len(RULES)} rules found" in said) == (0, True), said
