"""Alert rules in step with the metrics they rest on, and with the pages they lead to."""

import re
from typing import Any

from gateway.app.commands.main import pixgate
from gateway.banks.port.capabilities import PortCall
from gateway.telemetry.metrics.families import Family, Vocabulary
from gateway.telemetry.metrics.registry import MetricRegistry
from gateway.telemetry.metrics.series import SERIES
from provider_adapters.registry import names
from tests.deploy.exporters import FOREIGN
from tests.deploy.rule_cases import PLACE, ROOT, RULES, written_out
from tests.world.metrics import INSTANCE

NAMES = [rule["alert"] for rule in RULES]

SCRAPED = {"job", "instance", *PLACE}
"""Labels that Prometheus adds."""

METRIC = re.compile(rf"\b(pixgate_[a-z_]+|{'|'.join(FOREIGN)})\b(?:\{{([^}}]*)\}})?")
MATCHER = re.compile(r'([a-z_]+)(=~|!~|!=|=)"([^"]*)"')
GROUPED = re.compile(r"\bby \(([^)]*)\)")


def families() -> dict[str, Family[Any]]:
    """Name every sample that is scraped, those of histograms with their endings."""
    endings = {"histogram": ("_bucket", "_sum", "_count")}
    return {
        family.name + ending: family
        for family in SERIES
        for ending in endings.get(family.kind, ("",))
    }


FAMILIES = families()


def used(rule: dict[str, Any]) -> list[tuple[str, str]]:
    """Return every metric of a rule with its matchers."""
    return METRIC.findall(written_out(rule["expr"]))


def test_rules_use_existing_metrics():
    unknown = {
        rule["alert"]: {name for name, _ in used(rule)} - FAMILIES.keys() - FOREIGN.keys()
        for rule in RULES
    }

    assert [rule["alert"] for rule in RULES if not used(rule)] == []
    assert {alert: names for alert, names in unknown.items() if names} == {}


def test_rules_match_existing_labels_and_values():
    """A misspelt value matches nothing, so the alert never fires."""
    wrong = [
        (rule["alert"], name, label, wanted)
        for rule in RULES
        for name, matchers in used(rule)
        for label, how, wanted in MATCHER.findall(matchers)
        if not matches_what_exists(name, label, how, wanted)
    ]

    assert wrong == []


def matches_what_exists(name: str, label: str, how: str, wanted: str) -> bool:
    """Whether a metric has a label, and each alternative is one of its values."""
    if name in FOREIGN:
        return label in SCRAPED | FOREIGN[name]
    labels = {each.name: each for each in FAMILIES[name].labels}
    if label not in labels:
        return label in SCRAPED
    values = labels[label].values
    if values is None:
        return True
    if how in {"=", "!="}:
        return wanted in values
    return all(any(re.fullmatch(word, each) for each in values) for word in wanted.split("|"))


def test_rules_group_by_existing_labels():
    unknown = {rule["alert"]: grouped(rule) - labels_of(rule) for rule in RULES}

    assert {alert: labels for alert, labels in unknown.items() if labels} == {}


def grouped(rule: dict[str, Any]) -> set[str]:
    found = ",".join(GROUPED.findall(rule["expr"]))
    return {label.strip() for label in found.split(",")} - {""}


def labels_of(rule: dict[str, Any]) -> set[str]:
    labels = (
        FOREIGN[name] if name in FOREIGN else FAMILIES[name].label_names for name, _ in used(rule)
    )
    return {"le", *SCRAPED}.union(*labels)


def test_a_rule_has_a_severity_a_summary_and_whole_minutes():
    wrong = [rule["alert"] for rule in RULES if not is_whole(rule)]

    assert wrong == []


def is_whole(rule: dict[str, Any]) -> bool:
    """Whether a rule has everything, in the right form."""
    return bool(
        rule["labels"]["severity"] in {"page", "ticket"}
        and rule["annotations"]["summary"]
        and re.fullmatch(r"\d+m", rule["for"])
        and rule["expr"].count("(") == rule["expr"].count(")")
    )


def test_rules_notice_the_first_event_of_a_series():
    """``increase`` misses it, unless the series was scraped at zero before."""
    words = Vocabulary(
        surface=frozenset({"banking"}),
        route=frozenset(map(str, range(200))),  # about as many as there are
        provider=frozenset(names()),
        operation=frozenset(PortCall),
        policy=frozenset({"read"}),
    )
    registry = MetricRegistry(INSTANCE, words)
    unseen = {
        (rule["alert"], name)
        for rule in RULES
        for name in re.findall(r"increase\((\w+)", rule["expr"])
        if name in FAMILIES and not registry.cells(FAMILIES[name])
    }

    assert unseen == set()


def test_an_alert_has_one_rule():
    assert len(NAMES) == len(set(NAMES))


def test_every_alert_links_to_its_section_of_the_runbook():
    """The address of the runbook is an external label of the operator's Prometheus."""
    links = {rule["alert"]: rule["annotations"].get("runbook_url") for rule in RULES}

    at = "{{ $externalLabels.runbooks }}"
    assert links == {name: f"{at}#{name.lower()}" for name in NAMES}


def test_the_runbook_has_one_section_for_each_alert():
    assert sorted(sections()) == sorted(NAMES)


def sections() -> list[str]:
    page = (ROOT / "docs/runbook.md").read_text()
    return re.findall(r"^## (\w+)$", page, re.MULTILINE)


def test_every_watched_state_has_an_alert():
    """A figure that is only looked up raises no alarm."""
    watched = {name for rule in RULES for name, _ in used(rule)}

    assert {
        *("pixgate_sessions_active", "pixgate_approvals_oldest_waiting_seconds"),
        "pixgate_audit_chain_broken",
        *("pixgate_signing_key_age_seconds", "pixgate_tls_certificate_expiry_timestamp_seconds"),
        "pixgate_account_certificate_expiry_timestamp_seconds",
    } <= watched


def test_the_commands_in_the_runbook_exist():
    """They are typed in an emergency."""
    page = (ROOT / "docs/runbook.md").read_text()
    for typed in re.findall(r"pixgate ([a-z -]+?)(?= [A-Z-]|`|\n|$)", page):
        found: Any = pixgate
        for word in typed.split():
            found = found.commands[word]


def test_pages_name_existing_metrics():
    # roles, what a restore puts aside, the Python client
    others = {"pixgate_owner", "pixgate_monitor", "pixgate_before", "pixgate_client"}
    known = FAMILIES.keys() | {family.name for family in SERIES} | others
    unknown = {
        (page.name, name)
        for page in (ROOT / "docs").glob("*.md")
        for name in re.findall(r"\bpixgate_[a-z_]+\b", page.read_text())
        if name not in known
    }

    assert unknown == set()
