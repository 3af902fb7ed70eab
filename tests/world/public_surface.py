"""
What authors of adapters build on, by name: modules, what is in them, and what is given to it.

``python -m tests.world.public_surface`` records it anew, for the next port.
"""

from __future__ import annotations

import enum
import importlib
import inspect
import json
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

RECORD = Path(__file__).parents[1] / "outside/port-1.json"
PACKAGES = ("gateway.banks.port", "provider_adapters.kit")
STAGE = "provider_adapters.testing.verify.stage"
CHECKS = frozenset({"gateway.banks.port.answers"})
"""What the gateway checks an adapter's answers with; no author needs them."""
CLIENT = frozenset(
    f"provider_adapters.kit.{name}"
    for name in ("admission", "bank_limits", "faults", "limits", "tolerant", "transcript")
)
"""What the kit's client for banks is made of; authors use the client."""
Surface = dict[str, list[str]]
"""What stands in each module: ``name``, ``Class.member`` and ``function(parameter, optional=)``."""


def surface() -> Surface:
    public = sorted(set(_modules()) - CHECKS - CLIENT)
    return {name: sorted(set(_names(importlib.import_module(name)))) for name in public}


def _modules() -> Iterator[str]:
    yield STAGE
    for package in PACKAGES:
        found = importlib.import_module(package)
        yield from (f"{package}.{each.name}" for each in pkgutil.iter_modules(found.__path__))


def _names(module: ModuleType) -> Iterator[str]:
    listed = getattr(module, "__all__", ())
    for name, value in vars(module).items():
        if name.startswith("_") or inspect.ismodule(value):
            continue
        owner = getattr(value, "__module__", module.__name__)
        if owner != module.__name__ and name not in listed:
            continue
        yield name
        if inspect.isclass(value) and owner == module.__name__:
            yield from (f"{name}.{member}" for member in _members(value))
        elif inspect.isfunction(value):
            yield f"{name}{_parameters(value)}"


def _members(kind: type) -> Iterator[str]:
    if issubclass(kind, enum.Enum):
        yield from (f"{each.name}={each.value}" for each in kind)
        return
    for name in sorted({*vars(kind), *getattr(kind, "__annotations__", ())}):
        value = vars(kind).get(name)
        if name.startswith("_"):
            continue
        yield f"{name}{_parameters(value)}" if inspect.isfunction(value) else name
    made = vars(kind).get("__init__")
    if inspect.isfunction(made):
        yield f"__init__{_parameters(made)}"


def _parameters(function: object) -> str:
    """Write the parameters: those that may be left out after the others, with an ``=``."""
    assert callable(function)
    written = [
        each.name.lstrip("_") + ("" if each.default is each.empty else "=")
        for each in inspect.signature(function).parameters.values()
    ]
    return f"({', '.join(written)})"


def broken(recorded: Surface, present: Surface) -> list[str]:
    """Name broken promises; additions break nothing."""
    return [
        f"{module}: {promised}"
        for module, names in recorded.items()
        for promised in names
        if not any(_holds(promised, name) for name in present.get(module, ()))
    ]


def _holds(promised: str, present: str) -> bool:
    """Say whether one is the other, with further parameters that may be left out."""
    if promised == present:
        return True
    name, _, given = promised.partition("(")
    other, _, taken = present.partition("(")
    if name != other or not given:
        return False
    wanted, offered = given.rstrip(")").split(", "), taken.rstrip(")").split(", ")
    further = [each for each in offered if each not in wanted]
    optional = all(each.endswith("=") for each in further)
    # A class is made with names; to a function something may be given by its place.
    kept = [each for each in offered if each in wanted]
    return optional and kept == wanted and ("__init__" in name or offered[: len(kept)] == wanted)


if __name__ == "__main__":
    RECORD.write_text(json.dumps(surface(), indent=1) + "\n")
