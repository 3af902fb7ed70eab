"""
A store on a PostgreSQL server.

Isolation is READ COMMITTED; durability is the server's own ``synchronous_commit``. What a pooler in
between changes is in ``poolers``.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlencode

from sqlalchemy import (
    URL,
    BindParameter,
    ColumnElement,
    DateTime,
    Insert,
    Table,
    Text,
    any_,
    bindparam,
    column,
    event,
    func,
    select,
    text,
    tuple_,
)
from sqlalchemy.dialects.postgresql import ARRAY, insert
from sqlalchemy.exc import DisconnectionError
from sqlalchemy.ext.asyncio.engine import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry, PoolProxiedConnection

from gateway.core.clocks import Monotonic
from gateway.store.kernel.database import Database, Limits
from gateway.store.kernel.poolers import (
    Pooler,
    driver_options,
    pooler_of,
    set_timeouts,
    without_pooler,
)
from gateway.store.kernel.prepared import BulkRow, Execution, Found, PreparedExecution, Types
from gateway.store.tables.backoffice import approvals, batch_rows, batches, requests
from gateway.store.tables.core import attempts, charges, foreign_debits, payouts

if TYPE_CHECKING:
    import asyncpg
    from sqlalchemy.engine.interfaces import AdaptedConnection

# Middleboxes drop idle connections silently; one is opened anew before that is likely.
_RECYCLE_S = 1800
_BATCHES = 3
_OURS_LATER_S = 0.5
"""What the server has cancelled is surely undone; what we have given up may be committed yet."""
_YOUNG_S, _OLD_S = 0.05, 10.0
_SERVER_TIME = select(func.clock_timestamp(type_=DateTime(timezone=True)))
# A result of 256 KiB, as much as a batch of payouts writes, does not fit into the least working
# memory: the server writes it to a temporary file in the database's own tablespace. That leaves
# no dead rows behind, and fails as soon as a table could not grow.
_SPILLING = text(
    "SELECT set_config('work_mem', '64kB', true), set_config('temp_tablespaces', '', true)"
)
_TRIAL = text(
    "SELECT current_setting('transaction_read_only') = 'off' AND"
    " (SELECT count(*) FROM unnest(array_fill(repeat('0', 8192), ARRAY[32]))) = 32"
)
_SERVER_LOAD = text(
    "SELECT (SELECT sum(numbackends) FROM pg_stat_database)::int AS used,"
    " current_setting('max_connections')::int"
    " - current_setting('superuser_reserved_connections')::int AS most"
)

# The tables themselves do not say it, for this dialect would be loaded wherever a table is.
for _index in (
    *approvals.indexes,
    *batches.indexes,
    *batch_rows.indexes,
    *requests.indexes,
    *payouts.indexes,
    *attempts.indexes,
    *foreign_debits.indexes,
    *charges.indexes,
):
    _where = _index.dialect_options["sqlite"]["where"]
    if _where is not None:
        _index.dialect_options["postgresql"]["where"] = _where


class UnnestArrays:
    """
    ``BulkParameters``: the statement runs once, over a table of one array per value.

    The server prepares a text once per connection, but plans, binds and answers each execution:
    one execution with arrays costs a fraction of one per row.
    """

    def parameters(self, types: Types) -> Mapping[str, ColumnElement[Any]]:
        """Return the columns of that table; a statement that uses one reads from it."""
        # A parameter has no collation of its own: it takes that of the column it meets.
        plain = {name: Text() if isinstance(each, Text) else each for name, each in types.items()}
        arrays = [bindparam(name, type_=ARRAY(each)) for name, each in plain.items()]
        named = [column(name, each) for name, each in plain.items()]
        table = func.unnest(*arrays).table_valued(*named, name="given").render_derived()
        return {name: table.c[name] for name in types}

    def insert_rows(self, into: Insert, types: Types) -> Insert:
        """Return an INSERT that selects the rows of the unnested arrays."""
        return into.from_select(list(types), select(*self.parameters(types).values()))

    def bind(self, rows: Sequence[BulkRow]) -> Mapping[str, Sequence[object]]:
        """Turn rows into arrays."""
        return {name: [row[name] for row in rows] for name in rows[0]}


UNNEST_ARRAYS = UnnestArrays()


def open_server(url: URL, limits: Limits, monotonic: Monotonic = time.monotonic) -> Database:
    """Prepare a pool; the first use connects."""
    writer = _engine(url, limits)
    reader = writer.execution_options(isolation_level="AUTOCOMMIT")
    event.listen(writer.sync_engine, "checkout", _refuse_closed)
    event.listen(writer.sync_engine, "checkout", _FreshPlans(monotonic, limits.statement_s))
    return Database(
        writer=writer,
        reader=reader,
        insert_new=_insert_new,
        insert_or_change=_insert_or_change,
        among=_among,
        lend=partial(_lend, writer) if pooler_of(url) == "none" else reader.connect,
        one_of=_in_list,
        each_of=_each_of,
        bulk=UNNEST_ARRAYS,
        joins=True,
        # Through a pooler of transactions it would have no time-out of the server's.
        commits_statements=pooler_of(url) != "transaction",
        writers=min(_BATCHES, limits.pool_size),
        checkout_s=limits.checkout_s,
        whole_s=limits.whole_s,
        takes_writes=_takes_writes,
        server_time=_server_time,
        server_load=_server_load,
    )


def _engine(url: URL, limits: Limits) -> AsyncEngine:
    pooler = pooler_of(url)
    engine = create_async_engine(
        without_pooler(url).difference_update_query(["sslrootcert"]),
        pool_size=limits.pool_size,
        max_overflow=0,
        # Few connections that are busy: each process of the server has its own caches to warm.
        pool_use_lifo=True,
        pool_timeout=limits.checkout_s,
        pool_recycle=_RECYCLE_S,
        isolation_level="READ COMMITTED",
        hide_parameters=True,
        connect_args={
            "timeout": limits.connect_s,
            "command_timeout": _statement_s(pooler, limits),
            # every pooler knows this one
            "server_settings": {"application_name": "pixgate"},
            **driver_options(pooler),
            **_authority(url),
        },
    )
    set_timeouts(engine, pooler, limits.statement_s)
    return engine


def _authority(url: URL) -> Mapping[str, str]:
    """Return the CA file for the server; the driver takes it only in a URL."""
    file = url.query.get("sslrootcert")
    return {} if file is None else {"dsn": f"postgresql://?{urlencode({'sslrootcert': file})}"}


async def _takes_writes(connection: AsyncConnection) -> bool:
    """Return False on a standby, and where it is set to read only; fails without room."""
    await connection.execute(_SPILLING)
    takes: bool = (await connection.execute(_TRIAL)).scalar_one()
    return takes


async def _server_time(connection: AsyncConnection) -> datetime:
    """Return the server's clock as of this statement, not of its transaction."""
    at: datetime = (await connection.execute(_SERVER_TIME)).scalar_one()
    return at


