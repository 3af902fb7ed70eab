"""The chart: rendered by Helm, judged by schemas and checkov; its configuration is started."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from gateway.config.checks import check
from gateway.config.reading import read_settings
from provider_adapters.registry import names
from tests.deploy.chart import DEFAULT, TRUSTED, judge_chart
from tests.deploy.dashboards import DASHBOARDS
from tests.deploy.rule_cases import ALERTS
from tests.servers.judges import judge
from tests.servers.process import free_port
from tests.servers.redis import RedisServer
from tests.world.containers import CHART, DEPLOY, SECRETS
from tests.world.gateway.processes import GatewaySite
from tests.world.waiting import until

pytestmark = pytest.mark.process

DIGEST = f"sha256:{'0' * 64}"
ALL: Mapping[str, Any] = {
    "config": TRUSTED,
    "valkey": {"tlsSecret": "pixgate-valkey-tls"},
    "image": {"digest": DIGEST, "pullSecrets": ["registry"]},
    "ownerSecret": "pixgate-owner",
    "filesSecret": "pixgate-files",
    "gateway": {"autoscaling": {"enabled": True}, "nodeSelector": {"disk": "none"}},
    "ingress": {"enabled": True, "host": "pix.example", "tlsSecret": "pix"},
    "monitoring": {
        "mode": "podMonitor",
        "labels": {"release": "prometheus"},
        "rules": True,
        "dashboards": True,
        "runbooks": "https://pages.example/runbook",
        "panel": "https://panel.example",
        "exporters": {
            "postgres": {"enabled": True, "secret": "pixgate-monitor"},
            "front": {"enabled": True},
        },
    },
    "networkPolicy": {"egress": [{"ports": [{"port": 443}]}]},
}
"""Everything that can be switched on."""
LEAST: Mapping[str, Any] = {
    "valkey": {"enabled": False},
    "config": {
        "server": {"client_address": "peer"},
        "cache": {"url": "rediss://cache.example/0"},
    },
    "monitoring": {"mode": "none"},
    "networkPolicy": {"enabled": False},
}
BY_KUBELET = {
    "PIXGATE_PORT": "tcp://10.96.12.34:80",
    "PIXGATE_SERVICE_HOST": "10.96.12.34",
    "PIXGATE_SERVICE_PORT": "80",
    "PIXGATE_PORT_80_TCP_PORT": "80",
    "PIXGATE_VALKEY_PORT": "tcp://10.96.12.35:6379",
}
"""Variables of the Services of the release: where somebody takes enableServiceLinks out."""


CHANGED: Mapping[str, Any] = {"config": {**TRUSTED, "limits": {"in_flight": 500}}}
WRONG: Sequence[Mapping[str, Any]] = [
    {"gatway": {}},
    {"config": {"worker": {"run": "inside"}}},
    {"config": {"server": {"port": "tcp://10.96.12.34:80"}}},
    {"image": {"digest": "latest"}},
    {"valkey": {"image": "valkey/valkey:8"}},
    {"ingress": {"enabled": True}},
    {"monitoring": {"exporters": {"postgres": {"enabled": True}}}},
    {"networkPolicy": {"operationsFrom": []}},  # which would let everybody in
]


@cache
def known() -> Mapping[str, Any]:
    """Judge at once what several tests look at, by the values as text."""
    every = [{}, DEFAULT, ALL, LEAST, CHANGED, *WRONG]
    return dict(zip(map(json.dumps, every), judge_chart(every), strict=True))


def judged(values: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = known()[json.dumps(values)]
    return found


def rendered(values: Mapping[str, Any]) -> dict[tuple[str, str], Mapping[str, Any]]:
    found = judged(values)["documents"]
    return {(each["kind"], each["metadata"]["name"]): each for each in found}


def pods(values: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {
        name: each["spec"]["template"]["spec"]
        for (kind, name), each in rendered(values).items()
        if kind in {"Deployment", "Job"}
    }


def test_helm_and_kubernetes_accept_the_chart():
    found = [judged(values)["wrong"] for values in (DEFAULT, ALL, LEAST)]

    assert found == [["icon is recommended"]] * 3


def test_wrong_values_are_refused():
    refusal = "values don't meet the specifications"

    taken = [each for each in WRONG if refusal not in " ".join(judged(each)["wrong"])]

    assert taken == []


def test_without_an_ingress_network_the_chart_is_refused_with_the_reason():
    """Trusted peers determine the client's address, and no default network fits everybody."""
    found = judged({})

    assert found["documents"] == []
    (told,) = {line for each in found["wrong"] for line in each.splitlines() if "is empty" in line}
    assert "config.server.trusted_peers is empty: name the network of the Ingress's pods" in told


