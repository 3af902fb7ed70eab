"""The files for Compose: what they call is there, and they read as our configuration."""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path

import click
import pytest
import yaml

from gateway.app.commands.main import pixgate
from gateway.config.checks import check
from gateway.config.reading import read_settings
from provider_adapters.registry import names
from tests.deploy.dashboards import panels
from tests.deploy.rule_cases import ROOT
from tests.servers.judges import judge
from tests.world.containers import CHART, COMPOSE, DEPLOY, OURS, SECRETS, SERVICES

VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
PINNED = re.compile(r"[a-z0-9_/-]+:[a-z]*[0-9]+\.[0-9]+[a-z0-9.-]*@sha256:[0-9a-f]{64}")
KEEPS = {"gateway", "worker"}


@pytest.mark.parametrize("name", OURS)
def test_each_command_in_compose_exists(name: str):
    words = [*OURS[name]["command"]]
    command: click.Command = pixgate
    while isinstance(command, click.Group):
        found = command.get_command(click.Context(pixgate), words.pop(0))
        assert found is not None
        command = found

    command.make_context("it", words, resilient_parsing=False)


def test_gateway_worker_and_upgrade_share_one_image():
    assert {each["command"][-1] for each in OURS.values()} == {"serve", "worker", "upgrade"}
    assert {each["image"] for each in OURS.values()} == {f"pixgate:${{PIXGATE_VERSION:-{VERSION}}}"}


def test_the_configuration_is_fit_to_serve():
    """With the variables it expects, and no others."""
    settings = read_settings(DEPLOY / "compose-config.yaml", SECRETS)

    assert list(check(settings, names())) == []
    assert settings.worker.run == "apart"
    assert (settings.server.port, settings.admin.port) == (8080, 9090)
    assert settings.cache.url == "redis://:0123456789abcdef@valkey:6379/0"
    assert "valkey" in SERVICES


def test_the_smallest_production_configuration_is_fit_to_serve():
    secrets = {**SECRETS, "PIXGATE_CACHE_URL": "redis://cache.example/0"}

    assert list(check(read_settings(DEPLOY / "production.yaml", secrets), names())) == []


def test_every_variable_of_the_compose_files_is_read():
    """By pixgate, by Compose or by HAProxy's file."""
    proxy = set(SERVICES["haproxy"]["environment"])
    known = {
        *re.findall(r"PIXGATE_[A-Z_]*[A-Z]", (ROOT / "config.yaml").read_text()),
        *("PIXGATE_VERSION", "PIXGATE_HTTPS_PORT"),
        *proxy,
    }
    files = ("compose.yaml", "compose-config.yaml", "pixgate.env.example")
    text = "".join((DEPLOY / file).read_text() for file in files)

    assert {*re.findall(r"PIXGATE_[A-Z_]*[A-Z]", text)} <= known


def test_the_example_names_each_required_variable():
    named = re.findall(r"^([A-Z_]+)=", (DEPLOY / "pixgate.env.example").read_text(), re.MULTILINE)
    text = (DEPLOY / "compose.yaml").read_text()

    assert {*SECRETS, *re.findall(r"\$\{([A-Z_]+):\?\}", text)} <= set(named)


def test_every_container_is_hardened_with_bounded_resources_and_log():
    wanted = {"read_only": True, "cap_drop": ["ALL"], "security_opt": ["no-new-privileges:true"]}

    lacking = [
        name
        for name, each in SERVICES.items()
        if not wanted.items() <= each.items()
        or "max-size" not in each["logging"]["options"]
        or "memory" not in each["deploy"]["resources"]["limits"]
        or each["restart"] != ("no" if name == "upgrade" else "unless-stopped")
    ]

    assert lacking == []


def test_only_haproxy_publishes_a_port_and_shares_a_network_with_the_gateway():
    """A second gateway could not use the same port; elsewhere the proxy is not a trusted peer."""
    published = {name: each["ports"] for name, each in SERVICES.items() if "ports" in each}
    settings = read_settings(DEPLOY / "compose-config.yaml", SECRETS)
    [subnet] = COMPOSE["networks"]["proxy"]["ipam"]["config"]

    assert published == {
        "haproxy": ["${PIXGATE_HTTPS_PORT:-443}:443"],
        "prometheus": ["127.0.0.1:9091:9090"],
        "grafana": ["127.0.0.1:3000:3000"],
    }
    assert {*SERVICES["haproxy"]["networks"]} & {*SERVICES["gateway"]["networks"]} == {"proxy"}
    assert [name for name, each in SERVICES.items() if "proxy" in each["networks"]] == [
        "haproxy",
        "gateway",
    ]
    assert settings.server.trusted_peers == subnet["subnet"]


