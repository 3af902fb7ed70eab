"""The record of acts under keys: what somebody with the database's own rights cannot hide."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import insert, select, text, update

from gateway.app.store import Store, open_store, prepare
from gateway.audit.walk import event_of
from gateway.companies.service import find_company
from gateway.core.account import Environment
from gateway.core.audit import AuditHead
from gateway.core.storage import StoreUnavailable
from gateway.store.kernel.chain import NO_HASH, ChainKeys, chained
from gateway.store.tables.core import audit, audit_head
from tests.contract.stores.databases import both
from tests.world.stores.patience import LONG
from tests.world.stores.samples import COMPANY, NOW, event, now

KEYS = ChainKeys({"k1": b"e" * 32}, {"k1": b"h" * 32})
OTHER_KEYS = ChainKeys({"k2": b"E" * 32}, {"k2": b"H" * 32})
ROTATED = ChainKeys(
    {**OTHER_KEYS.events, **KEYS.events},
    {**OTHER_KEYS.heads, **KEYS.heads},
)
LATER = NOW + timedelta(hours=1)
SEALED_AT, LENGTH = 4, 7

SEALS = {
    "sqlite": [
        *("DROP TRIGGER audit_no_update", "DROP TRIGGER audit_no_delete"),
        "DROP TRIGGER audit_head_sealed",
    ],
    "postgresql": [
        "ALTER TABLE audit DISABLE TRIGGER USER",
        "ALTER TABLE audit_head DISABLE TRIGGER USER",
    ],
}
CUT = "DELETE FROM audit WHERE number > 5"
MOVED_BACK = (
    "UPDATE audit_head SET number = 5, hash = (SELECT hash FROM audit WHERE audit.number = 5)"
)


@pytest.fixture
async def sealed(store: Store) -> AsyncIterator[Store]:
    """Three events of before there were keys, the seal, and three events of afterwards."""
    opened = open_store(store.url, chain=KEYS)
    await opened.audit.seal(NOW)
    for number in range(SEALED_AT + 1, LENGTH + 1):
        await opened.audit.append(event(f"act.{number}"))
    yield opened
    await opened.close()


async def tampered(store: Store, *statements: str) -> None:
    """Break the guards, as somebody with the database's own rights can, and change something."""
    async with store.database.writing() as connection:
        for statement in SEALS[connection.dialect.name] + list(statements):
            await connection.execute(text(statement))


async def forged(store: Store, first: int, keys: ChainKeys) -> None:
    """Chain everything from an event on anew, by any keys but ours, and the head with it."""
    await tampered(store)
    async with store.database.writing() as connection:
        rows = (await connection.execute(select(audit).order_by(audit.c.number))).all()
        reached = rows[first - 2].hash if first > 1 else NO_HASH
        for row in rows[first - 1 :]:
            reached = keys.chained(keys.current, reached, row.number, event_of(row))
            change = update(audit).where(audit.c.number == row.number)
            await connection.execute(change.values(hash=reached, key_id=keys.current))
        head = AuditHead(len(rows), reached, keys.current)
        values = {"hash": reached, "key_id": keys.current, "seal": keys.seal(head)}
        await connection.execute(update(audit_head).values(values))


async def test_the_first_event_under_a_key_seals_what_was_there(sealed: Store):
    async with sealed.database.reading() as connection:
        rows = (await connection.execute(select(audit).order_by(audit.c.number))).all()

    assert [row.key_id for row in rows] == [""] * 3 + ["k1"] * 4
    seal = event_of(rows[3])
    assert (seal.action, seal.subject) == ("audit.sealed", "audit:chain")
    assert seal.details == {"events": "3", "hash": rows[2].hash.hex()}
    assert rows[3].hash == KEYS.chained("k1", rows[2].hash, 4, seal)
    assert await sealed.audit.verify() == LENGTH
    assert (await sealed.audit.head()).number == LENGTH


@both
async def test_a_log_is_sealed_once_however_many_begin(store: Store):
    nodes = [open_store(store.url, LONG, chain=KEYS) for _ in range(4)]

    await asyncio.gather(*(node.audit.seal(NOW) for node in nodes))

    assert await nodes[0].audit.verify() == SEALED_AT
    for node in nodes:
        await node.close()


