"""The hosted workflow: judged by its published schema, not run here."""

from __future__ import annotations

import re

import pytest
import yaml

from tests.servers.judges import judge
from tests.world.tree import PROJECT, ROOT

pytestmark = pytest.mark.process

FILE = ROOT / ".github/workflows/release.yml"
JOBS = yaml.safe_load(FILE.read_text())["jobs"]
STEPS = [step for job in JOBS.values() for step in job["steps"]]


def test_the_workflow_fits_its_schema():
    status, said, wrong = judge(
        "check-jsonschema", "--builtin-schema", "vendor.github-workflows", FILE
    )

    assert status == 0, said + wrong


def test_every_action_is_pinned_by_its_commit():
    """Whoever moves a tag would otherwise run in our release."""
    used = [step["uses"] for step in STEPS if "uses" in step]

    assert used
    assert [each for each in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", each)] == []


def test_the_pipeline_runs_on_every_python_that_the_package_names():
    named = [each.rpartition(" ")[2] for each in PROJECT["project"]["classifiers"]]

    wanted = [each for each in named if re.fullmatch(r"3\.\d+", each)]
    assert JOBS["pipeline"]["strategy"]["matrix"]["python"] == wanted
