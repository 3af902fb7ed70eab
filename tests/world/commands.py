"""A command line, with and without a bank beside it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from provider_adapters.testing.sandbox import SandboxBank
from tests.world.shell import Shell, bank_beside
from tests.world.store import migrated

SHORT = {"PIXGATE_CONFIG": str(Path(__file__).with_name("short.yaml"))}


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A command line on a folder with an empty store."""
    migrated(tmp_path / "pixgate.db")
    return Shell(tmp_path, {**SHORT})


@pytest.fixture
def fresh_shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path, {**SHORT})


@pytest.fixture
def bank(shell: Shell) -> Iterator[SandboxBank]:
    """A sandbox bank where the command line looks for it."""
    with bank_beside(shell) as running:
        yield running


@pytest.fixture(scope="module")
def demo_shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """A command line that has made the demo at the bank beside it, for the tests of a module."""
    folder = tmp_path_factory.mktemp("demo")
    migrated(folder / "pixgate.db")
    shell = Shell(folder, {**SHORT})
    with bank_beside(shell):
        shell.says("demo")
        yield shell
