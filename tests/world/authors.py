"""What an author of an adapter works in: an environment made from the wheel alone."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
_UV = ROOT / ".tools/bin/uv"
_ALLOWED = ("gateway.banks.port.", "gateway.core.", "provider_adapters.")


@dataclass(frozen=True)
class Environment:
    """
    A virtual environment with the wheel in it, and what it depends on; no tree of ours.

    Attributes:
        folder: An empty one to work in.
    """

    bin: Path
    folder: Path

    @property
    def environ(self) -> dict[str, str]:
        """What its programs run in: nothing leads back to our tree."""
        return {**_bare(), "VIRTUAL_ENV": str(self.bin.parent)}

    def runs(self, *command: str | Path, within: Path | None = None, seconds: float = 300) -> str:
        """Run a program, one of the environment's first; return what it printed."""
        first = self.bin / str(command[0])
        program = first if first.exists() else BIN / str(command[0])
        done = subprocess.run(
            [str(program), *map(str, command[1:])],
            cwd=within or self.folder,
            env=self.environ,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def installs(self, package: Path) -> None:
        """Install a package in its current state, copied, because linking would download tools."""
        pip = ("pip", "install", "-q", "--offline", "--no-deps", "--python", self.bin / "python")
        self.runs(_UV, *pip, "--reinstall", package)

    def checks(self, package: Path) -> None:
        """Lint a package and check its types, the tests included."""
        self.runs("ruff", "check", "--no-cache", ".", within=package)
        self.runs("ruff", "format", "--no-cache", "--check", ".", within=package)
        python = ("--python-executable", self.bin / "python")
        cache = ("--cache-dir", self.folder / ".mypy_cache")
        self.runs("mypy", *python, *cache, ".", within=package)


def wheel_in(folder: Path, source: Path = ROOT) -> Path:
    """Build a wheel into an empty folder, without network; skips where it cannot."""
    if not _UV.exists():
        pytest.skip("uv is not here: `make setup` installs it")
    made = subprocess.run(
        [_UV, "build", "-q", "--offline", "--wheel", "-o", folder, source],
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode:
        pytest.skip("the build backend is not in uv's cache: `make setup` fetches it")
    (wheel,) = folder.glob("*.whl")
    return wheel


def environment_in(folder: Path, source: Path = ROOT) -> Environment:
    """Build a wheel and make an environment of it, without network; skips where it cannot."""
    wheel = wheel_in(folder, source)
    place = folder / "environment"
    _uv("venv", "-q", "--offline", "--python", sys.executable, place)
    python = place / "bin/python"
    _uv("pip", "install", "-q", "--offline", "--no-deps", "--python", python, wheel)
    (site,) = place.glob("lib/python*/site-packages")
    # A folder of a .pth is searched, and the .pth files in it are not: our tree stays away.
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    work = folder / "work"
    work.mkdir()
    return Environment(bin=place / "bin", folder=work)


def private_imports(text: str) -> Iterator[str]:
    """Name a module's imports that are not public for authors."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module != "__future__":
            module = node.module or ""
            names = [each.name for each in node.names]
            ours = module.startswith(("gateway", "policies", "provider_adapters"))
            hidden = any(part.startswith("_") for part in [*module.split("."), *names])
            if hidden or (ours and not f"{module}.".startswith(_ALLOWED)):
                yield f"from {module} import {', '.join(names)}"
        if isinstance(node, ast.Import):
            for each in node.names:
                if each.name.startswith(("gateway", "policies", "provider_adapters")):
                    yield f"import {each.name}"


def _uv(*arguments: str | Path) -> None:
    subprocess.run([_UV, *arguments], check=True, capture_output=True)


def _bare() -> dict[str, str]:
    """Return our environment without what leads back to our tree."""
    return {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
