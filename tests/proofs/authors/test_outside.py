"""A third party's package for PORT 1 works unchanged, and needs nothing private."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from gateway.banks.port.capabilities import CONTRACT_CALLS
from tests.world.authors import ROOT, Environment, private_imports
from tests.world.extent import WHOLE

KEPT = ROOT / "tests/outside/pixgate-outside"


@pytest.fixture(scope="module")
def package(environment: Environment) -> Path:
    """A copy of it, installed: nothing is written into the tree."""
    folder = environment.folder / KEPT.name
    shutil.copytree(KEPT, folder, ignore=shutil.ignore_patterns("__pycache__"))
    environment.installs(folder)
    return folder


def test_the_outside_adapter_imports_nothing_private():
    hidden = {
        str(path.relative_to(KEPT)): found
        for path in KEPT.rglob("*.py")
        if (found := list(private_imports(path.read_text())))
    }

    assert hidden == {}


@pytest.mark.skipif(not WHOLE, reason="`make proofs` alone")
def test_lint_and_types_pass(environment: Environment, package: Path):
    environment.checks(package)


@pytest.mark.skipif(not WHOLE, reason="`make proofs` alone")
def test_the_outside_adapter_is_found_by_its_entry_point(environment: Environment, package: Path):
    listed = {each["adapter"]: each for each in json.loads(_providers(environment))}

    assert listed["outside"]["problem"] == ""
    assert set(CONTRACT_CALLS) <= set(listed["outside"]["calls"])


@pytest.mark.skipif(not WHOLE, reason="`make proofs` alone")
def test_the_adapter_passes_the_suite(environment: Environment, package: Path):
    environment.runs("pixgate", "adapter", "verify", "outside")


def _providers(environment: Environment) -> str:
    return environment.runs("pixgate", "providers", "--json")
