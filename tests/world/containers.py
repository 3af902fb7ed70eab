"""What several tests of containers share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from tests.world.tree import ROOT

DEPLOY = ROOT / "deploy"
COMPOSE: Mapping[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
SERVICES: Mapping[str, Any] = COMPOSE["services"]
OURS = {name: each for name, each in SERVICES.items() if each["image"].startswith("pixgate:")}
CHART: Mapping[str, Any] = yaml.safe_load((DEPLOY / "chart" / "values.yaml").read_text())
SECRETS = {
    "PIXGATE_DATABASE_URL": "postgresql://pixgate:secret@postgres/pixgate",
    "PIXGATE_PEPPER": "cGVwcGVyIG9mIGEgdGVzdCwgMzIgYnl0ZXMgbG9uZyE=",
    "PIXGATE_SEALING_KEY": "c2VhbGluZyBrZXkgb2YgYSB0ZXN0LCAzMiBieXRlcyE=",
    "PIXGATE_ORIGIN": "https://panel.example",
    "PIXGATE_SMTP_HOST": "mail.example",
    "VALKEY_PASSWORD": "0123456789abcdef",
}


def seconds(text: str) -> int:
    return int(text.removesuffix("s"))
