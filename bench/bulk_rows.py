"""
Stores and banks with very much in them, made by a few statements: a million payouts a minute.

Rows are copies of models that the store itself has written, so that a column nobody thought of
here has a value all the same. What must differ differs: reference, ids, amount and time.
"""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Final
from uuid import UUID

from sqlalchemy import Table, make_url, text
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from bench import payments
from gateway.app.store import Store, open_store
from gateway.banks.port.payout_orders import FailureCode, PixDestination
from gateway.banks.port.pix_keys import PixKeyType
from gateway.core.money import Money
from gateway.payouts.model import Failure, PayoutState
from gateway.store.kernel.poolers import without_pooler
from gateway.store.tables.core import attempts, payouts

MODELS: Final = 100
"""Payouts that are copied; seven of them are refused, the others are paid."""

OPEN: Final = 40
"""Payouts without an outcome: there are never many, however much has been paid."""

_REFUSED_EVERY = 14
_APART = timedelta(seconds=26)
_APART_US = _APART // timedelta(microseconds=1)

_SENDING = frozenset({PayoutState.SENDING})
_NAMES = ("Maria Silva", "João Pereira", "Ana Paula de Souza", "Mercado Central SA")


@dataclass(frozen=True, slots=True)
class Dialect:
    """
    How a database writes what the copies are made of; ``i`` counts them from zero.

    Attributes:
        driver: As SQLAlchemy names it.
        numbers: A table ``n`` with the column ``i``, up to ``:rows``.
        digest: The SHA-256 of a text.
        earlier: An instant, some milliseconds before.
        setting: What is said first, so that it goes quickly: nobody misses this store.
    """

    driver: str
    numbers: str
    digest: str
    earlier: str
    setting: Sequence[str]


_SQLITE = Dialect(
    driver="sqlite+aiosqlite",
    numbers="RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < :rows - 1)",
    digest="sha256({})",
    earlier="({} - {} * 1000)",
    setting=("PRAGMA synchronous = OFF", "PRAGMA cache_size = -300000"),
)
_POSTGRES = Dialect(
    driver="postgresql+asyncpg",
    numbers="n(i) AS (SELECT generate_series(0, CAST(:rows AS bigint) - 1))",
    digest="sha256(convert_to({}, 'UTF8'))",
    earlier="({} - {} * interval '1 millisecond')",
    setting=("SET synchronous_commit = off", "SET work_mem = '256MB'"),
)
_NUMBER = "(CAST(:first AS bigint) + i)"
_REFERENCE = f"('pedido-' || (1000000000 + {_NUMBER}))"
_CHANGED: Final[Mapping[str, str]] = {
    "reference": _REFERENCE,
    "provider_key": f"('bulk-' || (1000000000 + {_NUMBER}))",
    "provider_id": f"('pay_' || (1000000000 + {_NUMBER}))",
    "e2e_id": f"('E6070119020261120' || (100000000000000 + {_NUMBER}))",
    "centavos": "(1000 + (i * 7919) % 900000)",
    "trace_id": f"('bulk-' || (1000000000 + {_NUMBER}))",
}
_INSTANTS = ("created_at", "updated_at", "settled_at", "started_at", "ended_at", "send_deadline")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bulk:
    """
    How many payouts, and of when.

    Attributes:
        first: The number of the first one; every number is used once in a store.
        apart: Each is so much older than the one before, and the first than now.
            At 26 seconds a million reach 300 days back, ten thousand three.
        open: Payouts without an outcome, besides.
    """

    rows: int
    first: int = 0
    apart: timedelta = _APART
    open: int = OPEN


async def fill_payouts(store_url: str, account_ids: Sequence[str], bulk: Bulk) -> None:
    """Add payouts to accounts in turn, most of them paid, each with its attempt."""
    await _add_models(store_url, account_ids, bulk.open)
    dialect = _POSTGRES if store_url.startswith("postgresql") else _SQLITE
    engine = create_async_engine(without_pooler(make_url(store_url)).set(drivername=dialect.driver))
    try:
        async with engine.connect() as connection:
            await _hurry(connection, dialect, account_ids)
            for table in (payouts, attempts):
                await _copy(connection, dialect, table, bulk)
            await connection.commit()
            await connection.execute(text("ANALYZE"))
            await connection.commit()
    finally:
        await engine.dispose()


