"""
Programs that judge the files in ``deploy``; ``make judges`` installs them.

They stand in an environment of their own, because they bring versions of libraries that the service
does not run on. Where they are absent, the tests skip.
"""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.servers.demand import absent

NAME = "judges"
_BIN = Path(__file__).parents[2] / ".tools" / "deploy" / "bin"


def judge(
    program: str, *arguments: str | Path, environ: Mapping[str, str] | None = None
) -> tuple[int, str, str]:
    """Run one of them to its end; return its status, its output and what it says of errors."""
    if not (_BIN / program).is_file():
        absent(NAME, f"no {program}: run `make judges`")
    done = subprocess.run(
        [_BIN / program, *arguments],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, **(environ or {})},
    )
    return done.returncode, done.stdout, done.stderr
