"""
SQL that was compiled for one store serves the next, as it does in a process that runs for days.

Each test opens a store of its own, and SQLAlchemy keeps compiled statements by the engine they were
compiled for: compiling them anew took a fifth of the time of the tests that use a store.
"""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Connection, Engine, event
from sqlalchemy.engine.interfaces import Dialect

_FIRST: dict[tuple[type[Dialect], bool], Engine] = {}
"""
The first engine that connected, of each driver and of those that only read: their dialect never
rolls back. By then it knows the server.
"""


class Statement(NamedTuple):
    text: str
    parameters: object = ()


def share() -> None:
    """Let every engine of this process use what an earlier one of the same driver compiled."""
    if not event.contains(Engine, "engine_connect", _lend):
        event.listen(Engine, "engine_connect", _lend)


def _lend(connection: Connection) -> None:
    engine = connection.engine
    kind = type(engine.dialect), engine.dialect.skip_autocommit_rollback
    first = _FIRST.setdefault(kind, engine)
    # compiled statements are found by the dialect itself, beside their text
    engine.dialect = connection.dialect = first.dialect
    engine._compiled_cache = first._compiled_cache
