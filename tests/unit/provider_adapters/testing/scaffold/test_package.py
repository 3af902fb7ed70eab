"""The package of a new adapter, as it is written: whatever is chosen, it is whole."""

from __future__ import annotations

import ast
import itertools
from pathlib import Path

import pytest

from provider_adapters.testing.scaffold.package import OPTIONS, PackageRefused, rendered, write

EVERY = [dict(zip(OPTIONS, choice, strict=True)) for choice in itertools.product(*OPTIONS.values())]
DEFAULT = rendered("acme")
CHOICES = [(option, choice) for option, choices in OPTIONS.items() for choice in choices]


def names(text: str) -> set[str]:
    """Every name that a module defines for others."""
    body = ast.parse(text).body
    defined = {each.name for each in body if isinstance(each, ast.ClassDef | ast.FunctionDef)}
    assigned = {
        target.id for each in body for target in targets(each) if isinstance(target, ast.Name)
    }
    handed_on = {
        name.name for each in body if isinstance(each, ast.ImportFrom) for name in each.names
    }
    return {name for name in defined | assigned | handed_on if not name.startswith("_")}


def targets(node: ast.stmt) -> list[ast.expr]:
    """What a statement assigns to."""
    if isinstance(node, ast.AnnAssign):
        return [node.target]
    return node.targets if isinstance(node, ast.Assign) else []


def test_it_is_written_into_a_folder_of_its_own(tmp_path: Path):
    folder = write("acme", tmp_path)

    assert folder == tmp_path / "pixgate-acme"
    assert (folder / "pixgate_acme/adapter.py").read_text() == DEFAULT["pixgate_acme/adapter.py"]


def test_nothing_that_is_there_is_overwritten(tmp_path: Path):
    write("acme", tmp_path)

    with pytest.raises(PackageRefused, match="is not empty"):
        write("acme", tmp_path)


@pytest.mark.parametrize(
    "name", ["", "a", "Acme", "my-bank", "my_bank", "2bank", "../bank", "b" * 25, "class", "bânk"]
)
def test_a_name_that_cannot_be_one_is_refused(tmp_path: Path, name: str):
    """It becomes a module, a metric's word and a part of host names."""
    with pytest.raises(PackageRefused, match="lower-case letters"):
        write(name, tmp_path)
    assert list(tmp_path.iterdir()) == []