def test_the_names_of_a_long_release_have_the_maximum_length():
    """Helm allows 53 characters; a name has 63, including what is appended to the release."""
    [found] = judge_chart([ALL], name="x" * 51 + "-y")

    names = {each["metadata"]["name"] for each in found["documents"]}
    assert found["wrong"] == ["icon is recommended"]
    assert {name for name in names if len(name) > 63 or name.endswith("-")} == set()
    assert "x" * 51 in names


def test_checkov_finds_only_findings_with_a_reason(tmp_path: Path):
    """`deploy/checkov.yaml` has the reasons; a reason without a finding is removed."""
    reasoned = yaml.safe_load((DEPLOY / "checkov.yaml").read_text())["skip-check"]
    documents = judged(ALL)["documents"]
    (tmp_path / "chart.yaml").write_text(yaml.safe_dump_all(documents))
    (tmp_path / "Dockerfile").write_text((DEPLOY / "Dockerfile").read_text())

    _, text, said = judge(
        "checkov", "-d", tmp_path, "-o", "json", "--framework", "kubernetes", "dockerfile"
    )

    found = {
        each["check_id"]: f"{each['check_name']}: {each['resource']}"
        for report in json.loads(text)
        for each in report["results"]["failed_checks"]
    }
    assert found, said
    assert {*found} == {*reasoned}, found


def test_the_upgrade_is_a_hook_with_its_environment():
    """The release's own ConfigMap and account are created after it, or are of the old version."""
    hooks = {
        kind: each["metadata"]["annotations"]["helm.sh/hook-weight"]
        for (kind, _), each in rendered(DEFAULT).items()
        if "helm.sh/hook" in each["metadata"].get("annotations", {})
    }
    pod = pods(DEFAULT)["pixgate-upgrade"]

    assert hooks == {"ConfigMap": "-1", "ServiceAccount": "-1", "Job": "0"}
    assert pod["volumes"][0]["configMap"]["name"] == pod["serviceAccountName"] == "pixgate-upgrade"


@pytest.mark.parametrize("values", [DEFAULT, ALL], ids=["default", "all"])
def test_every_pod_is_hardened_and_gets_no_service_variables(values: Mapping[str, Any]):
    """A Service called pixgate would set PIXGATE_PORT to an address instead of a number."""
    wanted = {"enableServiceLinks": False, "automountServiceAccountToken": False}

    lacking = [
        name
        for name, pod in pods(values).items()
        if not wanted.items() <= pod.items()
        or pod["securityContext"]["runAsUser"] != 10001
        or pod["securityContext"]["seccompProfile"] != {"type": "RuntimeDefault"}
        or any(
            not each["securityContext"]["readOnlyRootFilesystem"]
            or each["securityContext"]["capabilities"] != {"drop": ["ALL"]}
            or not {"limits", "requests"} <= each["resources"].keys()
            for each in pod["containers"]
        )
    ]

    assert lacking == []


