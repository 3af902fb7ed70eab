"""The record of acts: only appended to, and every tampering is found."""

import asyncio
from dataclasses import replace
from datetime import timedelta, timezone

import pytest
from sqlalchemy import text

from gateway.app.store import Store
from gateway.audit.store import StoredAudit
from gateway.companies.service import add_company, find_company
from gateway.core.storage import StoreUnavailable
from tests.contract.stores.databases import both
from tests.world.stores.samples import NOW, account, company, event

SEALS = {
    "sqlite": ["DROP TRIGGER audit_no_update", "DROP TRIGGER audit_no_delete"],
    "postgresql": ["ALTER TABLE audit DISABLE TRIGGER USER"],
}

ADDED = (
    "INSERT INTO audit SELECT 4, at, actor, action, subject, details, trace_id, hash, companies, "
    "key_id FROM audit WHERE number = 3"
)


async def tampered(store: Store, *statements: str) -> None:
    """Break the seal, as somebody with the database's own rights can, and change something."""
    async with store.database.writing() as connection:
        for statement in SEALS[connection.dialect.name] + list(statements):
            await connection.execute(text(statement))


async def test_the_chain_counts_every_event(store: Store) -> None:
    """Three were left by making the store's company and accounts."""
    await store.audit.append(event("payout.stopped", why="São João \u2028 \u0000"))
    await store.accounts.replace(account(), event("account.changed"))

    length = await store.audit.verify()

    assert length == 5


@both
async def test_events_of_many_writers_are_one_chain(store: Store, second: Store) -> None:
    await asyncio.gather(
        *(
            node.audit.append(event(f"act.{number}"))
            for number, node in enumerate([store, second] * 10)
        )
    )

    length = await second.audit.verify()

    assert length == 3 + 20


@pytest.mark.parametrize("batch", [1, 2, 3, 4])
async def test_a_long_chain_is_walked_in_parts(store: Store, batch: int) -> None:
    length = await StoredAudit(store.database, batch=batch).verify()

    assert length == 3


@both
@pytest.mark.parametrize(
    "statement",
    ["UPDATE audit SET actor = 'nobody' WHERE number = 2", "DELETE FROM audit WHERE number = 3"],
)
async def test_the_database_itself_refuses_to_change_an_event(store: Store, statement: str) -> None:
    with pytest.raises(StoreUnavailable):
        async with store.database.writing() as connection:
            await connection.execute(text(statement))

    assert await store.audit.verify() == 3


@pytest.mark.parametrize(
    ("statement", "broken"),
    [
        ("UPDATE audit SET actor = 'nobody' WHERE number = 2", 2),
        ('UPDATE audit SET details = \'{"a":"b"}\' WHERE number = 1', 1),
        ("UPDATE audit SET details = 'torn' WHERE number = 3", 3),
        ("UPDATE audit SET hash = (SELECT hash FROM audit WHERE number = 1) WHERE number = 2", 2),
        ("DELETE FROM audit WHERE number = 2", 2),
        ("DELETE FROM audit WHERE number = 3", 3),
        ("DELETE FROM audit", 1),
        ("UPDATE audit_head SET number = 2", 3),
        ("UPDATE audit_head SET hash = (SELECT hash FROM audit WHERE number = 1)", 4),
        ("DELETE FROM audit_head", 0),
        (ADDED, 4),
    ],
    ids=[
        "changed",
        "other details",
        "torn details",
        "other hash",
        "one missing",
        "end cut off",
        "all gone",
        "head set back",
        "head of another chain",
        "no head",
        "one too many",
    ],
)
async def test_tampering_is_found_and_named(store: Store, statement: str, broken: int) -> None:
    await tampered(store, statement)

    with pytest.raises(ValueError, match=rf"broken at event {broken}$"):
        await store.audit.verify()


@both
async def test_two_events_cannot_change_places(store: Store) -> None:
    await store.audit.append(event("one.more"))
    await tampered(
        store,
        "UPDATE audit SET number = 9 WHERE number = 3",
        "UPDATE audit SET number = 3 WHERE number = 4",
        "UPDATE audit SET number = 4 WHERE number = 9",
    )

    with pytest.raises(ValueError, match=r"broken at event 3$"):
        await store.audit.verify()


async def test_an_event_goes_with_the_change_that_failed(store: Store) -> None:
    """The event is of the transaction it describes."""
    bad = event("company.created", note="\ud800")

    with pytest.raises(StoreUnavailable):
        await add_company(store.database, company("new"), bad)

    assert await find_company(store.database, "new") is None
    assert await store.audit.verify() == 3


async def test_an_event_may_be_dated_in_any_zone(store: Store) -> None:
    """Brazil's clock and ours name the same instant; the chain knows only UTC."""
    brazil = timezone(timedelta(hours=-3))
    await store.audit.append(replace(event(), at=NOW.astimezone(brazil)))

    length = await store.audit.verify()

    assert length == 4
