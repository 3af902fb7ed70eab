"""Names that say what a thing is, and packages that say nothing else."""

from pathlib import Path

import pytest

from tests.architecture.tree import ROOT, modules, packages

# Each of them is where things go whose name nobody looked for.
EMPTY_WORDS = {"base", "helper", "helpers", "manager", "misc", "util", "utils"}


@pytest.mark.parametrize("path", modules(), ids=str)
def test_a_module_is_named_for_what_it_holds(path: Path):
    words = {word for part in path.with_suffix("").parts for word in part.split("_")}

    assert words & EMPTY_WORDS == set()


@pytest.mark.parametrize("path", packages(), ids=str)
def test_a_package_file_is_empty(path: Path):
    """What is imported by name is found by name; a package that does something hides it."""
    assert (ROOT / path).read_bytes() == b""


def test_every_folder_with_modules_is_a_package():
    """A folder without ``__init__.py`` is left out of the import contracts, silently."""
    bare = {path.parent for path in modules()} - {path.parent for path in packages()}

    assert {str(folder) for folder in bare if "migrations" not in folder.parts} == set()
