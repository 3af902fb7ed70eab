"""Breaks of the audit log that were accepted: passed from then on, and nothing but they."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest
from sqlalchemy import func, literal, update

from gateway.app.store import Store
from gateway.core.audit import AuditBreak, AuditEvent
from gateway.core.storage import StoreUnavailable
from gateway.store.kernel.chain import ChainKeys
from gateway.store.tables.core import audit
from tests.contract.stores.databases import both
from tests.world.store import KEYS, open_store
from tests.world.stores.samples import NOW, event
from tests.world.stores.tampering import tampered

NEW = ChainKeys({"k2": b"E" * 32}, {"k2": b"H" * 32})
FOUND = ChainKeys({**NEW.events, **KEYS.events}, {**NEW.heads, **KEYS.heads})
LENGTH = 7
"""Three events of making the store's company and accounts, and four more."""
DETAILS = {"proposed_by": "user:a", "proposed_at": "then", "reason": "the disk burnt"}
ACCEPTANCE = AuditEvent(at=NOW, actor="user:b", action="", subject="", details=DETAILS)


@pytest.fixture
async def log(store: Store) -> Store:
    for number in range(4, LENGTH + 1):
        await store.audit.append(event(f"act.{number}"))
    return store


async def problem(log: Store) -> str:
    """Name the first broken link."""
    with pytest.raises(ValueError, match="event") as found:
        await log.audit.verify()
    return str(found.value)


async def first_break(log: Store) -> AuditBreak:
    """Return the first break; there is one."""
    found = await log.audit.find_break()
    assert found is not None
    return found


@both
async def test_a_log_with_a_lost_key_continues_once_its_break_is_accepted(log: Store):
    without = open_store(log.url, chain=NEW)
    with pytest.raises(StoreUnavailable):
        await without.audit.append(event("refused"))

    found = await first_break(without)
    await without.audit.accept(found, ACCEPTANCE)
    await without.audit.append(event("gone.on"))

    assert (found.first, found.last) == (1, LENGTH)
    assert found.problem == "event 1 is sealed under the key k1, which is not configured"
    assert await without.audit.verify() == LENGTH + 2
    accepted = [*await without.audit.accepted()]
    assert [(each.number, each.found) for each in accepted] == [(LENGTH + 1, found)]
    assert (accepted[0].proposed_by, accepted[0].approved_by) == ("user:a", "user:b")
    again = open_store(log.url, chain=FOUND)
    assert await again.audit.verify() == LENGTH + 2
    assert [*await again.audit.accepted()] == accepted
    for each in (without, again):
        await each.close()


CUT = "DELETE FROM audit WHERE number > 5"
BACK = "UPDATE audit_head SET number = 5, hash = (SELECT hash FROM audit WHERE audit.number = 5)"
COPIED = "UPDATE audit SET hash = (SELECT hash FROM audit AS a WHERE a.number = 1) WHERE number = "
BREAKS = {
    "event changed": (["UPDATE audit SET actor = 'x' WHERE number = 6"], (6, 6)),
    "early event changed": (["UPDATE audit SET actor = 'x' WHERE number = 2"], (2, 2)),
    "hash changed": ([COPIED + "5"], (5, 6)),
    "last hash changed": ([COPIED + "7"], (7, 8)),
    "one missing": (["DELETE FROM audit WHERE number = 5"], (5, 6)),
    "two changed": (["UPDATE audit SET actor = 'x' WHERE number IN (5, 6)"], (5, 6)),
    "tail cut": ([CUT, BACK], (6, 6)),
    "tail cut, head left": ([CUT], (6, 8)),
    "head moved back": ([BACK], (8, 8)),
}


@pytest.mark.parametrize(("statements", "bounds"), BREAKS.values(), ids=BREAKS)
async def test_only_the_accepted_break_is_allowed(
    log: Store, statements: list[str], bounds: tuple[int, int]
):
    """An act is needed first: it turns a foreign end of the log into an event."""
    await tampered(log, *statements)
    await problem(log)
    await log.audit.append(event("meanwhile"))

    found = await first_break(log)
    await log.audit.accept(found, ACCEPTANCE)
    await log.audit.append(event("afterwards"))

    assert (found.first, found.last) == bounds
    length = await log.audit.verify()
    assert [each.found for each in await log.audit.accepted()] == [found]

    wrong = []
    for number in (1, found.last, length - 1, length):
        row = update(audit).where(audit.c.number == number)
        await tampered(log, row.values(trace_id=literal("x") + audit.c.trace_id))
        at = found.first if number == found.last else number
        if not (told := await problem(log)).endswith(f"broken at event {at}"):
            wrong.append((number, told))
        await tampered(log, row.values(trace_id=func.substr(audit.c.trace_id, 2)))
    assert wrong == []
    assert await log.audit.verify() == length


async def test_another_change_to_an_accepted_break_is_found(log: Store):
    """The acceptance covers the state at its time, and stays in the log."""
    await tampered(log, "UPDATE audit SET actor = 'x' WHERE number = 5")
    first = await first_break(log)
    await log.audit.accept(first, ACCEPTANCE)
    await tampered(log, "UPDATE audit SET actor = 'y' WHERE number = 5")
    second = await first_break(log)
    assert (second.first, second.last) == (first.first, first.last)
    assert second.digest != first.digest

    await log.audit.accept(second, ACCEPTANCE)

    assert await log.audit.verify() == LENGTH + 2
    assert [each.found for each in await log.audit.accepted()] == [first, second]


async def test_an_acceptance_written_without_the_key_is_a_break(log: Store):
    """Write access to the database is enough to insert one, but not to chain it."""
    await tampered(log, "UPDATE audit SET actor = 'x' WHERE number = 5")
    found = await first_break(log)
    await log.audit.append(event("act.8"), event("act.9"))
    details = {**asdict(found), "proposed_by": "a", "reason": "b"}
    forged = {"action": "audit.break_accepted", "details": json.dumps(details)}

    await tampered(log, update(audit).where(audit.c.number == 8).values(forged))

    assert await problem(log) == "the audit log is broken at event 8"


async def test_no_break_is_accepted_while_the_last_event_is_foreign(log: Store):
    """The next act turns that end into an event, which is a break that can be accepted."""
    await tampered(log, COPIED + "7")
    last = await first_break(log)
    assert (last.first, last.last) == (7, 7)
    with pytest.raises(ValueError, match=r"broken at event 8$"):
        await log.audit.accept(last, ACCEPTANCE)

    await tampered(log, CUT, BACK)
    with pytest.raises(ValueError, match=r"broken at event 6$"):
        await log.audit.find_break()
    with pytest.raises(ValueError, match=r"broken at event 6$"):
        await log.audit.accept(last, ACCEPTANCE)
