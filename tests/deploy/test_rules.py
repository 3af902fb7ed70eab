"""Every alert is shown to fire and to be silent, by Prometheus itself."""

import dataclasses
import re
from pathlib import Path

from tests.deploy.rule_cases import ALERTS, RECORDS, RULES, cases, written, written_out
from tests.servers.promtool import promtool

NAMES = [rule["alert"] for rule in RULES]
CASES = cases()


def test_every_alert_has_a_firing_and_a_silent_case():
    """Add under the alert, in a file of rules/, a case ``- fires: 20m`` or ``- silent: 20m``."""
    wanted = {(alert, fires) for alert in NAMES for fires in (True, False)}

    assert {(case.alert, case.fires) for case in CASES} == wanted


def test_a_silent_case_has_the_series_its_rule_reads():
    """Without any series nothing could fire, which proves nothing."""
    expressions = {rule["alert"]: written_out(rule["expr"]) for rule in RULES}
    blind = [
        str(case)
        for case in CASES
        if not case.fires and not any(looked_at(expressions[case.alert], s) for s in case.series)
    ]

    assert blind == []


def looked_at(expression: str, series: str) -> bool:
    name = re.split(r"[{ ]", series)[0]
    return re.search(rf"\b{name}\b", expression) is not None


def test_an_alert_fires_and_stays_silent_when_it_should(tmp_path: Path):
    """Prometheus evaluates all cases in one run, and names those that are wrong."""
    status, said = promtool("test", "rules", *written(tmp_path, CASES))

    assert status == 0, said


def test_a_wrong_case_fails_the_run(tmp_path: Path):
    [case, *_] = [each for each in CASES if each.fires]
    wrong = dataclasses.replace(case, at="0m")

    status, said = promtool("test", "rules", *written(tmp_path, [wrong]))

    assert (status, case.alert in said) == (1, True), said


def test_prometheus_reads_the_rules():
    status, said = promtool("check", "rules", ALERTS)

    found = f"SUCCESS: {len(RULES) + len(RECORDS)} rules found"
    assert (status, found in said) == (0, True), said
