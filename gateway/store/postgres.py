"""
A store on a PostgreSQL server.

Isolation is READ COMMITTED; durability is the server's own ``synchronous_commit``. Behind PgBouncer
use session pooling, or 1.21 and later with ``ignore_startup_parameters`` for the timeouts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlalchemy import (
    URL,
    ColumnElement,
    Insert,
    Table,
    event,
    func,
    literal,
    select,
    tuple_,
)
from sqlalchemy.dialects.postgresql import ARRAY, insert
from sqlalchemy.exc import DisconnectionError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry, PoolProxiedConnection

from gateway.store.database import Database, Key, Limits

if TYPE_CHECKING:
    from sqlalchemy.engine.interfaces import AdaptedConnection

_RECYCLE_S = 1800
_BATCHES = 3


def open_server(url: URL, limits: Limits) -> Database:
    """Prepare a pool; the first use connects."""
    writer = _engine(url, limits)
    event.listen(writer.sync_engine, "checkout", _refuse_closed)
    return Database(
        writer=writer,
        reader=writer.execution_options(isolation_level="AUTOCOMMIT"),
        insert_new=_insert_new,
        one_of=_one_of,
        among=_among,
        writers=min(_BATCHES, limits.pool_size),
        checkout_s=limits.checkout_s,
        whole_s=limits.whole_s,
    )


def _engine(url: URL, limits: Limits) -> AsyncEngine:
    milliseconds = str(round(limits.statement_s * 1000))
    return create_async_engine(
        url,
        pool_size=limits.pool_size,
        max_overflow=0,
        pool_timeout=limits.checkout_s,
        pool_recycle=_RECYCLE_S,
        isolation_level="READ COMMITTED",
        hide_parameters=True,
        connect_args={
            "timeout": limits.connect_s,
            "command_timeout": limits.statement_s,
            "server_settings": {
                "application_name": "pixgate",
                "statement_timeout": milliseconds,
                "idle_in_transaction_session_timeout": milliseconds,
            },
        },
    )


def _refuse_closed(
    connection: AdaptedConnection, _entry: ConnectionPoolEntry, _proxy: PoolProxiedConnection
) -> None:
    """Have the pool open another in place of one the server has closed; costs no round trip."""
    if connection.driver_connection.is_closed():
        raise DisconnectionError


def _insert_new(table: Table) -> Insert:
    # Of any key, not of the primary one alone: of two equal rows at the same time PostgreSQL may
    # meet the other unique index first, and would call that a failure.
    return insert(table).on_conflict_do_nothing()


def _one_of(column: ColumnElement[object], values: Sequence[object]) -> ColumnElement[bool]:
    # An array, whatever the number of values: one text, so that it is prepared once.
    return column == func.any(literal(values, ARRAY(column.type)))


def _among(columns: Sequence[ColumnElement[object]], keys: Sequence[Key]) -> ColumnElement[bool]:
    parts = zip(columns, zip(*keys, strict=True), strict=True)
    arrays = (literal(list(values), ARRAY(column.type)) for column, values in parts)
    return tuple_(*columns).in_(select(*map(func.unnest, arrays)))
