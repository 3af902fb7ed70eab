"""
Programs of others that build clients, ours and generated ones; ``make clients`` installs them.

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
    esbuild: Path
    go: Path

    @property
    def environment(self) -> dict[str, str]:
        """
        The environment they run in: their own programs first, such as the formatter.

        Go takes no module and no other version of itself from elsewhere, and keeps what it has
        compiled in the checkout.
        """
        kept = {"GOCACHE": str(HOME / "go/cache"), "GOPATH": str(HOME / "go"), "CGO_ENABLED": "0"}
        alone = {"GOPROXY": "off", "GOTOOLCHAIN": "local", "GOTELEMETRY": "off", "GOENV": "off"}
        path = f"{self.python.parent}{os.pathsep}{os.environ['PATH']}"
        return {**os.environ, **kept, **alone, "PATH": path}


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
        esbuild=HOME / "node_modules" / ".bin" / "esbuild",
        go=HOME / "bin" / "go",
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
