"""Who may import whom: the contracts of pyproject.toml, and the one they cannot express."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from provider_adapters.registry import ADAPTERS
from tests.world.tree import PACKAGES, PROJECT, ROOT, modules

PLAIN = [
    path
    for path in modules()
    if path.is_relative_to("gateway/core") or path.is_relative_to("gateway/banks/port")
]
OURS = {*PACKAGES, "__future__", "_typeshed"}
DOCUMENTED = ("row._mapping",)
"""Names with an underscore that their library's documentation shows."""
# Contract, and the list of it in which every adapter's package stands.
ADAPTERS_ARE_LISTED = {"kit": "forbidden_modules", "authors": "source_modules"}


def test_the_import_contracts_are_kept():
    """Imports go only downwards, and not between neighbours."""
    linted = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-logo", "--no-cache"],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )

    assert linted.returncode == 0, linted.stdout + linted.stderr


def test_all_import_contracts_are_present():
    """Each contract was violated once on purpose to see it reported."""
    names = [contract["name"] for contract in PROJECT["tool"]["importlinter"]["contracts"]]

    assert [name.partition(".")[0] for name in names] == [f"{n}" for n in range(1, 12)]


def test_every_folder_has_its_place_in_the_order():
    """A folder that is not listed may be imported from anywhere."""
    contracts = PROJECT["tool"]["importlinter"]["contracts"]
    order = next(each["layers"] for each in contracts if each["id"] == "order")
    folders = {".".join(path.with_suffix("").parts[:2]) for path in modules()}

    ours = {each for each in folders if each.startswith("gateway.")} - {"gateway.__init__"}
    assert ours == {each for each in order if each != "policies"}


def test_a_contract_about_adapters_names_all_of_them():
    """A new adapter has the same restrictions; the layers of contract 6 are exhaustive."""
    for contract, lists in ADAPTERS_ARE_LISTED.items():
        rows = PROJECT["tool"]["importlinter"]["contracts"]
        listed = next(row[lists] for row in rows if row["id"] == contract)
        factories = [type(factory).__module__ for factory in ADAPTERS.values()]

        packages = {module.rpartition(".")[0] for module in factories}

        assert len(packages) >= 5
        assert packages - set(listed) == set()


def test_core_and_the_port_need_only_the_standard_library_and_structs():
    """A contract can only forbid packages by name; this test forbids all others (ADR 0011)."""
    known = sys.stdlib_module_names | {"gateway", "msgspec"}

    strangers = {str(path): set(imported(path)) - known for path in PLAIN}

    assert strangers
    assert {path: found for path, found in strangers.items() if found} == {}


def test_no_private_name_of_a_dependency_is_used():
    """Any patch release may change one. Ruff finds private names of attributes (SLF001)."""
    private = {
        f"{path}: {name}"
        for path in modules()
        for name in dependency_names(path)
        if any(part.startswith("_") and not part.endswith("__") for part in name.split("."))
    }
    excused = {
        (str(path), line.strip())
        for path in modules()
        for line in (ROOT / path).read_text().splitlines()
        if "noqa: SLF001" in line and not any(name in line for name in DOCUMENTED)
    }

    assert private == set()
    assert excused == set()


def test_aiohttp_is_used_by_its_public_modules():
    """Its other modules are internal."""
    found = {name for path in modules() for name in dependency_names(path)}
    used = {name.rpartition(".")[0] for name in found if name.startswith("aiohttp.")}

    assert used <= {
        "aiohttp",
        "aiohttp.abc",
        "aiohttp.typedefs",
        "aiohttp.web",
    }


def test_top_level_packages_match_the_distribution():
    """A fourth root would be outside every contract."""
    assert PROJECT["tool"]["importlinter"]["root_packages"] == list(PACKAGES)
    assert PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == list(PACKAGES)


def imported(path: Path) -> Iterator[str]:
    """Name the root package of every import of a module."""
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


def dependency_names(path: Path) -> Iterator[str]:
    """Name everything that a module imports of others than ourselves, with its module."""
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.Import):
            named = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            named = [f"{node.module}.{each.name}" for each in node.names]
        else:
            continue
        yield from (name for name in named if name.partition(".")[0] not in OURS)
