"""Very many payouts are made quickly, and each is found as the gateway finds any other."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta

import pytest

from bench import bulk_rows, payments
from gateway.domain.payouts.payouts import PayoutState
from gateway.store.engine import open_store
from provider_adapters.simulated_bank.kernel import database
from tests.world.store import migrated

ROWS = 1_000


@pytest.fixture(params=["sqlite", "postgres"])
def url(request, tmp_path):
    """The address of an empty store."""
    if request.param == "postgres":
        return request.getfixturevalue("migrated_postgres_url")
    migrated(tmp_path / "pixgate.db")
    return f"sqlite:///{tmp_path / 'pixgate.db'}"


async def test_copies_are_found_by_reference_with_their_attempts(url):
    """Their digests are those of their references; amounts, ids and times differ."""
    store = open_store(url)
    account = await payments.open_account(store)

    await bulk_rows.fill_payouts(url, [account], bulk_rows.Bulk(rows=ROWS))

    found = [await store.payouts.find(account, f"pedido-{1_000_000_000 + i}") for i in range(ROWS)]
    tried = await store.payouts.attempts(account, "pedido-1000000999")
    left = await store.payouts.find(account, f"pedido-{1_000_000_000 + ROWS}")
    await store.close()
    made = [each for each in found if each is not None]
    assert len(made) == ROWS
    assert {each.state for each in made} == {PayoutState.PAID, PayoutState.REJECTED}
    assert len({each.created_at for each in made}) == ROWS
    assert len({each.e2e_id for each in made}) == ROWS
    assert made[0].created_at > made[-1].created_at
    assert [each.trace_id for each in tried] == ["bulk-1000000999"]
    assert left is None


async def test_a_second_account_has_payouts_of_its_own_numbers_and_times(url):
    store = open_store(url)
    accounts = [await payments.open_account(store, name) for name in ("first", "second")]
    apart = timedelta(milliseconds=10)

    for first, account in zip((0, ROWS), accounts, strict=True):
        bulk = bulk_rows.Bulk(rows=ROWS, first=first, apart=apart, open=0)
        await bulk_rows.fill_payouts(url, [account], bulk)

    newest = await store.payouts.find(accounts[1], f"pedido-{1_000_000_000 + ROWS}")
    oldest = await store.payouts.find(accounts[1], f"pedido-{1_000_000_000 + 2 * ROWS - 1}")
    await store.close()
    assert newest is not None
    assert oldest is not None
    assert newest.created_at - oldest.created_at < ROWS * apart + timedelta(seconds=5)


def test_movements_come_to_nothing_and_are_told_newest_first(tmp_path):
    file = tmp_path / "bank.db"
    with closing(sqlite3.connect(file)) as bank:
        bank.executescript(database._SCHEMA.read_text(encoding="utf-8"))
        bank.execute(
            "INSERT INTO accounts VALUES"
            " ('a', 'd', 'Loja', '1', '1', '1', 'x', 'c', 'z', 'k', 0, 1)"
        )
        bank.execute(
            "INSERT INTO statement (account_id, kind, centavos, name, tax_number, description, at)"
            " VALUES ('a', 'pix_in', 1, '', '', '', 1700000000000000)"
        )
        bank.commit()

    bulk_rows.fill_statement(file, "a", ROWS)

    with closing(sqlite3.connect(file)) as bank:
        count, total, ids = bank.execute(
            "SELECT count(*), sum(centavos), count(DISTINCT e2e_id) FROM statement"
        ).fetchone()
    assert (count, total, ids) == (ROWS + 1, 1, ROWS)
