"""Stores with much in them, made by one statement a table; payouts on SQLite only."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from uuid import uuid4

from sqlalchemy import insert, select

from bench import payments, stub
from bench.partner import Partner
from gateway.config.reading import read_settings
from gateway.domain.payouts.payouts import Payouts
from gateway.security.keys import load_keys
from gateway.store.engine import open_store
from gateway.store.kernel.database import Limits
from gateway.store.tables.core import accounts

ASKED = 64
"""Payouts of today, which are asked for; all others are older."""

UNHURRIED = Limits(statement_s=60.0, whole_s=120.0)

_MICROSECONDS = 1_000_000
_OLDER = 3 * 24 * 3600 * _MICROSECONDS
_APART = 30 * _MICROSECONDS
_NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :rows)"


def fill_accounts(config: Path, partner: Partner, rows: int) -> Sequence[str]:
    """Add copies of the partner's account until there are so many; return the ids of all."""
    settings = read_settings(config, os.environ)
    seal = load_keys(settings).sealer.seal
    ids = sorted(str(uuid4()) for _ in range(rows - 1))  # in order, they are stored quickly
    sealed: Iterator[dict[str, object]] = (
        {"id": each, "sealed": seal(stub.TOKEN, each), "like": partner.account} for each in ids
    )
    with _opened(settings.folder) as database:
        replaced = {"id": ":id", "sealed_credentials": ":sealed"}
        copied = _copied(database, "accounts", replaced)
        database.executemany(f"{copied} WHERE id = :like", sealed)
    return [partner.account, *ids]


async def add_accounts(config: Path, partner: Partner, rows: int) -> Sequence[str]:
    """Add such copies to any store; return their ids."""
    settings = read_settings(config, os.environ)
    seal = load_keys(settings).sealer.seal
    ids = sorted(str(uuid4()) for _ in range(rows))
    store = open_store(settings.store_url, UNHURRIED)
    try:
        async with store.database.writing() as connection:
            like = select(accounts).where(accounts.c.id == partner.account)
            model = (await connection.execute(like)).mappings().one()
            made = [
                {**model, "id": each, "sealed_credentials": seal(stub.TOKEN, each)} for each in ids
            ]
            await connection.execute(insert(accounts), made)
    finally:
        await store.close()
    return ids


def fill_payouts(config: Path, partner: Partner, rows: int) -> Sequence[str]:
    """Add paid payouts to the partner's account; return the references of those of today."""
    settings = read_settings(config, os.environ)
    asked = asyncio.run(_add_asked(settings.store_url, partner.account))
    with _opened(settings.folder) as database:
        database.execute(
            "UPDATE payouts SET state = 'paid', settled_at = created_at, next_check_at = NULL"
        )
        replaced = {
            "reference": "printf('older-%09d', i)",
            "reference_sha256": "randomblob(32)",
            "provider_key": "printf('older-%09d', i)",
            "created_at": f"created_at - {_OLDER} - i * {_APART}",
        }
        copied = _copied(database, "payouts", replaced)
        older = {"rows": max(1, rows - ASKED), "like": asked[0]}
        database.execute(f"{_NUMBERS} {copied}, n WHERE reference = :like", older)
        database.execute("ANALYZE")
    return asked


@contextmanager
def _opened(folder: Path) -> Iterator[sqlite3.Connection]:
    """Write to a store in one transaction, in a hurry: nobody misses it after a crash."""
    with closing(sqlite3.connect(folder / "pixgate.db")) as database:
        database.execute("PRAGMA synchronous = OFF")
        database.execute("PRAGMA cache_size = -500000")
        with database:
            yield database
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")


async def _add_asked(url: str, account_id: str) -> Sequence[str]:
    """Store payouts as the operation does."""
    store = open_store(url)
    try:
        payouts: Payouts = store.payouts
        made = [payments.intent(account_id, f"asked-{number:09}") for number in range(ASKED)]
        for payout, attempt in made:
            await payouts.add(payout, attempt)
        return [payout.reference for payout, _ in made]
    finally:
        await store.close()


def _copied(database: sqlite3.Connection, table: str, replaced: dict[str, str]) -> str:
    """Write the statement that copies rows of a table but for some columns."""
    columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
    values = ", ".join(replaced.get(column, column) for column in columns)
    return f"INSERT INTO {table} ({', '.join(columns)}) SELECT {values} FROM {table}"  # noqa: S608 - names are ours
