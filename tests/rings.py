"""
The marks that `make quick` leaves out.

A test of a server is marked by the server it needs; ``process`` and ``slow`` are set by hand. Long
proofs need no mark: they are in ``tests/proofs``.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest

MARKS = {
    "server": "asks for PostgreSQL, Redis or a browser; not in `make quick`",
    "process": "starts a process; not in `make quick`",
    "slow": "a unit test that sets up much; not in `make quick`",
}
SERVERS = frozenset({"browser", "postgres_server", "redis_server"})


def mark(items: Iterable[pytest.Item]) -> None:
    """Mark each test that asks for a server, by its fixtures or by its database's parameter."""
    for item in items:
        if SERVERS & set(getattr(item, "fixturenames", ())) or "postgres" in _parameters(item):
            item.add_marker("server")


def _parameters(item: pytest.Item) -> list[str]:
    given = getattr(item, "callspec", None)
    return [each for each in given.params.values() if isinstance(each, str)] if given else []