def test_prometheus_reaches_each_job_and_each_exporter_its_server():
    """Each shares a network with Prometheus, and an exporter with its server."""
    config = yaml.safe_load((DEPLOY / "prometheus.yml").read_text())
    found = {
        name: {*SERVICES[name]["networks"]} & {*SERVICES["prometheus"]["networks"]}
        for job in config["scrape_configs"]
        for target in job.get("dns_sd_configs", [{"names": ["blackbox-exporter"]}])
        for name in target["names"]
    }
    watched = {
        "postgres-exporter": "postgres",
        "redis-exporter": "valkey",
        "blackbox-exporter": "haproxy",
    }

    assert [name for name, networks in found.items() if not networks] == []
    assert {*watched, "disk-exporter", "haproxy", "gateway", "worker"} == {*found}
    assert [
        name
        for name, server in watched.items()
        if not {*SERVICES[name]["networks"]} & {*SERVICES[server]["networks"]}
    ] == []


def test_prometheus_keeps_the_dashboards_time_range():
    kept = {
        found[1]
        for word in SERVICES["prometheus"]["command"]
        if (found := re.fullmatch(r"--storage.tsdb.retention.time=(\d+)d", word))
    }
    looked = {int(days) for _, query in panels() for days in re.findall(r"\[(\d+)d\]", query)}

    assert [int(days) > max(looked) for days in kept] == [True]


def test_every_mounted_file_exists_except_the_operator_s_certificate():
    mounted = {
        volume.partition(":")[0]
        for each in SERVICES.values()
        for volume in each.get("volumes", [])
        if volume.startswith("./")
    }

    assert {each for each in mounted if not (DEPLOY / each).exists()} == {"./pixgate.pem"}


@pytest.mark.parametrize("name", sorted(KEEPS))
def test_a_process_waits_for_the_schema(name: str):
    assert OURS[name]["depends_on"]["upgrade"]["condition"] == "service_completed_successfully"


@pytest.mark.process
def test_compose_accepts_the_file_and_scales_its_gateways(tmp_path: Path):
    """By Compose itself, which knows the schema; no daemon is needed."""
    folder = tmp_path / "deploy"
    shutil.copytree(DEPLOY, folder)
    (folder / "pixgate.env.example").rename(folder / "pixgate.env")
    passwords = {"POSTGRES_PASSWORD": "a", "GRAFANA_PASSWORD": "b", "VALKEY_PASSWORD": "c"}

    status, text, said = judge(
        "docker-compose", "-f", folder / "compose.yaml", "config", environ=passwords
    )

    assert (status, said) == (0, "")
    read = yaml.safe_load(text)["services"]
    assert {*read} == {*SERVICES}
    assert read["gateway"]["deploy"]["replicas"] == 2
    assert "container_name" not in read["gateway"]


def test_third_party_images_are_pinned_by_digest_alike_in_compose_and_chart():
    """A tag can be moved by its owner; a digest identifies the content."""
    bases = re.findall(r"^FROM (\S+)", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)
    used = [each["image"] for name, each in SERVICES.items() if name not in OURS]

    assert [each for each in (*bases, *used) if not PINNED.fullmatch(each)] == []
    assert CHART["valkey"]["image"] == SERVICES["valkey"]["image"]
    exporters = CHART["monitoring"]["exporters"]
    assert {name: exporters[name]["image"] for name in ("redis", "postgres", "front")} == {
        "redis": SERVICES["redis-exporter"]["image"],
        "postgres": SERVICES["postgres-exporter"]["image"],
        "front": SERVICES["blackbox-exporter"]["image"],
    }


@pytest.mark.process
def test_hadolint_finds_nothing_in_the_dockerfile():
    assert judge("hadolint", DEPLOY / "Dockerfile") == (0, "", "")


def test_the_chart_has_the_current_version():
    chart = yaml.safe_load((DEPLOY / "chart" / "Chart.yaml").read_text())

    assert (chart["version"], chart["appVersion"]) == (VERSION, VERSION)
    assert CHART["image"]["tag"] == ""
