"""Acts searched, exported and proven within a scope."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import text

from gateway.audit.model import AuditSearch
from gateway.audit.searches import lines
from gateway.core.access import Staff
from gateway.core.audit import AuditEvent
from gateway.core.company_scope import CompanyScope
from gateway.core.rights import Role
from gateway.core.windows import Paging
from tests.unit.gateway.http.registers import AdminWorld
from tests.world.acts import acts_of, audit_log, reader
from tests.world.people import somebody
from tests.world.registers import Registers

FIRST = AuditSearch(paging=Paging(1, 25))


async def test_acts_are_searched_exported_and_verified(admin_world: AdminWorld):
    log, who = audit_log(admin_world.office.store), admin_world.staff().staff

    found = await log.search(who, FIRST)
    rest = await log.export(who, 1)
    proof = await log.prove(who)

    assert found.total == proof.events == len(rest) + 1 == 4
    assert (proof.whole, proof.problem) == (True, "")


async def test_an_export_has_a_line_for_each_act(admin_world: AdminWorld):
    entries = await acts_of(admin_world.office.store)

    written = lines(entries, admin_world.staff().staff)

    found = [json.loads(each) for each in written.splitlines()]
    assert [each["number"] for each in found] == [1, 2, 3, 4]
    assert found[0]["hash"] == entries[0].hash.hex()


class Broken:
    """A record whose second link does not hold."""

    async def verify(self) -> int:
        message = "the audit log is broken at event 2"
        raise ValueError(message)


async def test_an_exported_act_has_every_field_of_its_hash(admin_world: AdminWorld):
    """Including the microseconds, which a list does not show."""
    [entry, *_] = await acts_of(admin_world.office.store)
    at = entry.event.at + timedelta(microseconds=1)

    changed = replace(entry, event=replace(entry.event, at=at))
    written = lines([changed], admin_world.staff().staff)

    assert datetime.fromisoformat(json.loads(written)["at"]) == at


async def test_an_opinion_on_an_open_review_is_shown_to_its_author_alone(admin_world: AdminWorld):
    """An auditor could tell others: only its author reads it before the payout is decided."""
    [entry, *_] = await acts_of(admin_world.office.store)
    said = {"verdict": "paid", "reason": "extrato"}
    event = replace(entry.event, action="payout.judged", details=said)
    reviewer = admin_world.staff().staff
    auditor = replace(reviewer, person=somebody(Role.SECURITY))
    own = replace(event, actor=reviewer.acting.actor)

    def read(who: Staff, shown: AuditEvent, *, is_open: bool = True) -> object:
        found = replace(entry, event=shown, is_open_opinion=is_open)
        return json.loads(lines([found], who))["details"]

    assert [read(reviewer, event), read(auditor, event), read(reviewer, own)] == [{}, {}, said]
    assert read(auditor, event, is_open=False) == read(reviewer, event, is_open=False) == said


async def test_a_record_that_was_changed_is_reported(admin_world: AdminWorld):
    """With the broken link, and not as an error."""
    broken: Any = Broken()
    log = replace(audit_log(admin_world.office.store), chain=broken)

    for who in (admin_world.staff(), admin_world.staff(admin_world.ours.id)):
        proof = await log.prove(who.staff)

        assert (proof.whole, proof.problem) == (False, "the audit log is broken at event 2")


async def test_a_filter_never_widens_a_user_s_scope(admin_world: AdminWorld):
    log = audit_log(admin_world.office.store)
    theirs = replace(FIRST, subject=f"company:{admin_world.theirs.id}")

    totals = [
        (await log.search(admin_world.staff(each.id).staff, theirs)).total
        for each in (admin_world.ours, admin_world.theirs)
    ]

    assert totals == [0, 1]


async def test_a_proof_covers_the_whole_log_and_counts_visible_acts(office: Registers):
    mine = await office.company("Padaria")
    scope = CompanyScope(frozenset({mine.id}))
    await office.company("Outra")

    everything = await audit_log(office.store).prove(reader())
    limited = await audit_log(office.store).prove(reader(scope))

    assert (everything.events, limited.events) == (2, 1)
    assert everything.problem == limited.problem == ""


async def test_an_accepted_break_is_shown_to_all_and_its_people_to_unlimited_users(
    office: Registers,
):
    """They may belong to companies that a limited user does not see."""
    mine = await office.company("Padaria")
    scope = CompanyScope(frozenset({mine.id}))
    async with office.store.database.writing() as connection:
        await connection.execute(text("DROP TRIGGER audit_no_update"))
        await connection.execute(text("UPDATE audit SET actor = 'x'"))
    found = await office.store.audit.find_break()
    assert found is not None
    details = {"proposed_by": "user:a", "reason": "fire"}
    event = office.acting.event("", "", details)
    await office.store.audit.accept(found, replace(event, actor="user:b"))

    everything = await audit_log(office.store).prove(reader())
    limited = await audit_log(office.store).prove(reader(scope))

    told = [
        [(each.first, each.last, each.number, each.proposed_by, each.approved_by, each.reason)]
        for proof in (everything, limited)
        for each in proof.accepted
    ]
    assert told == [
        [(found.first, found.last, 2, "user:a", "user:b", "fire")],
        [(found.first, found.last, 2, "", "", "")],
    ]
    assert everything.problem == limited.problem == ""
