"""
Programs of others that build clients from our documents; ``make clients`` installs them.

Java and Node are the machine's. Where anything is missing, the tests skip.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from tests.servers.demand import absent

HOME = Path(__file__).parents[2] / ".tools" / "clients"
NAME = "clients"


@dataclass(frozen=True, slots=True)
class Programs:
    """Where each program is installed."""

    python: Path
    openapi_python_client: Path
    openapi_generator: Path
    openapi_typescript: Path
    tsc: Path

    @property
    def environment(self) -> dict[str, str]:
        """The environment they run in: their own programs first, such as the formatter."""
        return {**os.environ, "PATH": f"{self.python.parent}{os.pathsep}{os.environ['PATH']}"}


def programs() -> Programs:
    """Find the programs; skips the test where one is missing."""
    for program in ("java", "node"):
        if shutil.which(program) is None:
            absent(NAME, f"no {program} in the path")
    found = Programs(
        python=HOME / "bin" / "python",
        openapi_python_client=HOME / "bin" / "openapi-python-client",
        openapi_generator=HOME / "bin" / "openapi-generator-cli",
        openapi_typescript=HOME / "node_modules" / ".bin" / "openapi-typescript",
        tsc=HOME / "node_modules" / ".bin" / "tsc",
    )
    for name in Programs.__slots__:
        program = getattr(found, name)
        if not program.is_file():
            absent(NAME, f"no {program.name}: run `make clients`")
    return found


def postman_runner() -> Path:
    """Find newman, which runs a Postman collection; skips the test where it is missing."""
    newman = HOME / "node_modules" / ".bin" / "newman"
    if shutil.which("node") is None or not newman.is_file():
        absent(NAME, "no newman: run `make clients`")
    return newman
