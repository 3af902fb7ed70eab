"""``pixgate adapter new``, from the wheel alone: what it writes is right before it is touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from provider_adapters.testing.scaffold.package import OPTIONS, write
from tests.world.authors import Environment
from tests.world.extent import WHOLE

# Every pair of choices is in one of these twelve packages.
PAIRS = {
    f"bank{proof}{money}": {
        "proof": OPTIONS["proof"][proof],
        "money": OPTIONS["money"][money],
        "auth": OPTIONS["auth"][(proof + money) % 3],
        "paging": OPTIONS["paging"][(proof + 2 * money) % 3],
    }
    for proof in range(4)
    for money in range(3)
}
VERIFIED = ["bank00", "bank11", "bank22"] if WHOLE else ["bank00"]
"""The three have every choice but one proof, which differs from another in its key alone."""


@pytest.fixture(scope="module")
def packages(environment: Environment) -> Path:
    folder = environment.folder / "pairs"
    for name, chosen in PAIRS.items():
        write(name, folder, chosen)
    return folder


def test_the_packages_cover_every_pair_of_choices():
    """A third choice or a fifth option needs other packages."""
    pairs = {
        frozenset({(one, chosen[one]), (other, chosen[other])})
        for chosen in PAIRS.values()
        for one in OPTIONS
        for other in OPTIONS
        if one != other
    }
    wanted = {
        frozenset({(one, this), (other, that)})
        for one in OPTIONS
        for other in OPTIONS
        if one < other
        for this in OPTIONS[one]
        for that in OPTIONS[other]
    }

    assert pairs == wanted


@pytest.mark.parametrize("name", ["ab", "abcdefghijklmnopqrstuvwx"])
def test_a_package_with_a_short_or_long_name_passes_ruff(environment: Environment, name: str):
    """The length of a name changes the formatting."""
    folder = write(name, environment.folder)

    environment.runs("ruff", "check", "--no-cache", ".", within=folder)
    environment.runs("ruff", "format", "--no-cache", "--check", ".", within=folder)


def test_lint_and_types_pass(environment: Environment, packages: Path):
    environment.runs("ruff", "check", "--no-cache", ".", within=packages)
    environment.runs("ruff", "format", "--no-cache", "--check", ".", within=packages)
    python = ("--python-executable", environment.bin / "python")
    cache = ("--cache-dir", environment.folder / ".mypy_cache")
    modules = [f"pixgate-{name}/pixgate_{name}" for name in (PAIRS if WHOLE else VERIFIED)]
    environment.runs("mypy", "--strict", *python, *cache, *modules, within=packages)


@pytest.mark.parametrize("name", VERIFIED)
def test_the_suite_is_green(environment: Environment, packages: Path, name: str):
    environment.installs(packages / f"pixgate-{name}")

    environment.runs("pixgate", "adapter", "verify", name)


@pytest.mark.skipif(not WHOLE, reason="`make proofs` alone")
def test_a_new_package_is_generated_checked_and_verified_by_commands(environment: Environment):
    """As on the page: new, install, lint, types; and the package's own test of its README."""
    options = ("--auth", "oauth2", "--money", "text", "--paging", "cursor", "--proof", "ecdsa")
    environment.runs("pixgate", "adapter", "new", "acme", *options)
    folder = environment.folder / "pixgate-acme"
    environment.installs(folder)

    environment.checks(folder)
    environment.runs("python", "-m", "pytest", "-q", "-k", "readme or bank.settled", within=folder)
    shown = environment.runs("pixgate", "providers", "--matrix")

    assert "acme" in shown.splitlines()[0]