async def _hurry(connection: AsyncConnection, dialect: Dialect, account_ids: Sequence[str]) -> None:
    """Make a connection quick, and list what is copied; SQLite has to be taught a digest."""
    if dialect is _SQLITE:
        raw = await connection.get_raw_connection()
        assert raw.driver_connection is not None  # noqa: S101 - it is connected
        await raw.driver_connection.create_function("sha256", 1, _digest, deterministic=True)
    for each in dialect.setting:
        await connection.execute(text(each))
    quoted = ", ".join(f"'{UUID(each)}'" for each in account_ids)
    await connection.execute(
        text(
            "CREATE TEMPORARY TABLE models AS SELECT account_id AS model_account, "  # noqa: S608 - ids alone
            "reference_sha256 AS model, CAST(substr(reference, 7) AS integer) AS place "
            f"FROM payouts WHERE reference LIKE 'model-%' AND account_id IN ({quoted})"
        )
    )


async def _copy(connection: AsyncConnection, dialect: Dialect, table: Table, bulk: Bulk) -> None:
    """Copy a model into each number's row."""
    names = [column.name for column in table.columns if column.computed is None]
    values = ", ".join(_value(dialect, name, bulk.apart) for name in names)
    copying = (
        f"INSERT INTO {table.name} ({', '.join(names)}) WITH {dialect.numbers} "  # noqa: S608 - names are ours
        f"SELECT {values} FROM n JOIN models ON models.place = n.i % {MODELS} "
        "JOIN "
        f"{table.name} AS one ON one.account_id = model_account AND one.reference_sha256 = model"
    )
    await connection.execute(text(copying), {"rows": bulk.rows, "first": bulk.first})


def _value(dialect: Dialect, column: str, apart: timedelta) -> str:
    """Write what a column of a copy holds."""
    if column == "reference_sha256":
        return dialect.digest.format(_REFERENCE)
    if column in _INSTANTS:
        milliseconds = apart // timedelta(milliseconds=1)
        return dialect.earlier.format(f"one.{column}", f"((i + 1) * {milliseconds})")
    return _CHANGED.get(column, f"one.{column}")


async def _add_models(store_url: str, account_ids: Sequence[str], open_ones: int) -> None:
    """Store what is copied, and payouts that are open, as the operation does."""
    store = open_store(store_url)
    try:
        paid = (_add(store, account_ids, place, f"model-{place}") for place in range(MODELS))
        unknown = (
            _add(store, account_ids, place, f"open-{place}", PayoutState.UNKNOWN)
            for place in range(open_ones)
        )
        await asyncio.gather(*paid, *unknown)  # they share commits
    finally:
        await store.close()


async def _add(
    store: Store,
    account_ids: Sequence[str],
    place: int,
    reference: str,
    state: PayoutState = PayoutState.PAID,
) -> None:
    """Store one payout and what became of it."""
    payout, attempt = payments.intent(account_ids[place % len(account_ids)], reference)
    payee = PixDestination(
        name=_NAMES[place % len(_NAMES)],
        tax_number="52998224725",
        key_type=PixKeyType.EMAIL,
        key=f"payee-{place}@example.com",
    )
    sent = {"tax_number": "529.982.247-25", "key": payee.key}
    value = Money(1050 + place)
    made = replace(payout, destination=payee, destination_sent=sent, value=value)
    await store.payouts.add(made, attempt)
    said = payments.outcome(made)
    if state is PayoutState.UNKNOWN:
        said = replace(said, before=_SENDING, after=state, provider_id="", e2e_id="")
    elif place % _REFUSED_EVERY == 0:
        refused = Failure(code=FailureCode.INSUFFICIENT_FUNDS, forbidden=False)
        said = replace(said, after=PayoutState.REJECTED, failure=refused)
    else:
        said = replace(said, after=state, settled_at=said.at + timedelta(seconds=3))
    await store.payouts.record(said)


def _digest(value: str) -> bytes:
    return hashlib.sha256(value.encode()).digest()


def fill_statement(bank_file: Path, bank_account: str, rows: int) -> None:
    """Add movements to an account at a stopped sandbox bank; they come to nothing in pairs."""
    numbers = _SQLITE.numbers.replace(":rows", str(rows))
    with closing(sqlite3.connect(bank_file)) as bank:
        bank.execute("PRAGMA synchronous = OFF")
        (now,) = bank.execute("SELECT max(at) FROM statement").fetchone()
        bank.execute(
            f"WITH {numbers} INSERT INTO statement "  # noqa: S608 - numbers are ours
            "(account_id, kind, centavos, e2e_id, name, tax_number, description, at) "
            "SELECT ?, CASE i % 2 WHEN 0 THEN 'pix_in' ELSE 'ted_out' END, "
            "(1000 + i / 2) * (1 - 2 * (i % 2)), 'E9999999920261120' || (100000000000000 + i), "
            f"'Maria Silva', '52998224725', 'pedido ' || i, ? - i * {_APART_US} FROM n",
            (bank_account, now),
        )
        bank.commit()
