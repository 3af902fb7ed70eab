"""The network as tests see it: this machine, and the servers that were named on purpose."""

import ipaddress
import os
import socket
import sys
from urllib.parse import urlsplit

NAMED = ("TEST_DATABASE_URL", "TEST_REDIS_URL")


def stay() -> None:
    """Refuse, for the rest of this process, to connect anywhere but the loopback."""
    named = _addresses()

    def refuse(event: str, arguments: tuple[object, ...]) -> None:
        if event != "socket.connect":
            return
        address = arguments[1]
        if isinstance(address, tuple) and not _near(str(address[0]), named):
            message = f"a test may not leave this machine: {address!r}"
            raise PermissionError(message)

    sys.addaudithook(refuse)


def _addresses() -> frozenset[str]:
    hosts = [urlsplit(os.environ.get(name, "")).hostname for name in NAMED]
    return frozenset(
        str(found[4][0]) for host in hosts if host for found in socket.getaddrinfo(host, None)
    )


def _near(host: str, named: frozenset[str]) -> bool:
    if host in {"localhost", *named}:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
