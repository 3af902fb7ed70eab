"""
Prometheus' own tools: ``promtool`` and ``prometheus``, as Debian's package has them.

Found in the path, else the tests that need them skip; ``TEST_REQUIRE`` names both ``promtool``.
"""

import shutil
import subprocess
from pathlib import Path

from tests.servers.demand import absent

NAME = "promtool"


def program(name: str) -> str:
    """Find one of the two, or skip."""
    return shutil.which(name) or absent(NAME, f"{name} is not installed")


def promtool(*arguments: str | Path, typed: bytes = b"") -> tuple[int, str]:
    """Run it to its end; return its status and all that it says."""
    done = subprocess.run(
        [program("promtool"), *arguments],
        check=False,
        input=typed,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return done.returncode, done.stdout.decode()
