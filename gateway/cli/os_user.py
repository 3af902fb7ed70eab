"""The user of the operating system who runs a command."""

from __future__ import annotations

import os
import pwd
from pathlib import Path
from typing import Final

_NOBODY_SIGNED_IN: Final = 2**32 - 1
"""The kernel's word for a process that no sign-in began."""


def os_user(login: Path = Path("/proc/self/loginuid")) -> str:
    """
    Return the name, or else the number, of who signed in to the machine.

    That is the kernel's record, which `sudo` keeps and a variable such as ``USER`` does not change.
    Where nobody signed in, as in a container, it is the user of the process.
    """
    try:
        number = int(login.read_text(encoding="ascii"))
    except (OSError, ValueError):
        number = _NOBODY_SIGNED_IN
    if number == _NOBODY_SIGNED_IN:
        number = os.getuid()
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)