async def _server_load(connection: AsyncConnection) -> tuple[int, int]:
    """Return the connections of the server, and how many it takes of others than superusers."""
    row = (await connection.execute(_SERVER_LOAD)).one()
    return row.used, row.most


def _statement_s(pooler: Pooler, limits: Limits) -> float:
    """Return the client-side time-out of a statement: longer than the server's."""
    return limits.statement_s + (0.0 if pooler == "transaction" else _OURS_LATER_S)


def _refuse_closed(
    connection: AdaptedConnection, _entry: ConnectionPoolEntry, _proxy: PoolProxiedConnection
) -> None:
    """Have the pool replace a connection that the server has closed; costs no round trip."""
    if connection.driver_connection.is_closed():
        raise DisconnectionError


class _FreshPlans:
    """
    Makes the server plan a connection's prepared statements anew, foreign keys among them.

    It keeps a plan while the connection lasts, and what is right for an empty table may read all of
    a full one for every row. It looks again when autovacuum has counted, which takes a minute as a
    rule, and until then a new store gets slower with every payout. So plans are dropped when a
    connection is twice as old as the last time, and every ten seconds once it is old; that costs
    one round trip.
    """

    def __init__(self, monotonic: Monotonic, within_s: float) -> None:
        self._monotonic = monotonic
        self._within_s = within_s

    def __call__(
        self, connection: AdaptedConnection, entry: ConnectionPoolEntry, _: PoolProxiedConnection
    ) -> None:
        """Drop a connection's old plans; close the connection if that fails."""
        now = self._monotonic()
        since, due = entry.info.setdefault(type(self), (now, now + _YOUNG_S))
        if now < due:
            return
        entry.info[type(self)] = since, now + min(now - since, _OLD_S)
        try:
            within_s = self._within_s
            connection.run_async(lambda driver: driver.execute("DISCARD PLANS", timeout=within_s))
        except Exception as problem:
            # of whatever kind: the pool knows this one as the word to open another
            raise DisconnectionError from problem


def _insert_new(table: Table) -> Insert:
    # Of any key, not of the primary one alone: of two equal rows at the same time PostgreSQL may
    # meet the other unique index first, and would call that a failure.
    return insert(table).on_conflict_do_nothing()


def _insert_or_change(
    table: Table, changed: Mapping[str, object], where: ColumnElement[bool]
) -> Insert:
    key = list(table.primary_key)
    return insert(table).on_conflict_do_update(index_elements=key, set_=changed, where=where)


def _in_list(column: ColumnElement[str], name: str) -> ColumnElement[bool]:
    # one parameter, so that its text is the same for any number
    return column == any_(bindparam(name, type_=ARRAY(Text())))


def _among(columns: Sequence[ColumnElement[object]], name: str) -> ColumnElement[bool]:
    return tuple_(*columns).in_(select(*map(func.unnest, _arrays(columns, name))))


@asynccontextmanager
async def _lend(engine: AsyncEngine) -> AsyncIterator[Execution]:
    """
    Ask the driver of a connection of the pool, which begins no transaction.

    SQLAlchemy's work for each statement costs a tenth to a quarter of a payout (ADR 0042).
    """
    async with engine.connect() as connection:
        driver = (await connection.get_raw_connection()).driver_connection
        yield PreparedExecution(engine.dialect, cast("asyncpg.Connection[asyncpg.Record]", driver))


def _each_of(found: Found, columns: Sequence[ColumnElement[Any]], name: str) -> Found:
    # Joined, not compared with arrays: it knows little of the newest rows and takes them to be few,
    # and would rather read all that is recent than look for each.
    named = [column(f"asked_{number}", each.type) for number, each in enumerate(columns)]
    given = func.unnest(*_arrays(columns, name)).table_valued(*named, name="asked")
    asked = given.render_derived()
    same = (each == one for each, one in zip(columns, asked.c, strict=True))
    return found.where(*same)


def _arrays(
    columns: Sequence[ColumnElement[Any]], name: str
) -> Sequence[BindParameter[Sequence[object]]]:
    types = (ARRAY(each.type) for each in columns)
    return [bindparam(f"{name}_{number}", type_=each) for number, each in enumerate(types)]
