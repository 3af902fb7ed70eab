"""The audit log: only appended to, sealed under a key, and every tampering is found."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta, timezone

import pytest
from sqlalchemy import Update, insert, select, text, update

from gateway.app.store import Store, prepare
from gateway.audit.store import StoredAudit
from gateway.audit.walk import event_of
from gateway.companies.service import add_company, find_company
from gateway.core.account import Environment
from gateway.core.audit import AuditHead
from gateway.core.storage import StoreUnavailable
from gateway.store.kernel.chain import NO_HASH, NO_KEYS, ChainKeys
from gateway.store.tables.core import audit, audit_head
from tests.contract.stores.databases import both
from tests.world.store import KEYS, open_store
from tests.world.stores.patience import LONG
from tests.world.stores.samples import COMPANY, NOW, account, company, event, now
from tests.world.stores.tampering import tampered

OTHER_KEYS = ChainKeys({"k2": b"E" * 32}, {"k2": b"H" * 32})
ROTATED = ChainKeys(
    {**OTHER_KEYS.events, **KEYS.events},
    {**OTHER_KEYS.heads, **KEYS.heads},
)
LENGTH = 7

CUT = "DELETE FROM audit WHERE number > 5"
MOVED_BACK = (
    "UPDATE audit_head SET number = 5, hash = (SELECT hash FROM audit WHERE audit.number = 5)"
)
UNSEALED = update(audit_head).values(key_id="", seal=b"")
BEGUN_ANEW = UNSEALED.values(number=0, hash=NO_HASH)
ADDED = (
    "INSERT INTO audit SELECT 8, at, actor, action, subject, details, trace_id, hash, companies, "
    "key_id FROM audit WHERE number = 7"
)


@pytest.fixture
async def log(store: Store) -> Store:
    """Three events of making the store's company and accounts, and four more."""
    for number in range(4, LENGTH + 1):
        await store.audit.append(event(f"act.{number}"))
    return store


@pytest.fixture
async def begun(url: str) -> AsyncIterator[Store]:
    """A store without an event."""
    store = open_store(url, LONG)
    await prepare(store, Environment.SANDBOX, migrate=True, now=now)
    yield store
    await store.close()


async def forged(store: Store, first: int, keys: ChainKeys) -> None:
    """Rebuild the chain from an event on, with foreign keys, and its head."""
    await tampered(store)
    async with store.database.writing() as connection:
        rows = (await connection.execute(select(audit).order_by(audit.c.number))).all()
        reached = rows[first - 2].hash if first > 1 else NO_HASH
        for row in rows[first - 1 :]:
            reached = keys.link(keys.current, reached, row.number, event_of(row))
            change = update(audit).where(audit.c.number == row.number)
            await connection.execute(change.values(hash=reached, key_id=keys.current))
        head = AuditHead(len(rows), reached, keys.current)
        values = {"hash": reached, "key_id": keys.current, "seal": keys.seal(head)}
        await connection.execute(update(audit_head).values(values))


async def test_the_chain_counts_every_event(store: Store) -> None:
    """Creating the store's company and accounts added three."""
    await store.audit.append(event("payout.stopped", why="São João \u2028 \u0000"))
    await store.accounts.replace(account(), event("account.changed"))

    length = await store.audit.verify()

    assert length == 5


@both
async def test_events_of_many_writers_are_one_chain(store: Store, second: Store) -> None:
    await asyncio.gather(
        *(
            node.audit.append(event(f"act.{number}.a"), event(f"act.{number}.b"))
            for number, node in enumerate([store, second] * 10)
        )
    )

    length = await second.audit.verify()

    assert length == 3 + 40


@both
async def test_the_first_event_of_a_store_is_sealed_for_any_writer(begun: Store) -> None:
    assert await begun.audit.verify() == 0
    assert await begun.audit.head() == AuditHead(0, NO_HASH)
    nodes = [open_store(begun.url, LONG) for _ in range(4)]

    await asyncio.gather(*(node.audit.append(event()) for node in nodes))

    assert await begun.audit.verify() == 4
    assert (await begun.audit.head()).key_id == KEYS.current
    async with begun.database.reading() as connection:
        keys = (await connection.execute(select(audit.c.key_id))).scalars().all()
    assert [*keys] == [KEYS.current] * 4
    for node in nodes:
        await node.close()