@both
async def test_events_of_many_writers_are_one_sealed_chain(sealed: Store):
    second = open_store(sealed.url, chain=KEYS)

    await asyncio.gather(
        *(node.audit.append(event("a"), event("b")) for node in [sealed, second] * 10)
    )
    await second.close()

    assert await sealed.audit.verify() == LENGTH + 40


TAMPERINGS = {
    "tail cut, head moved back": ([CUT, MOVED_BACK], 6),
    "tail cut, head left": ([CUT], 6),
    "head moved back": ([MOVED_BACK], 6),
    "head of another hash": (["UPDATE audit_head SET hash = seal"], LENGTH + 1),
    "event of before changed": (["UPDATE audit SET actor = 'x' WHERE number = 2"], 2),
    "seal changed": (["UPDATE audit SET details = '{}' WHERE number = 4"], 4),
    "event changed": (["UPDATE audit SET actor = 'x' WHERE number = 6"], 6),
    "moved to another company": (["UPDATE audit SET companies = 'c' WHERE number = 6"], 6),
    "said to be of before": (["UPDATE audit SET key_id = '' WHERE number = 6"], 6),
    "one missing": (["DELETE FROM audit WHERE number = 5"], 5),
    "no head": (["DELETE FROM audit_head"], 0),
}


@pytest.mark.parametrize(("statements", "number"), TAMPERINGS.values(), ids=TAMPERINGS)
async def test_tampering_is_found_and_named(sealed: Store, statements: list[str], number: int):
    await tampered(sealed, *statements)

    with pytest.raises(ValueError, match=rf"broken at event {number}$"):
        await sealed.audit.verify()


WITHOUT = ChainKeys({}, {})
AS_OURS = ChainKeys({"k1": b"x" * 32}, {"k1": b"y" * 32})


@pytest.mark.parametrize(
    ("first", "keys", "number"),
    [(6, WITHOUT, 6), (6, AS_OURS, 6), (1, AS_OURS, 1)],
    ids=["tail without key", "tail under another", "all under another"],
)
async def test_a_log_that_was_made_anew_is_found(
    sealed: Store, first: int, keys: ChainKeys, number: int
):
    """Every hash fits the one before; only who has the key can make them."""
    await forged(sealed, first, keys)

    with pytest.raises(ValueError, match=rf"broken at event {number}$"):
        await sealed.audit.verify()


@both
async def test_a_log_that_was_made_anew_as_if_there_were_no_keys_is_found(sealed: Store):
    """And stays found: an act after that seals nothing, as only a start does."""
    await forged(sealed, 1, WITHOUT)

    with pytest.raises(ValueError, match=r"not sealed at event 7, its last$"):
        await sealed.audit.verify()
    await sealed.audit.append(event())
    with pytest.raises(ValueError, match=r"broken at event 8$"):
        await sealed.audit.verify()


@both
@pytest.mark.parametrize("statements", [[CUT, MOVED_BACK], [MOVED_BACK]], ids=["cut", "moved"])
async def test_going_on_repairs_nothing(sealed: Store, statements: list[str]):
    """Acts go on, since stops must; and no later head hides what befell this one."""
    await tampered(sealed, *statements)
    with pytest.raises(ValueError, match="broken at event"):
        await sealed.audit.head()

    for _ in range(3):
        await sealed.audit.append(event("gone.on"))

    with pytest.raises(ValueError, match="broken at event"):
        await sealed.audit.verify()
    async with sealed.database.reading() as connection:
        found = await connection.execute(select(audit).where(audit.c.action == "audit.broken"))
        assert len(found.all()) == 1


@both
async def test_a_log_that_was_emptied_is_found(url: str):
    store = open_store(url, chain=KEYS)
    await prepare(store, Environment.SANDBOX, migrate=True, now=now)
    await store.audit.seal(NOW)
    await store.audit.append(event())
    sound = await store.audit.verify()
    nothing = "UPDATE audit_head SET number = 0, key_id = '', seal = hash, hash = hash"

    await tampered(store, "DELETE FROM audit", nothing)
    async with store.database.writing() as connection:
        await connection.execute(update(audit_head).values(hash=NO_HASH, seal=b""))
    with pytest.raises(ValueError, match="not sealed at event 0"):
        await store.audit.verify()
    await store.audit.append(event())

    with pytest.raises(ValueError, match=r"broken at event 1$"):
        await store.audit.verify()
    await store.close()
    assert sound == 1


