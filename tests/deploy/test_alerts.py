"""Alert rules in step with the metrics they rest on, and with the pages they lead to."""

import re
from pathlib import Path
from typing import Any

import pytest

from gateway.cli.main import pixgate
from gateway.telemetry.metrics.families import Family, Kind
from gateway.telemetry.metrics.series import SERIES
from tests.deploy.rule_cases import ROOT, RULES

NAMES = [rule["alert"] for rule in RULES]

FOREIGN = {"up", "scrape_samples_scraped"}
"""Series that Prometheus itself makes for every scrape."""

SCRAPED = {"job", "instance"}
"""Labels that Prometheus adds."""

METRIC = re.compile(r"\b(gateway_[a-z_]+|up|scrape_samples_scraped)\b(?:\{([^}]*)\})?")
MATCHER = re.compile(r'([a-z_]+)(=~|!~|!=|=)"([^"]*)"')
GROUPED = re.compile(r"\bby \(([^)]*)\)")


def families() -> dict[str, Family]:
    """Name every sample that is scraped, those of histograms with their endings."""
    endings = {Kind.HISTOGRAM: ("_bucket", "_sum", "_count")}
    return {
        family.name + ending: family
        for family in SERIES
        for ending in endings.get(family.kind, ("",))
    }


FAMILIES = families()


def used(rule: dict[str, Any]) -> list[tuple[str, str]]:
    """Return every metric of a rule with its matchers."""
    return METRIC.findall(rule["expr"])


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_a_rule_rests_on_metrics_that_exist(rule: dict[str, Any]):
    unknown = {name for name, _ in used(rule)} - FAMILIES.keys() - FOREIGN

    assert used(rule)
    assert unknown == set()


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_a_rule_matches_labels_and_values_that_exist(rule: dict[str, Any]):
    """A misspelt value matches nothing, and never fires."""
    for name, matchers in used(rule):
        labels = {} if name in FOREIGN else {each.name: each for each in FAMILIES[name].labels}
        for label, how, wanted in MATCHER.findall(matchers):
            assert label in labels or label in SCRAPED, f"{name} has no label {label}"
            values = labels[label].values if label in labels else None
            if values is not None and how in {"=", "!="}:
                assert wanted in values
            elif values is not None:
                matched = [
                    any(re.fullmatch(word, one) for one in values) for word in wanted.split("|")
                ]
                assert all(matched)


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_a_rule_groups_by_labels_that_exist(rule: dict[str, Any]):
    known = {"le", *SCRAPED}
    for name, _ in used(rule):
        known |= set() if name in FOREIGN else set(FAMILIES[name].label_names)

    found = ",".join(GROUPED.findall(rule["expr"]))
    grouped = {label.strip() for label in found.split(",")} - {""}

    assert grouped <= known


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_a_rule_says_how_urgent_it_is_and_what_it_means(rule: dict[str, Any]):
    assert rule["labels"]["severity"] in {"page", "ticket"}
    assert rule["annotations"]["summary"]
    assert re.fullmatch(r"\d+m", rule["for"])
    assert rule["expr"].count("(") == rule["expr"].count(")")


def test_an_alert_has_one_rule():
    assert len(NAMES) == len(set(NAMES))


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_every_alert_leads_to_its_section(rule: dict[str, Any]):
    """Somebody reads it at three in the morning, and has time for nothing else."""
    name = rule["alert"]

    assert rule["annotations"].get("runbook") == f"docs/runbook.md#{name.lower()}"
    assert name in sections(), f"docs/runbook.md has no section `## {name}`"


def test_the_runbook_has_no_section_without_its_alert():
    found = sections()

    assert set(found) <= set(NAMES)
    assert len(found) == len(set(found))


def sections() -> list[str]:
    """Name the sections of the runbook."""
    page = (ROOT / "docs/runbook.md").read_text()
    return re.findall(r"^## (\w+)$", page, re.MULTILINE)


def test_whoever_is_alarmed_is_told_of_every_state_that_people_watch():
    """A figure that is looked up for operators alone is of no use where nobody is alarmed by it."""
    watched = {name for rule in RULES for name, _ in used(rule)}

    assert {
        *("gateway_sessions_active", "gateway_approvals_oldest_waiting_seconds"),
        "gateway_audit_chain_broken",
        *("gateway_signing_key_age_seconds", "gateway_tls_certificate_expiry_timestamp_seconds"),
        "gateway_account_certificate_expiry_timestamp_seconds",
    } <= watched


def test_the_commands_a_runbook_names_exist():
    """Somebody types them at night."""
    page = (ROOT / "docs/runbook.md").read_text()
    for typed in re.findall(r"pixgate ([a-z -]+?)(?= [A-Z-]|`|\n|$)", page):
        found: Any = pixgate
        for word in typed.split():
            found = found.commands[word]


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_a_page_names_metrics_that_exist(page: Path):
    named = set(re.findall(r"\bgateway_[a-z_]+\b", page.read_text()))

    assert named - FAMILIES.keys() - {family.name for family in SERIES} == set()