@pytest.mark.parametrize("batch", [1, 2, 3, 4])
async def test_a_long_chain_is_walked_in_parts(store: Store, batch: int) -> None:
    length = await StoredAudit(store.database, batch=batch).verify()

    assert length == 3


@both
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit SET actor = 'nobody' WHERE number = 2",
        "DELETE FROM audit WHERE number = 3",
        "UPDATE audit_head SET number = 4",
    ],
)
async def test_the_database_refuses_to_change_sealed_events(store: Store, statement: str) -> None:
    with pytest.raises(StoreUnavailable):
        async with store.database.writing() as connection:
            await connection.execute(text(statement))

    assert await store.audit.verify() == 3


TAMPERINGS: dict[str, tuple[list[str | Update], int]] = {
    "changed": (["UPDATE audit SET actor = 'nobody' WHERE number = 2"], 2),
    "other details": (['UPDATE audit SET details = \'{"a":"b"}\' WHERE number = 1'], 1),
    "torn details": (["UPDATE audit SET details = 'torn' WHERE number = 3"], 3),
    "other hash": (
        ["UPDATE audit SET hash = (SELECT hash FROM audit WHERE number = 1) WHERE number = 2"],
        2,
    ),
    "moved to another company": (["UPDATE audit SET companies = 'c' WHERE number = 6"], 6),
    "without a key": (["UPDATE audit SET key_id = '' WHERE number = 6"], 6),
    "one missing": (["DELETE FROM audit WHERE number = 2"], 2),
    "one too many": ([ADDED], 8),
    "all gone": (["DELETE FROM audit"], 1),
    "tail cut, head moved back": ([CUT, MOVED_BACK], 6),
    "tail cut, head left": ([CUT], 6),
    "head moved back": ([MOVED_BACK], 6),
    "head of another hash": (["UPDATE audit_head SET hash = seal"], LENGTH + 1),
    "head without a seal": ([UNSEALED], LENGTH + 1),
    "head of an empty log": ([BEGUN_ANEW], 1),
    "no head": (["DELETE FROM audit_head"], 0),
}


@pytest.mark.parametrize(("statements", "number"), TAMPERINGS.values(), ids=TAMPERINGS)
async def test_tampering_is_found_and_named(
    log: Store, statements: list[str | Update], number: int
) -> None:
    await tampered(log, *statements)

    with pytest.raises(ValueError, match=rf"broken at event {number}$"):
        await log.audit.verify()


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


@pytest.mark.parametrize("first", [6, 1], ids=["tail", "all"])
async def test_a_log_rebuilt_with_another_key_is_found(log: Store, first: int) -> None:
    """Every hash fits the previous one; only the owner of the key can compute them."""
    await forged(log, first, ChainKeys({"k1": b"x" * 32}, {"k1": b"y" * 32}))

    with pytest.raises(ValueError, match=rf"broken at event {first}$"):
        await log.audit.verify()


@both
@pytest.mark.parametrize(
    "statements",
    [[CUT, MOVED_BACK], [MOVED_BACK], [UNSEALED], [BEGUN_ANEW]],
    ids=["cut", "moved", "unsealed", "begun anew"],
)
async def test_later_events_do_not_repair_a_broken_log(
    log: Store, statements: list[str | Update]
) -> None:
    """Acts continue, because stops must work; no later head hides the break."""
    await tampered(log, *statements)
    with pytest.raises(ValueError, match="broken at event"):
        await log.audit.head()

    for _ in range(3):
        await log.audit.append(event("gone.on"))

    with pytest.raises(ValueError, match="broken at event"):
        await log.audit.verify()
    async with log.database.reading() as connection:
        found = await connection.execute(select(audit).where(audit.c.action == "audit.broken"))
        assert len(found.all()) == 1


@both
async def test_an_emptied_log_is_detected_with_an_exported_head(log: Store) -> None:
    """The emptied log is consistent in itself, like the log of a new store."""
    kept = await log.audit.head()
    await tampered(log, "DELETE FROM audit", BEGUN_ANEW)
    await log.audit.append(event())

    assert await log.audit.verify() == 1
    with pytest.raises(ValueError, match=f"ends at event 1, and had reached event {LENGTH}"):
        await log.audit.verify(kept)


