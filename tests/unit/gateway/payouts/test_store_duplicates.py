"""Searches for similar payouts share a statement, and each gets only its own result."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import text

from gateway.app.store import Store, prepare
from gateway.companies.service import add_company
from gateway.core.account import Environment
from gateway.payouts.model import Payout, PayoutRequest
from gateway.payouts.store import StoredPayouts
from gateway.store.tables.core import payouts
from tests.world.statements import Statement
from tests.world.store import open_store
from tests.world.stores import samples
from tests.world.stores.patience import LONG
from tests.world.stores.samples import ACCOUNT, NOW, attempt, payout

AGO = NOW - timedelta(minutes=10)


async def stored(store: Store, *payouts: Payout) -> StoredPayouts:
    """Store some."""
    for each in payouts:
        await store.payouts.add(each, attempt())
    return store.payouts


def asking(reference: str) -> PayoutRequest:
    """Ask for what ``payout`` has stored."""
    like = payout(reference)
    return PayoutRequest(
        reference=reference,
        method=like.method,
        value=like.value,
        date=like.date,
        description=like.description,
        destination=like.destination,
        destination_sent=like.destination_sent,
    )


async def test_similar_payouts_are_returned_oldest_first_for_each_caller(
    store: Store, asked: list[Statement]
) -> None:
    twins = await stored(
        store,
        payout("c", centavos=5, created_at=NOW + timedelta(seconds=1)),
        payout("a", centavos=5),
        payout("b", centavos=7),
    )
    asked.clear()

    told = await asyncio.gather(
        twins.similar(payout("new", centavos=5), AGO),
        twins.similar(payout("new", centavos=7), AGO),
        twins.similar(payout("new", centavos=9), AGO),
        twins.similar(payout("a", centavos=5), AGO),
        twins.similar(replace(payout("new", centavos=5), account_id="other"), AGO),
    )

    assert told == [["a", "c"], ["b"], [], ["c"], []]
    assert len(asked) == 1


async def test_the_stored_payout_and_similar_ones_are_read_together(
    store: Store, asked: list[Statement]
) -> None:
    twins = await stored(store, payout("a"), payout("b"), payout("c", centavos=5))
    asked.clear()

    told = await asyncio.gather(
        twins.precedents(ACCOUNT, asking("a"), AGO),
        twins.precedents(ACCOUNT, asking("new"), AGO),
        twins.precedents(ACCOUNT, asking("new"), None),
        twins.precedents("other", asking("a"), AGO),
    )

    assert [(each.stored and each.stored.reference, each.similar) for each in told] == [
        ("a", ["b"]),
        (None, ["a", "b"]),
        (None, []),
        (None, []),
    ]
    assert len(asked) == 2


async def test_each_caller_s_time_limit_is_applied(store: Store) -> None:
    """Alone and together with one that looks further back."""
    twins = await stored(
        store, payout("early", created_at=NOW - timedelta(minutes=5)), payout("late")
    )

    far, near = await asyncio.gather(
        twins.similar(payout("new"), AGO), twins.similar(payout("new"), NOW)
    )

    assert (far, near) == (["early", "late"], ["late"])
    assert await twins.similar(payout("new"), NOW) == ["late"]


@pytest.mark.parametrize("counted", [False, True], ids=["never counted", "counted long ago"])
async def test_similar_payouts_are_found_by_an_index_on_postgres(
    migrated_postgres_url: str, counted: bool, asked: list[Statement]
) -> None:
    """Without statistics its planner assumes few rows."""
    store = open_store(migrated_postgres_url, LONG)  # 20,000 rows by one statement
    await prepare(store, Environment.SANDBOX, migrate=True, now=samples.now)
    await add_company(store.database, samples.company(), samples.event())
    await store.accounts.add(samples.account(), samples.event())
    long_ago = NOW - timedelta(days=2)
    await stored(store, payout("old", created_at=long_ago), payout("new", created_at=NOW))
    async with store.database.writing() as connection:
        await connection.execute(text("ALTER TABLE payouts SET (autovacuum_enabled = false)"))
        await connection.execute(text(_copies("old", 5_000)))
        await connection.execute(text("ANALYZE payouts" if counted else "SELECT 1"))
        await connection.execute(text(_copies("new", 20_000)))

    asked.clear()
    looked_for = (payout("next", centavos=number) for number in range(1, 21))
    await asyncio.gather(*(store.payouts.similar(each, AGO) for each in looked_for))
    [sent] = asked
    async with store.database.reading() as connection:
        planned = await connection.exec_driver_sql(f"EXPLAIN {sent.text}", sent.parameters)
        plan = " ".join(planned.scalars())
    await store.close()

    assert "using ix_payouts_account_id_centavos_created_at" in plan


def _copies(reference: str, number: int) -> str:
    """Write payouts of other amounts, made at the same time."""
    other = {
        "reference_sha256": "sha256((reference || n)::bytea)",
        "reference": "reference || n",
        "provider_key": "provider_key || n",
        "centavos": "centavos + n",
    }
    names = [each.name for each in payouts.c if each.computed is None]
    columns = ", ".join(other.get(each, each) for each in names)
    numbers = f"generate_series(1, {number}) n"
    which = f"FROM payouts, {numbers} WHERE reference = '{reference}'"
    return f"INSERT INTO payouts ({', '.join(names)}) SELECT {columns} {which}"
