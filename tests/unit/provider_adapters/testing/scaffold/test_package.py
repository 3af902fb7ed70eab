"""The package of a new adapter, as it is written: whatever is chosen, it is whole."""

from __future__ import annotations

import ast
import itertools
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from provider_adapters.testing.scaffold.package import (
    OPTIONS,
    PackageRefused,
    rendered,
    write,
)
from tests.world.authors import private_imports
from tests.world.tables import cases

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


def names_used(made: Mapping[str, str], path: str) -> set[str]:
    """Every name of a module that the other modules use."""
    module = Path(path).stem
    below = f"{Path(path).parent}".replace("/", ".")
    used = set()
    for other, text in made.items():
        for node in ast.walk(ast.parse(text)) if other.endswith(".py") else ():
            if isinstance(node, ast.ImportFrom) and node.module == f"{below}.{module}":
                used |= {each.name for each in node.names}
            whole = isinstance(node, ast.ImportFrom) and node.module == below
            if whole and module in {each.name for each in node.names}:
                used |= set(re.findall(rf"\b{module}\.([A-Za-z]\w*)", text))
    return used


def test_every_combination_is_whole_and_is_python():
    """Whatever is chosen, the same files, each of which can be read."""
    texts = {(path, text) for chosen in EVERY for path, text in rendered("acme", chosen).items()}

    for path, text in texts:
        if path.endswith(".py"):
            ast.parse(text)
        assert "${" not in text, path
    assert {path for path, _ in texts} == set(DEFAULT)


@cases(("option", "choice"), CHOICES)
def test_a_choice_changes_what_modules_do_and_not_what_they_offer(option: str, choice: str):
    """So that no other module depends on it."""
    made = rendered("acme", {option: choice})

    changed = [path for path in made if made[path] != DEFAULT[path] and path.endswith(".py")]

    assert bool(changed) is (choice != OPTIONS[option][0])
    for path in changed:
        used = names_used(made, path)
        assert used, path
        assert used <= names(made[path]), path


def test_the_entry_points_name_what_is_there():
    project = tomllib.loads(DEFAULT["pyproject.toml"])["project"]

    for group in project["entry-points"].values():
        module, _, name = group["acme"].partition(":")
        text = DEFAULT[f"{module.replace('.', '/')}.py"]
        assert f"class {name}" in text or f"\n{name}: Final" in text


@cases("proof", OPTIONS["proof"])
def test_the_configuration_block_is_one(proof: str):
    made = rendered("acme", {"proof": proof})

    provider = yaml.safe_load(made["config.yaml"])["providers"]["acme"]

    assert provider["settings"]["base_url"] == "https://sandbox.acme.example"
    assert ("public_keys" in provider["settings"]) is (proof in {"rsa", "ecdsa"})


def test_nothing_private_is_imported():
    """No name with an underscore, and of the gateway nothing but its domain."""
    hidden = {
        path: found
        for path, text in DEFAULT.items()
        if path.endswith(".py") and (found := list(private_imports(text)))
    }

    assert hidden == {}


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
