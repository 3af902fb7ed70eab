"""The examples for Compose and Kubernetes call what there is, and read as our configuration."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

import click
import pytest

from gateway.cli.main import pixgate
from gateway.config.checks import check
from gateway.config.reading import read_settings
from provider_adapters.registry import names
from tests.deploy.containers import (
    COMPOSE,
    COMPOSE_TEXT,
    KUBERNETES,
    KUBERNETES_TEXT,
    OURS,
    PODS,
    SERVICES,
)
from tests.deploy.rule_cases import ROOT

CONTAINERS = {name: pod["containers"][0] for name, pod in PODS.items()}
CONFIGURATIONS = {
    "compose": COMPOSE["configs"]["pixgate"]["content"].replace("$$", "$"),
    "kubernetes": KUBERNETES[0]["data"]["config.yaml"],
}
SECRETS = {
    "PIXGATE_DATABASE_URL": "postgresql://pixgate:secret@postgres/pixgate",
    "PIXGATE_PEPPER": "cGVwcGVyIG9mIGEgdGVzdCwgMzIgYnl0ZXMgbG9uZyE=",
    "PIXGATE_SEALING_KEY": "c2VhbGluZyBrZXkgb2YgYSB0ZXN0LCAzMiBieXRlcyE=",
    "PIXGATE_ORIGIN": "https://panel.example",
    "PIXGATE_SMTP_HOST": "mail.example",
}
WANTED = {"serve", "worker", "upgrade"}


@pytest.mark.parametrize(
    "words",
    [each["command"] for each in (*OURS.values(), *CONTAINERS.values())],
    ids=[*OURS, *CONTAINERS],
)
def test_each_command_is_one_of_ours(words: list[str]):
    program, *words = words
    command: click.Command = pixgate
    while isinstance(command, click.Group):
        found = command.get_command(click.Context(pixgate), words.pop(0))
        assert found is not None
        command = found

    assert program == "pixgate"
    command.make_context("it", words, resilient_parsing=False)


def test_both_run_gateway_worker_and_upgrade():
    assert {each["command"][-1] for each in OURS.values()} == WANTED
    assert {each["command"][-1] for each in CONTAINERS.values()} == WANTED


@pytest.mark.parametrize("which", CONFIGURATIONS)
def test_its_configuration_is_fit_to_serve(which: str, tmp_path: Path):
    """With the variables that it expects, and no other."""
    file = tmp_path / "config.yaml"
    file.write_text(CONFIGURATIONS[which])

    settings = read_settings(file, SECRETS)

    assert list(check(settings, names())) == []
    assert settings.worker.run == "apart"
    assert (settings.server.port, settings.admin.port) == (8080, 9090)


@pytest.mark.parametrize("which", CONFIGURATIONS)
def test_its_shared_cache_is_one_that_it_runs(which: str, tmp_path: Path):
    file = tmp_path / "config.yaml"
    file.write_text(CONFIGURATIONS[which])
    hosts = {
        "compose": set(SERVICES),
        "kubernetes": {
            each["metadata"]["name"] for each in KUBERNETES if each["kind"] == "Service"
        },
    }

    assert urlsplit(read_settings(file, SECRETS).cache.url).hostname in hosts[which]


def test_the_production_example_of_the_page_is_fit_to_serve(tmp_path: Path):
    page = (ROOT / "docs" / "operations.md").read_text()
    [text] = re.findall(r"```yaml\n(environment: production\n.*?)```", page, re.DOTALL)
    file = tmp_path / "config.yaml"
    file.write_text(text)

    settings = read_settings(file, {**SECRETS, "PIXGATE_CACHE_URL": "redis://cache.example/0"})

    assert list(check(settings, names())) == []


@pytest.mark.parametrize("text", [COMPOSE_TEXT, KUBERNETES_TEXT], ids=["compose", "kubernetes"])
def test_every_variable_is_one_that_is_read(text: str):
    known = {
        *re.findall(r"PIXGATE_[A-Z_]*[A-Z]", (ROOT / "config.yaml").read_text()),
        "PIXGATE_CONFIG",
    }

    assert set(re.findall(r"PIXGATE_[A-Z_]*[A-Z]", text)) <= known


def test_no_service_of_the_cluster_becomes_a_variable_of_ours():
    """A Service called pixgate would set PIXGATE_PORT, to what is no number."""
    assert [name for name, pod in PODS.items() if pod["enableServiceLinks"] is not False] == []


@pytest.mark.parametrize("name", OURS)
def test_a_container_that_stays_is_started_again_and_looked_at(name: str):
    service = OURS[name]
    if name == "upgrade":
        assert service["restart"] == "no"
        return

    assert service["restart"] == "unless-stopped"
    assert "127.0.0.1:9090/livez" in service["healthcheck"]["test"][-1]
    assert service["depends_on"]["upgrade"]["condition"] == "service_completed_successfully"


def test_ports_are_those_that_are_listened_on():
    """The database's is nobody's but ours, and partners come through a proxy on the host."""
    published = {name: each.get("ports", []) for name, each in SERVICES.items()}

    assert published["gateway"] == ["127.0.0.1:8080:8080", "127.0.0.1:9090:9090"]
    assert published["worker"] == ["127.0.0.1:9190:9090"]
    assert [published[name] for name in ("postgres", "valkey", "upgrade")] == [[], [], []]
    assert {
        port["name"]: port["containerPort"]
        for each in CONTAINERS.values()
        for port in each.get("ports", [])
    } == {"public": 8080, "ops": 9090}


@pytest.mark.parametrize("name", ["pixgate", "pixgate-worker"])
def test_probes_ask_what_the_operations_listener_answers(name: str):
    probes = {
        kind: CONTAINERS[name][kind]["httpGet"]
        for kind in ("startupProbe", "livenessProbe", "readinessProbe")
    }

    assert {kind: each["path"] for kind, each in probes.items()} == {
        "startupProbe": "/livez",
        "livenessProbe": "/livez",
        "readinessProbe": "/readyz",
    }
    assert {each["port"] for each in probes.values()} == {"ops"}


def test_a_service_has_the_pods_it_is_named_after():
    services = {
        each["metadata"]["name"]: each["spec"]["selector"]
        for each in KUBERNETES
        if each["kind"] == "Service"
    }
    labels = {
        each["metadata"]["name"]: each["spec"]["template"]["metadata"]["labels"]
        for each in KUBERNETES
        if each["kind"] in {"Deployment", "Job"}
    }

    chosen = {
        service: [name for name, each in labels.items() if selector.items() <= each.items()]
        for service, selector in services.items()
    }

    assert chosen == {"pixgate": ["pixgate"], "valkey": ["valkey"]}
