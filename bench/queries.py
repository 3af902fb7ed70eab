"""
How many statements a request sends to the store, told by its trace id.

Those that find out who asks are told apart: two for each page behind the sign-in, the browser's
session and the person's; the keys of sessions when they were not read for a while; and once a
minute the writing that keeps a session alive. So is the one that counts what stands beside the
side column: every five seconds, for all who see the same. A look-up that is batched with those
of other requests is counted for each of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from sqlalchemy import event

from gateway.core import trace
from gateway.store.kernel.batching import BatchQueue
from gateway.store.kernel.database import Database

_WHO_ASKS = (
    *("FROM panel_sessions", "UPDATE panel_sessions SET seen_at"),
    *("FROM users, sessions", "UPDATE sessions SET seen_at", "FROM signing_keys"),
)
_BADGES = "SELECT (SELECT count(*) AS count_1 FROM payouts"
"""How the statement begins that counts for the side column."""
_NO_QUERIES = (
    *("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "PRAGMA", "SET "),
    *(";", "DEALLOCATE"),
    "INSERT INTO request_log",  # a page that shows requests stores the last second's first
)


@dataclass(slots=True)
class Statements:
    """Statements by the trace that sent them; what runs beside requests has the empty one."""

    of_pages: Counter[str] = field(default_factory=Counter)
    who_asks: Counter[str] = field(default_factory=Counter)
    badges: Counter[str] = field(default_factory=Counter)

    def add(self, statement: str) -> None:
        """Count a statement for the request that sends it."""
        if statement.lstrip().upper().startswith(_NO_QUERIES):
            return
        self._kind(statement)[trace.current_trace_id()] += 1

    def _kind(self, statement: str) -> Counter[str]:
        """Say what a statement is for."""
        told = " ".join(statement.split())
        if any(each in told for each in _WHO_ASKS):
            return self.who_asks
        return self.badges if told.startswith(_BADGES) else self.of_pages


@contextmanager
def counting(database: Database) -> Iterator[Statements]:
    """Count what requests send to a store in this process."""
    sent = Statements()
    ask = BatchQueue[Any, Any].ask

    async def counted(queue: BatchQueue[Any, Any], item: object) -> object:
        sent.of_pages[trace.current_trace_id()] += 1
        return await ask(queue, item)

    def count(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        sent.add(statement)

    with ExitStack() as counting_ends:
        counting_ends.enter_context(patch.object(BatchQueue, "ask", counted))
        engines = {each.pool: each.sync_engine for each in (database.reader, database.writer)}
        for engine in engines.values():
            event.listen(engine, "before_cursor_execute", count)
            counting_ends.callback(event.remove, engine, "before_cursor_execute", count)
        yield sent
