"""The chart as Helm renders it, for tests."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.servers.judges import judge
from tests.world.containers import DEPLOY

TRUSTED: Mapping[str, Any] = {"server": {"trusted_peers": "10.20.0.0/24"}}
DEFAULT: Mapping[str, Any] = {"config": TRUSTED}
"""What has to be given, and nothing else."""


def judge_chart(
    values: Sequence[Mapping[str, Any]], name: str = "pixgate"
) -> Sequence[Mapping[str, Any]]:
    """Return for each the documents of a release of that name, and what is wrong with them."""
    script = Path(__file__).parent / "render_chart.py"
    status, text, said = judge("python", script, DEPLOY / "chart", json.dumps(values), name)
    assert status == 0, said
    found: Sequence[Mapping[str, Any]] = json.loads(text)
    return found
