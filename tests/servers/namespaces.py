"""
A network and mounts of a program's own, by ``unshare -rmn``, which some containers refuse.

Found as ``unshare`` in the path, and tried once; else the tests skip.
"""

import shutil
import subprocess

from tests.servers.demand import absent

NAME = "namespaces"


def found() -> list[str]:
    """Return the command that runs another in them; skips the test where that is refused."""
    program = shutil.which("unshare")
    command = [program or "unshare", "-rmn"]
    if program is None or subprocess.run([*command, "true"], check=False).returncode:
        absent(NAME, "unshare -rmn is refused here")
    return command