async def test_a_log_without_its_key_is_proven_by_nobody(sealed: Store):
    stranger = open_store(sealed.url, chain=OTHER_KEYS)

    for asked in (stranger.audit.verify(), stranger.audit.head()):
        with pytest.raises(ValueError, match="under the key k1, which is not configured"):
            await asked
    await stranger.close()


async def test_a_new_key_goes_on_where_the_old_one_ended(sealed: Store):
    """As long as the old one is kept, all of it is proven."""
    rotated = open_store(sealed.url, chain=ROTATED)
    await rotated.audit.append(event("under.the.new.one"))
    head = await rotated.audit.head()
    forgetful = open_store(sealed.url, chain=OTHER_KEYS)

    assert (head.number, head.key_id) == (LENGTH + 1, "k2")
    assert await rotated.audit.verify() == LENGTH + 1
    assert await forgetful.audit.head() == head
    with pytest.raises(ValueError, match="event 4 is sealed under the key k1"):
        await forgetful.audit.verify()
    await rotated.close()
    await forgetful.close()


async def test_a_process_that_lacks_the_new_key_appends_nothing(sealed: Store):
    """A roll to another key that misses a process leaves the log whole."""
    rotated, behind = (open_store(sealed.url, chain=keys) for keys in (ROTATED, KEYS))
    await rotated.audit.append(event("act.rotated"))

    try:
        with pytest.raises(StoreUnavailable, match="under the key k2, which is not configured"):
            await behind.audit.append(event("act.behind"))
        assert await rotated.audit.verify() == LENGTH + 1
    finally:
        await rotated.close()
        await behind.close()


@both
async def test_a_store_restored_whole_is_told_by_a_head_that_was_kept(sealed: Store):
    """It is whole in itself: an older state, with the head of then."""
    async with sealed.database.reading() as connection:
        then = dict((await connection.execute(select(audit_head))).one()._mapping)
    await sealed.audit.append(event("lost.1"), event("lost.2"))
    kept = await sealed.audit.head()
    assert await sealed.audit.verify(kept) == kept.number

    await tampered(sealed, "DELETE FROM audit WHERE number > 7", "DELETE FROM audit_head")
    async with sealed.database.writing() as connection:
        await connection.execute(insert(audit_head), then)

    assert await sealed.audit.verify() == LENGTH
    with pytest.raises(ValueError, match=f"ends at event {LENGTH}, and had reached event 9"):
        await sealed.audit.verify(kept)
    await sealed.audit.append(event("other.1"), event("other.2"), event("other.3"))
    assert await sealed.audit.verify() == LENGTH + 3
    for known in (kept, replace(kept, hash=kept.hash[:6])):
        with pytest.raises(ValueError, match="event 9 is not the one that was kept"):
            await sealed.audit.verify(known)


@both
async def test_a_process_of_an_older_version_appends_nothing(sealed: Store):
    """It would be called tampering for ever; the database refuses it instead."""
    with pytest.raises(StoreUnavailable):
        async with sealed.database.writing() as connection:
            await connection.execute(update(audit_head).values(number=8, hash=b"x" * 32))

    assert await sealed.audit.verify() == LENGTH


async def test_a_process_without_the_keys_reads_and_does_nothing(sealed: Store, store: Store):
    with pytest.raises(StoreUnavailable, match="its keys are not here"):
        await store.audit.append(event())

    await store.audit.seal(LATER)
    assert await find_company(store.database, COMPANY) is not None
    assert await sealed.audit.verify() == LENGTH


@both
async def test_an_older_log_is_proven_by_what_it_was_made_of(sealed: Store):
    """Every hash of before the seal is still what anybody can compute."""
    async with sealed.database.reading() as connection:
        rows = (await connection.execute(select(audit).order_by(audit.c.number).limit(3))).all()

    reached = NO_HASH
    for row in rows:
        reached = chained(reached, row.number, event_of(row))
        assert row.hash == reached
