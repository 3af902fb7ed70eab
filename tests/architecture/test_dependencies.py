"""Our dependencies: new enough, each with a documented reason, and pinned with a hash."""

import json
import re
from importlib.metadata import version

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from tests.world.tree import PROJECT, ROOT

# Below these stand holes or bugs we know of; docs/dependencies.md names them.
FLOORS = {
    "aiocache": "0.12.3",
    "aiohttp": "3.14.4",
    "aiosqlite": "0.22.1",
    "cryptography": "50",
    "msgspec": "0.22",
    "orjson": "3.13",
    "prometheus-client": "0.26",
    "pyjwt": "2.15",
    "redis": "8.1",
    "sqlalchemy": "2.1.9",
}
RUN = [Requirement(text) for text in PROJECT["project"]["dependencies"]]
BY_EXTRA = {
    name: [Requirement(text) for text in needs if not text.startswith("pixgate[")]
    for name, needs in PROJECT["project"]["optional-dependencies"].items()
}
EXTRAS = [need for needs in BY_EXTRA.values() for need in needs]
TEST = [Requirement(text) for text in PROJECT["dependency-groups"]["test"]]
CLIENTS = [Requirement(text) for text in PROJECT["dependency-groups"]["clients"]]
PROGRAMS = {
    name: [Requirement(text) for text in PROJECT["dependency-groups"][name]]
    for name in ("node", "deploy", "sbom", "site")
}
NEEDED = [need for needs in PROGRAMS.values() for need in needs]
HASHES = r"(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+"
PIN = re.compile(rf"^([a-z0-9-]+)==(\S+)(?: ; .*?)? \\\n{HASHES}", re.MULTILINE)
BEYOND = {"run": "production", "test": "run"}
"""Each of these locks begins by naming another one, whose pins it does not repeat."""


def pins(name: str) -> dict[str, str]:
    """The version of each package that is installed from a lock."""
    text = (ROOT / f"requirements/{name}.txt").read_text()
    below = pins(BEYOND[name]) if name in BEYOND else {}
    return below | {pin[1]: pin[2] for pin in PIN.finditer(text)}


LOCKS = {name: pins(name) for name in ("production", "run", "test", "clients", *PROGRAMS)}


def test_installed_packages_are_new_enough():
    wrong = [
        (name, floor) for name, floor in FLOORS.items() if Version(version(name)) < Version(floor)
    ]

    assert wrong == []


def test_required_packages_are_new_enough():
    """An installation without our pins is safe too."""
    for name, floor in FLOORS.items():
        asked = next(need for need in [*RUN, *EXTRAS] if need.name == name)

        lowest = [
            Version(part.version) for part in asked.specifier if part.operator in {">=", "=="}
        ]

        assert lowest
        assert max(lowest) >= Version(floor)


def test_a_pin_satisfies_its_requirement():
    """After a change of pyproject.toml: ``make lock``."""
    run, production = ("otel", "panel", "pdf", "redis", "sqlite"), ("panel", "redis")
    asked = {
        "run": [*RUN, *(need for extra in run for need in BY_EXTRA[extra])],
        "production": [*RUN, *(need for extra in production for need in BY_EXTRA[extra])],
        "test": [*RUN, *EXTRAS, *TEST],
        "clients": CLIENTS,
        **PROGRAMS,
    }

    wrong = [
        f"{need} is {LOCKS[lock].get(need.name, 'absent')} in {lock}.txt"
        for lock, needs in asked.items()
        for need in needs
        if need.name not in LOCKS[lock] or not need.specifier.contains(LOCKS[lock][need.name])
    ]

    assert wrong == []


def test_every_pin_has_its_hash():
    for lock in LOCKS:
        text = (ROOT / f"requirements/{lock}.txt").read_text()
        named = f"-r {BEYOND[lock]}.txt\n" if lock in BEYOND else ""

        assert named + "".join(pin[0] for pin in PIN.finditer(text)) == text


@pytest.mark.parametrize("folder", [".", "tests/proofs/clients"])
def test_npm_packages_are_pinned_and_name_no_registry(folder: str):
    """The lock has versions and hashes; the registry is configured on each machine."""
    folder = ROOT / folder
    package = json.loads((folder / "package.json").read_text())
    asked = package.get("dependencies", {}) | package["devDependencies"]
    locked = json.loads((folder / "package-lock.json").read_text())["packages"]

    pins = {name: locked[f"node_modules/{name}"]["version"] for name in asked}
    assert pins == asked
    assert all("integrity" in each for path, each in locked.items() if path)
    assert not any("resolved" in each for each in locked.values())


def test_every_npm_package_has_a_documented_reason():
    """Those of tests too; their own dependencies are only in the lock."""
    package = json.loads((ROOT / "package.json").read_text())
    page = (ROOT / "docs/dependencies.md").read_text()

    explained = re.findall(r"^\| npm `(\S+)` \|", page, re.MULTILINE)

    assert sorted(explained) == sorted(package["dependencies"] | package["devDependencies"])


def test_tests_run_on_the_service_s_versions():
    """No package is pinned twice: otherwise tests would run on other versions."""
    assert LOCKS["production"].items() <= LOCKS["run"].items() <= LOCKS["test"].items()


def test_production_requirements_exclude_optional_extras():
    """They are in run.txt: a container on PostgreSQL stays below 120 MB of packages."""
    extras = ("otel", "pdf", "sqlite", "verify")
    spared = {need.name for extra in extras for need in BY_EXTRA[extra]}

    assert not spared & set(LOCKS["production"])


def test_every_dependency_has_its_reason():
    """``docs/dependencies.md`` has one row for each, and none for a removed one."""
    page = (ROOT / "docs/dependencies.md").read_text()

    explained = re.findall(r"^\| `([a-z0-9-]+)` \|", page, re.MULTILINE)

    needs = [
        *RUN,
        *EXTRAS,
        *TEST,
        *CLIENTS,
        *NEEDED,
    ]
    assert sorted(explained) == sorted({need.name for need in needs})
