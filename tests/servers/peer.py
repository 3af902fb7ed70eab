"""What nginx, Caddy and HAProxy are here: the same paths, each answered in its own way."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.servers.demand import absent


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """
    The environment of a peer.

    Attributes:
        authority: Who signs callers' certificates.
        server: The peer's own certificate and key, in one file.
        upstream: Port of the bank behind it.
    """

    authority: Path
    server: Path
    upstream: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """
    A running server, by its ports; a connection is idle for a second at most.

    ``/`` says that it is plain, ``/who`` what TLS proved; ``/empty`` is 204, ``/away`` 307,
    ``/last`` closes the connection; ``/bank`` is the bank behind, with at most 1 kB of body,
    ``/silent`` the same with 0.3 s of patience, ``/nobody`` a bank that is not there.

    Attributes:
        tls12: TLS 1.2 alone, with a certificate of the caller's.
        tls13: The same with TLS 1.3.
        gracefully: The signal after which calls under way are answered.
    """

    name: str
    plain: int
    tls12: int
    tls13: int
    process: subprocess.Popen[bytes]
    gracefully: signal.Signals

    def end(self, number: signal.Signals) -> None:
        """Ask it to end, without waiting."""
        self.process.send_signal(number)


def found(name: str) -> str:
    """Find a server's program, also where only root looks; skip or fail where there is none."""
    program = shutil.which(name) or shutil.which(name, path="/usr/sbin")
    if program is None:
        absent(name, f"{name} is not installed")
    return program


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