async def test_a_log_without_its_key_cannot_be_proven(log: Store) -> None:
    for keys in (OTHER_KEYS, NO_KEYS):
        stranger = open_store(log.url, chain=keys)
        for asked in (stranger.audit.verify(), stranger.audit.head()):
            with pytest.raises(ValueError, match="under the key k1, which is not configured"):
                await asked
        await stranger.close()


async def test_a_new_key_continues_the_chain_of_the_old_one(log: Store) -> None:
    """While the old key is kept, the whole chain can be verified."""
    rotated = open_store(log.url, chain=ROTATED)
    await rotated.audit.append(event("under.the.new.one"))
    head = await rotated.audit.head()
    forgetful = open_store(log.url, chain=OTHER_KEYS)

    assert (head.number, head.key_id) == (LENGTH + 1, "k2")
    assert await rotated.audit.verify() == LENGTH + 1
    assert await forgetful.audit.head() == head
    with pytest.raises(ValueError, match="event 1 is sealed under the key k1"):
        await forgetful.audit.verify()
    await rotated.close()
    await forgetful.close()


async def test_a_process_without_the_new_key_appends_nothing(log: Store) -> None:
    """A rotation that a process misses does not damage the log."""
    rotated, behind = open_store(log.url, chain=ROTATED), log
    await rotated.audit.append(event("act.rotated"))

    with pytest.raises(StoreUnavailable, match="under the key k2, which is not configured"):
        await behind.audit.append(event("act.behind"))

    assert await rotated.audit.verify() == LENGTH + 1
    await rotated.close()


async def test_a_process_without_keys_reads_and_appends_nothing(log: Store) -> None:
    without = open_store(log.url, chain=NO_KEYS)

    with pytest.raises(StoreUnavailable, match="under the key k1, which is not configured"):
        await without.audit.append(event())

    assert await find_company(without.database, COMPANY) is not None
    assert await log.audit.verify() == LENGTH
    await without.close()


async def test_a_process_without_keys_starts_no_log(begun: Store) -> None:
    without = open_store(begun.url, chain=NO_KEYS)

    with pytest.raises(StoreUnavailable, match="without the keys of the audit log"):
        await add_company(without.database, company(), event())

    assert await find_company(without.database, COMPANY) is None
    assert await begun.audit.verify() == 0
    await without.close()


@both
async def test_restoring_an_older_store_is_detected_with_a_saved_head(log: Store) -> None:
    """It is consistent in itself: an older state with its own head."""
    async with log.database.reading() as connection:
        then = dict((await connection.execute(select(audit_head))).one()._mapping)
    await log.audit.append(event("lost.1"), event("lost.2"))
    kept = await log.audit.head()
    assert await log.audit.verify(kept) == kept.number

    await tampered(log, "DELETE FROM audit WHERE number > 7", "DELETE FROM audit_head")
    async with log.database.writing() as connection:
        await connection.execute(insert(audit_head), then)

    assert await log.audit.verify() == LENGTH
    with pytest.raises(ValueError, match=f"ends at event {LENGTH}, and had reached event 9"):
        await log.audit.verify(kept)
    await log.audit.append(event("other.1"), event("other.2"), event("other.3"))
    assert await log.audit.verify() == LENGTH + 3
    for known in (kept, replace(kept, hash=kept.hash[:6])):
        with pytest.raises(ValueError, match="event 9 is not the one that was kept"):
            await log.audit.verify(known)


async def test_a_change_is_rolled_back_with_its_failed_event(store: Store) -> None:
    """The event is part of the transaction it describes."""
    bad = event("company.created", note="\ud800")

    with pytest.raises(StoreUnavailable):
        await add_company(store.database, company("new"), bad)

    assert await find_company(store.database, "new") is None
    assert await store.audit.verify() == 3


async def test_an_event_may_be_dated_in_any_zone(store: Store) -> None:
    """Local and UTC times name the same instant; the chain uses only UTC."""
    brazil = timezone(timedelta(hours=-3))
    await store.audit.append(replace(event(), at=NOW.astimezone(brazil)))

    length = await store.audit.verify()

    assert length == 4
