"""Names that say what a thing is, and packages that say nothing else."""

from pathlib import Path

from tests.world.tree import ROOT, modules, packages

# Each of them is where things go whose name nobody looked for.
EMPTY_WORDS = {"base", "helper", "helpers", "manager", "misc", "util", "utils"}


def test_modules_are_named_by_what_they_contain():
    empty = {str(path): words(path) & EMPTY_WORDS for path in modules()}

    assert {path: found for path, found in empty.items() if found} == {}


def test_a_package_file_is_empty():
    """Names are imported from their own module; code in a package file hides where it is."""
    assert [str(path) for path in packages() if (ROOT / path).read_bytes()] == []


def test_every_folder_with_modules_is_a_package():
    """A folder without ``__init__.py`` is silently left out of the import contracts."""
    bare = {path.parent for path in modules()} - {path.parent for path in packages()}

    assert {str(folder) for folder in bare if "migrations" not in folder.parts} == set()


def words(path: Path) -> set[str]:
    """Take the words of a module's name and of its folders' names."""
    return {word for part in path.with_suffix("").parts for word in part.split("_")}
