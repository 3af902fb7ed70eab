"""No folder is a list to search through."""

from collections import Counter

from tests.world.tree import modules

MOST = 12
# Folders that are lists by nature.
LISTS = {
    "gateway/store/migrations/versions": "one file for each change of the schema",
    "provider_adapters/kit": "one module for each thing that an author of adapters imports",
}


def test_no_folder_has_too_many_modules():
    counted = Counter(str(path.parent) for path in modules() if path.name != "__init__.py")
    crowded = {folder: count for folder, count in counted.items() if count > MOST}

    assert {folder: crowded[folder] for folder in crowded.keys() - LISTS.keys()} == {}
