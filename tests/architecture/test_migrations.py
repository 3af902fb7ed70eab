"""Each migration says which older schema's processes may go on beside it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules

from gateway.store.migrations import versions


def declared() -> Mapping[str, str]:
    """What each migration declares, by its revision."""
    modules = [
        import_module(f"{versions.__name__}.{each.name}")
        for each in iter_modules(versions.__path__)
    ]
    return {each.revision: getattr(each, "compatible_with", "nothing") for each in modules}


def test_each_migration_declares_its_compatible_schemas():
    found = declared()

    undeclared = [name for name, oldest in found.items() if oldest not in found]

    assert undeclared == []


def test_no_compatible_schema_is_newer_than_its_migration():
    wrong = [name for name, oldest in declared().items() if oldest > name]

    assert wrong == []


def test_the_oldest_compatible_schema_never_decreases():
    """When several migrations are made at once, only the declaration of the last one is used."""
    oldest = [each for _, each in sorted(declared().items())]

    assert oldest == sorted(oldest)
