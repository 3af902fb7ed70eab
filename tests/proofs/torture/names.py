"""
A name server that falls silent for a while, for the processes of a campaign and nobody else.

They have mounts of their own (``unshare -rm``), in which the system looks names up in a file of
hosts that is ours and then asks a name server that never answers. A name that stands in the file
is found; one that is taken out hangs, for as long as the system's own look-up is patient.
"""

from __future__ import annotations

import secrets
import shutil
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

NAME = "localhost"
"""Of the bank: every simulated bank may be called by it, and its certificate names it."""
_FOUND, _HANGS = f"127.0.0.1 {NAME}\n", ""
_ENTER = """
for file in hosts resolv.conf nsswitch.conf
do mount --bind "$0/$file" "/etc/$file" || exit
done
exec "$@"
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """
    What the campaign's processes find.

    Attributes:
        folder: Of the files they see; None where names cannot hang on this machine.
    """

    folder: Path | None = None

    @property
    def can_hang(self) -> bool:
        """Does this machine let a process have mounts of its own, and us a name server?"""
        return self.folder is not None

    @property
    def command(self) -> Sequence[str]:
        """What runs another command, under its own process id, with these names."""
        return () if self.folder is None else _entering(self.folder)

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """Let no look-up of the name end for the length of the block, and a little longer."""
        assert self.folder is not None
        file = self.folder / "hosts"
        file.write_text(_HANGS)
        try:
            yield
        finally:
            file.write_text(_FOUND)


@contextmanager
def names_in(folder: Path) -> Iterator[Names]:
    """Run a silent name server, on an unused address of this machine."""
    folder.mkdir()
    address = f"127.{secrets.randbelow(250) + 2}.{secrets.randbelow(256)}.53"
    (folder / "hosts").write_text(_FOUND)
    (folder / "resolv.conf").write_text(f"nameserver {address}\n")
    (folder / "nsswitch.conf").write_text("hosts: files dns\n")
    with socket.socket(type=socket.SOCK_DGRAM) as server:
        try:
            server.bind((address, 53))
            tried = subprocess.run([*_entering(folder), "true"], check=False, capture_output=True)
            refused = tried.returncode != 0
        except OSError:
            refused = True
        yield Names() if refused else Names(folder=folder)


def _entering(folder: Path) -> Sequence[str]:
    program = shutil.which("unshare") or "unshare"
    return (program, "-rm", shutil.which("sh") or "sh", "-c", _ENTER, str(folder))
