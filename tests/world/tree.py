"""The tree as the tests of this folder see it."""

import ast
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("gateway", "policies", "provider_adapters")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def modules() -> list[Path]:
    """Every module of the product, relative to the root; ``__init__.py`` files are no modules."""
    return [path for path in _python_files() if path.name != "__init__.py"]


def packages() -> list[Path]:
    """Every ``__init__.py`` of the product, relative to the root."""
    return [path for path in _python_files() if path.name == "__init__.py"]


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function of a module, methods and inner ones included."""
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def kept() -> list[Path]:
    """Every file that is, or may come, under version control, relative to the root."""
    git = shutil.which("git")
    if git is None:
        pytest.skip("no git to say what is kept")
    listed = subprocess.run(
        [git, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    if listed.returncode:
        pytest.skip(f"git does not list this folder: {listed.stderr.strip()}")
    found = (Path(name) for name in listed.stdout.split("\0") if name)
    return [path for path in found if (ROOT / path).is_file()]


def documents() -> list[Path]:
    """Every page of documentation, relative to the root."""
    return [path for path in kept() if path.suffix == ".md"]


def _python_files() -> list[Path]:
    return sorted(
        path.relative_to(ROOT) for package in PACKAGES for path in (ROOT / package).rglob("*.py")
    )
