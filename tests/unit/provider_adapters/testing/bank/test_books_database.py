"""The file: one transaction is all or nothing, a commit is durable."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from provider_adapters.testing.bank.books import Database, Kept


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "bank.db")


def names(database):
    return [row["name"] for row in database.all("SELECT name FROM dialect_state ORDER BY name")]


def add(database, name):
    return database.insert("dialect_state", Kept(kind="k", name=name, value=""))


def test_a_failed_transaction_leaves_nothing(path):
    database = Database(path)

    def add_twice() -> None:
        with database.transaction():
            add(database, "a")
            add(database, "a")

    with pytest.raises(sqlite3.IntegrityError):
        add_twice()

    assert names(database) == []
    database.close()


def test_what_was_committed_is_there_after_opening_again(path):
    database = Database(path)
    with database.transaction():
        add(database, "a")
    database.close()

    again = Database(path)

    assert names(again) == ["a"]
    again.close()


def test_it_is_safe_against_kill_and_power_cut(path):
    """WAL, ``synchronous=FULL`` (2), foreign keys on."""
    database = Database(path)

    said = [
        database.one(f"PRAGMA {name}") for name in ("journal_mode", "synchronous", "foreign_keys")
    ]

    assert said == [{"journal_mode": "wal"}, {"synchronous": 2}, {"foreign_keys": 1}]
    database.close()


def test_a_wrong_type_is_refused_by_the_schema(path):
    database = Database(path)

    with pytest.raises(sqlite3.IntegrityError):
        database.insert("dialect_state", Kept(kind="k", name="a", value="", until="soon"))

    assert names(database) == []
    database.close()


def test_a_file_is_the_owner_s_alone(tmp_path: Path):
    """SQLite gives the journals beside it the same mode."""
    with closing(Database(str(tmp_path / "bank.db"))):
        modes = {file.stat().st_mode & 0o777 for file in tmp_path.iterdir()}

    assert modes == {0o600}


def test_a_file_of_an_older_bank_is_refused(path):
    with closing(sqlite3.connect(path)) as older:
        older.execute("CREATE TABLE ledger (name TEXT)")

    with pytest.raises(OSError, match="older simulated bank: delete it"):
        Database(path)
