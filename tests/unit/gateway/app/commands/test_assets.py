"""``pixgate config init`` and ``pixgate assets``."""

from __future__ import annotations

import pytest

from gateway.config.assets import assets
from gateway.config.extras import EXTRAS
from tests.world.tree import ROOT


@pytest.mark.parametrize(
    ("options", "source"), [([], "config.yaml"), (["--production"], "deploy/production.yaml")]
)
def test_an_example_configuration_is_written_once(shell, options: list[str], source: str):
    file = shell.folder / "mine.yaml"

    shell.says("config", "init", *options, "--config", str(file))
    refusal = shell.fails("config", "init", *options, "--config", str(file))

    assert file.read_text() == (ROOT / source).read_text()
    assert refusal == f"Error: {file} cannot be made: File exists"


@pytest.mark.parametrize(
    ("options", "extras"), [([], "sandbox"), (["--production"], "panel,redis")]
)
def test_the_next_step_installs_missing_extras(shell, monkeypatch, options: list[str], extras: str):
    """The wheel alone cannot run with either file."""
    monkeypatch.setitem(EXTRAS, "panel", ("no_such_package",))
    whole = shell.reads("config", "init", *options, "--config", str(shell.folder / "bare.yaml"))
    monkeypatch.undo()
    after = shell.reads("config", "init", *options, "--config", str(shell.folder / "whole.yaml"))

    assert whole["next"] == f"pip install 'pixgate[{extras}]' && pixgate config check"
    assert after["next"] == "pixgate config check"


def test_assets_are_unpacked_into_an_empty_folder_alone(shell):
    folder = shell.folder / "deploy"

    listed = shell.reads("assets", str(folder))
    refusal = shell.fails("assets", str(folder))

    assert [each["file"] for each in listed] == [str(folder / name) for name in assets()]
    assert {name: (folder / name).read_bytes() for name in assets()} == {
        name: source.read_bytes() for name, source in assets().items()
    }
    assert refusal == f"Error: {folder} is not empty"
