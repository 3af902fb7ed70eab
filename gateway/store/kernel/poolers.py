"""
Time-outs of database sessions, with or without a pooler such as PgBouncer.

A time-out is never a start-up parameter: a pooler that does not know it refuses the connection.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
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
# The walk over accounts looks dear to the planner and takes a fraction of a millisecond; to compile
# it took 15 to 50 each time.
_NOT_COMPILED: Final = "SET jit = off"


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
    """Return the URL without our parameter, as the driver takes it."""
    return url.difference_update_query([_PARAMETER])


def driver_options(pooler: Pooler) -> Mapping[str, int]:
    """Return the driver's options."""
    return _UNPREPARED if pooler == "transaction" else {}


def set_timeouts(engine: AsyncEngine, pooler: Pooler, seconds: float) -> None:
    """
    Set time-outs of statements and idle transactions, on the server too.

    A session that lasts has its connection kept alive, and compiles no statement.
    """
    milliseconds = round(seconds * 1000)
    if pooler == "transaction":
        _set_for_transactions(engine.sync_engine, milliseconds)
        return
    timeouts = (f"SET {name} = {milliseconds}" for name in _TIMEOUTS)
    statements = "; ".join((*timeouts, _KEPT_ALIVE, _NOT_COMPILED))
    event.listen(engine.sync_engine, "connect", partial(_set_for_session, statements))
    if pooler == "session":
        event.listen(engine.sync_engine, "checkin", _give_back)


def _set_for_session(statements: str, connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
    """Set the time-outs when a connection is made, in one round trip; a failing one is dropped."""
    adapted = cast("AdaptedConnection", connection)
    try:
        adapted.run_async(lambda driver: driver.execute(statements))
    except OSError:
        raise  # TimeoutError is one
    except Exception as problem:
        # the driver's own kind, which SQLAlchemy does not wrap here
        raise DBAPIError(statements, None, problem) from problem


def _set_for_transactions(engine: Engine, milliseconds: int) -> None:
    """
    Set the time-outs for a transaction, before its first statement.

    A read stands alone without a transaction: it ends by our clock, which has it cancelled.
    """
    each = (f"set_config('{name}', '{milliseconds}', true)" for name in _TIMEOUTS)
    statement = f"SELECT {', '.join(each)}"

    def begun(connection: Connection) -> None:
        options: Mapping[str, Any] = connection.get_execution_options()
        connection.info[_DUE] = options.get("isolation_level") != "AUTOCOMMIT"

    def executes(connection: Connection, *_: object) -> None:
        if connection.info.pop(_DUE, False):
            connection.exec_driver_sql(statement)

    event.listen(engine, "begin", begun)
    event.listen(engine, "before_cursor_execute", executes)


def _give_back(_: DBAPIConnection | None, entry: ConnectionPoolEntry) -> None:
    """Close a connection after its unit of work, so that the pooler can give it to another."""
    entry.invalidate()