def test_the_owner_s_database_address_is_used_where_tables_are_made():
    """The role of processes on the network may only read and write rows."""
    secrets = {
        name: [each["secretRef"]["name"] for each in pod["containers"][0].get("envFrom", [])]
        for name, pod in pods(ALL).items()
    }

    assert secrets == {
        "pixgate-gateway": ["pixgate"],
        "pixgate-worker": ["pixgate", "pixgate-owner"],
        "pixgate-upgrade": ["pixgate", "pixgate-owner"],
        "pixgate-valkey": [],
        "pixgate-redis": [],
        "pixgate-postgres": ["pixgate-monitor"],
        "pixgate-front": [],
    }


def test_a_changed_configuration_restarts_gateways_and_workers():
    def sums(values: Mapping[str, Any]) -> set[str]:
        return {
            each["spec"]["template"]["metadata"]["annotations"]["checksum/config"]
            for (kind, name), each in rendered(values).items()
            if kind == "Deployment" and name in {"pixgate-gateway", "pixgate-worker"}
        }

    before, after = sums(DEFAULT), sums(CHANGED)

    assert (len(before), len(after), before & after) == (1, 1, set())


def test_probes_use_paths_of_the_operations_listener():
    for name in ("pixgate-gateway", "pixgate-worker"):
        [container] = pods(DEFAULT)[name]["containers"]
        probes = {
            kind: (container[kind]["httpGet"]["path"], container[kind]["httpGet"]["port"])
            for kind in ("startupProbe", "livenessProbe", "readinessProbe")
        }

        assert probes == {
            "startupProbe": ("/livez", "ops"),
            "livenessProbe": ("/livez", "ops"),
            "readinessProbe": ("/readyz", "ops"),
        }


def test_the_pod_monitor_labels_series_like_rules_and_dashboards():
    monitor = rendered(ALL)["PodMonitor", "pixgate"]
    [endpoint] = monitor["spec"]["podMetricsEndpoints"]

    assert {each["targetLabel"]: each["replacement"] for each in endpoint["relabelings"]} == {
        "job": "gateway",
        "environment": "production",
        "cluster": "main",
    }
    assert endpoint["port"] == "ops"


def test_the_chart_s_rules_and_dashboards_match_the_deploy_files():
    """With the addresses of the runbook and of the panel."""
    found = rendered(ALL)
    rules = yaml.safe_load(
        ALERTS.read_text().replace(
            "{{ $externalLabels.runbooks }}", "https://pages.example/runbook"
        )
    )
    dashboards = found["ConfigMap", "pixgate-dashboards"]

    assert found["PrometheusRule", "pixgate"]["spec"] == rules
    assert {*dashboards["data"]} == {f"pixgate-{file.name}" for file in DASHBOARDS}
    assert dashboards["metadata"]["labels"]["grafana_dashboard"] == "1"
    constants = set()
    for file, dashboard in DASHBOARDS.items():
        read = json.loads(dashboards["data"][f"pixgate-{file.name}"])
        variables = read["templating"]["list"]
        constants |= {(each["name"], each["query"]) for each in variables if "hide" in each}
        assert read["panels"] == dashboard["panels"]
    assert constants == {
        ("runbooks", "https://pages.example/runbook"),
        ("panel", "https://panel.example"),
    }


def test_each_exporter_is_scraped_under_its_job_name():
    found = rendered(ALL)
    templates = [
        each["spec"]["template"] for (kind, _), each in found.items() if kind == "Deployment"
    ]
    scraped = {}
    for (kind, name), each in found.items():
        if kind != "PodMonitor":
            continue
        wanted = each["spec"]["selector"]["matchLabels"].items()
        pods = [one["spec"] for one in templates if wanted <= one["metadata"]["labels"].items()]
        ports = {port["name"] for pod in pods for one in pod["containers"] for port in one["ports"]}
        [endpoint] = each["spec"]["podMetricsEndpoints"]
        scraped[name] = (endpoint["relabelings"][0]["replacement"], endpoint["port"] in ports)

    assert scraped == {
        "pixgate": ("gateway", True),
        "pixgate-redis": ("redis", True),
        "pixgate-postgres": ("postgres", True),
        "pixgate-front": ("front", True),
    }


