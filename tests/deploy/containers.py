"""What several tests of containers share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from tests.deploy.rule_cases import ROOT

COMPOSE_TEXT = (ROOT / "deploy" / "compose.yaml").read_text()
KUBERNETES_TEXT = (ROOT / "deploy" / "kubernetes.yaml").read_text()
COMPOSE: Mapping[str, Any] = yaml.safe_load(COMPOSE_TEXT)
KUBERNETES: list[Mapping[str, Any]] = list(yaml.safe_load_all(KUBERNETES_TEXT))
SERVICES: Mapping[str, Any] = COMPOSE["services"]
OURS = {name: each for name, each in SERVICES.items() if each["image"] == "pixgate"}
PODS: Mapping[str, Any] = {
    each["metadata"]["name"]: each["spec"]["template"]["spec"]
    for each in KUBERNETES
    if each["kind"] in {"Deployment", "Job"}
    and each["spec"]["template"]["spec"]["containers"][0]["image"] == "pixgate"
}


def seconds(text: str) -> int:
    return int(text.removesuffix("s"))
