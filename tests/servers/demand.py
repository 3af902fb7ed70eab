"""What happens to a test whose server is not on this machine."""

import os
from typing import NoReturn

import pytest

INSTALL = {
    "axe": "make setup",
    "browser": "apt-get install chromium-headless-shell",
    "caddy": "apt-get install caddy",
    "clients": "make clients",
    "haproxy": "apt-get install haproxy",
    "judges": "make judges",
    "nginx": "apt-get install nginx-light",
    "pgbouncer": "apt-get install pgbouncer",
    "postgres": "apt-get install postgresql",
    "promtool": "apt-get install prometheus",
    "redis": "apt-get install redis-server",
    "site": "make docs-site",
    "socat": "apt-get install socat",
}


def absent(name: str, reason: str) -> NoReturn:
    """
    Skip, and say how to install the server; fail instead where ``TEST_REQUIRE`` names it.

    ``TEST_REQUIRE`` is a list with commas, for example ``postgres,redis,browser``: a pipeline
    that has everything must not turn green because a server did not start.
    """
    if demanded(name):
        pytest.fail(f"TEST_REQUIRE names {name}: {reason}")
    install = f"; {INSTALL[name]}" if name in INSTALL else ""
    pytest.skip(f"{name}: {reason}{install}")


def demanded(name: str) -> bool:
    """Say whether ``TEST_REQUIRE`` names it."""
    return name in os.environ.get("TEST_REQUIRE", "").replace(" ", "").split(",")