def test_each_selector_matches_its_own_pods():
    found = rendered(DEFAULT)
    labels = {
        name: each["spec"]["template"]["metadata"]["labels"]
        for (kind, name), each in found.items()
        if kind in {"Deployment", "Job"}
    }
    selectors = {
        (kind, name): each["spec"].get("podSelector", each["spec"].get("selector"))
        for (kind, name), each in found.items()
        if kind in {"Service", "NetworkPolicy", "PodDisruptionBudget"}
    }

    chosen = {
        key: {pod for pod, each in labels.items() if plain(selector).items() <= each.items()}
        for key, selector in selectors.items()
    }

    ours = {"pixgate-gateway", "pixgate-worker", "pixgate-upgrade"}
    assert chosen == {
        ("Service", "pixgate"): {"pixgate-gateway"},
        ("Service", "pixgate-valkey"): {"pixgate-valkey"},
        ("NetworkPolicy", "pixgate"): ours,
        ("NetworkPolicy", "pixgate-gateway"): {"pixgate-gateway"},
        ("NetworkPolicy", "pixgate-valkey"): {"pixgate-valkey"},
        ("NetworkPolicy", "pixgate-redis"): {"pixgate-redis"},
        ("PodDisruptionBudget", "pixgate-gateway"): {"pixgate-gateway"},
        ("PodDisruptionBudget", "pixgate-worker"): {"pixgate-worker"},
    }


def plain(selector: Mapping[str, Any]) -> Mapping[str, str]:
    labels: Mapping[str, str] = selector.get("matchLabels", selector)
    return labels


def test_the_configuration_is_fit_to_serve_with_the_cache_of_the_chart(tmp_path: Path):
    file = write_configuration(judged(DEFAULT), tmp_path)

    settings = read_settings(file, SECRETS | BY_KUBELET)

    assert list(check(settings, names())) == []
    assert settings.worker.run == "apart"
    assert settings.cache.url == "redis://:0123456789abcdef@pixgate-valkey:6379/0"
    assert (settings.server.port, settings.admin.port) == (8080, 9090)


def test_every_variable_of_the_chart_is_read():
    known = (DEPLOY.parent / "config.yaml").read_text()

    assert {*re.findall(r"PIXGATE_[A-Z_]+", json.dumps(CHART))} <= {
        *re.findall(r"PIXGATE_[A-Z_]+", known)
    }


async def test_the_configuration_is_valid_with_kubelet_s_variables(
    migrated_postgres_url: str, redis_server: RedisServer, tmp_path: Path
):
    """On free ports; the variable of the Service is not a port number."""
    public, operations = free_port(), free_port()
    values = {
        "config": {
            "server": {"port": public, **TRUSTED["server"]},
            "admin": {"port": operations},
            "cache": {"url": redis_server.url},
        }
    }
    database = migrated_postgres_url.replace("postgresql+asyncpg://", "postgresql://")
    site = GatewaySite(
        folder=tmp_path,
        ports={"PIXGATE_OPS_PORT": operations},
        config=write_configuration(judge_chart([values])[0], tmp_path),
        environ={**SECRETS, **BY_KUBELET, "PIXGATE_DATABASE_URL": database},
    )
    process = site.start()

    try:
        await until(lambda: process.poll() is not None or "listens on" in site.said.read_text())
    finally:
        process.kill()
        process.wait()

    assert f"pixgate listens on http://0.0.0.0:{public}" in site.said.read_text()


def write_configuration(found: Mapping[str, Any], folder: Path) -> Path:
    [text] = [
        each["data"]["config.yaml"]
        for each in found["documents"]
        if (each["kind"], each["metadata"]["name"]) == ("ConfigMap", "pixgate")
    ]
    file = folder / "config.yaml"
    file.write_text(text)
    return file
