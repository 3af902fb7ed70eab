"""
How a server's sessions get their time-outs, with or without a pooler such as PgBouncer in between.

A time-out is never a start-up parameter: a pooler that does not know it refuses the connection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, cast, get_args

from sqlalchemy import URL, Connection, Engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio.engine import AsyncEngine
from sqlalchemy.pool import ConnectionPoolEntry

if TYPE_CHECKING:
    from sqlalchemy.engine.interfaces import AdaptedConnection, DBAPIConnection

Pooler = Literal["none", "session", "transaction"]
"""
What stands between the gateway and the server.

``none``: nothing, or a pooler with a session for every connection of every process. ``session``:
a pooler with fewer; a connection is given back after each unit of work. ``transaction``: a pooler
that gives each transaction whatever session is free, so that nothing may be left in one.
"""
_PARAMETER: Final = "pooler"
_UNPREPARED: Final[Mapping[str, int]] = {
    "statement_cache_size": 0,
    "prepared_statement_cache_size": 0,
}
"""Statements without a name, sent whole with each execution: the next may reach another session."""
_DUE: Final = "pixgate_timeouts_due"
_TIMEOUTS: Final = ("statement_timeout", "idle_in_transaction_session_timeout")
# Where little is done most connections are idle, and what stands in between forgets those it does
# not hear of, the first after some five minutes.
_KEPT_ALIVE: Final = "SET tcp_keepalives_idle = 60"


def pooler_of(url: URL) -> Pooler:
    """
    Return the pooler that a URL names.

    Raises:
        ValueError: there is no such kind.
    """
    given = url.query.get(_PARAMETER, "none")
    if given not in get_args(Pooler):
        problem = f"a store's URL has a pooler of {', '.join(get_args(Pooler))}"
        raise ValueError(problem)
    return cast("Pooler", given)


def without_pooler(url: URL) -> URL:
    """Return the URL as the driver takes it."""
    return url.difference_update_query([_PARAMETER])


def driver_options(pooler: Pooler) -> Mapping[str, int]:
    """Return what the driver must be told."""
    return _UNPREPARED if pooler == "transaction" else {}


def set_timeouts(engine: AsyncEngine, pooler: Pooler, seconds: float) -> None:
    """Have statements and idle transactions end after this time, by the server's clock too."""
    milliseconds = round(seconds * 1000)
    if pooler == "transaction":
        _OfTransactions(milliseconds).listen(engine.sync_engine)
        return
    event.listen(engine.sync_engine, "connect", _OfSessions(milliseconds))
    if pooler == "session":
        event.listen(engine.sync_engine, "checkin", _give_back)


class _OfSessions:
    """Sets them when a connection is made: one round trip."""

    def __init__(self, milliseconds: int) -> None:
        timeouts = (f"SET {name} = {milliseconds}" for name in _TIMEOUTS)
        self._statements = "; ".join((*timeouts, _KEPT_ALIVE))

    def __call__(self, connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
        """Set them; a connection that cannot is none."""
        adapted = cast("AdaptedConnection", connection)
        try:
            adapted.run_async(lambda driver: driver.execute(self._statements))
        except OSError:
            raise  # TimeoutError is one
        except Exception as problem:
            # the driver's own kind, which SQLAlchemy does not wrap here
            raise DBAPIError(self._statements, None, problem) from problem


class _OfTransactions:
    """
    Sets them for a transaction alone, before its first statement: only then does it begin.

    A read stands alone without a transaction: it ends by our clock, which has it cancelled.
    """

    def __init__(self, milliseconds: int) -> None:
        each = (f"set_config('{name}', '{milliseconds}', true)" for name in _TIMEOUTS)
        self._statement = f"SELECT {', '.join(each)}"

    def listen(self, engine: Engine) -> None:
        """Hear of every transaction and statement."""
        event.listen(engine, "begin", self._begun)
        event.listen(engine, "before_cursor_execute", self._executes)

    def _begun(self, connection: Connection) -> None:
        """Note whether this is a transaction for the server."""
        options: Mapping[str, Any] = connection.get_execution_options()
        connection.info[_DUE] = options.get("isolation_level") != "AUTOCOMMIT"

    def _executes(self, connection: Connection, *_: object) -> None:
        if connection.info.pop(_DUE, False):
            connection.exec_driver_sql(self._statement)


def _give_back(_: DBAPIConnection | None, entry: ConnectionPoolEntry) -> None:
    """Close a connection after its unit of work, so that the pooler can give it to another."""
    entry.invalidate()
