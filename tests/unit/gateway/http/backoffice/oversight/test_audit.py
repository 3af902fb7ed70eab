"""The rows of the record."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from gateway.domain.backoffice.lists import AuditSearch
from gateway.domain.identity.rights import Role
from gateway.domain.kernel.audit import AuditEvent
from gateway.domain.kernel.company_scope import EVERY_COMPANY
from gateway.domain.kernel.windows import Paging
from gateway.http.backoffice.callers import BackOfficeCaller
from gateway.http.backoffice.oversight.audit import NDJSON, show_lines
from tests.unit.gateway.http.backoffice.registers import AdminWorld, taken
from tests.unit.gateway.http.backoffice.surface import line
from tests.world.people import somebody

FIRST = AuditSearch(paging=Paging(1, 25))


@pytest.mark.parametrize(
    ("name", "declared"),
    [
        ("audit", ("GET", "/audit", "audit:read", 200)),
        ("audit_export", ("GET", "/audit/export", "audit:read", 200)),
        ("audit_verify", ("GET", "/audit/proof", "audit:read", 200)),
    ],
)
def test_the_rows_are_those_decided(name: str, declared: tuple[str, str, str, int]):
    assert line(name) == declared


def test_a_search_is_read_from_the_query():
    wanted = taken("audit", query={"actor": ["cli:*"], "page": ["2"], "limit": ["500"]})

    assert (wanted.actor, wanted.action) == ("cli:*", None)
    assert wanted.paging == Paging(2, 100)
    assert taken("audit", query={"trace_id": ["t-1"]}).trace_id == "t-1"


async def test_acts_are_searched_exported_and_proven(admin_world: AdminWorld):
    acts = admin_world.oversight

    found = await acts.search_acts(EVERY_COMPANY, FIRST)
    rest = await acts.export_acts(EVERY_COMPANY, 1)
    proof = await acts.prove_acts(EVERY_COMPANY, None)

    assert found.total == proof.events == len(rest) + 1 == 4
    assert proof.problem == ""


async def test_an_export_has_a_line_for_each_act(admin_world: AdminWorld):
    entries = await admin_world.oversight.export_acts(EVERY_COMPANY, 0)

    answer = show_lines(entries, admin_world.staff())

    lines = [json.loads(each) for each in answer.content.splitlines()]
    assert answer.content_type == NDJSON
    assert [each["number"] for each in lines] == [1, 2, 3, 4]
    assert lines[0]["hash"] == entries[0].hash.hex()


class Broken:
    """A record whose second link does not hold."""

    async def verify(self) -> int:
        message = "the audit log is broken at event 2"
        raise ValueError(message)


async def test_an_exported_act_holds_what_its_hash_is_made_of(admin_world: AdminWorld):
    """The instant to the microsecond, which a list does not show."""
    [entry, *_] = await admin_world.oversight.export_acts(EVERY_COMPANY, 0)
    at = entry.event.at + timedelta(microseconds=1)

    answer = show_lines([replace(entry, event=replace(entry.event, at=at))], admin_world.staff())

    assert datetime.fromisoformat(json.loads(answer.content)["at"]) == at


async def test_an_open_opinion_is_read_by_its_person_alone(admin_world: AdminWorld):
    """Also an auditor may tell others: nobody reads it before the payout is decided."""
    [entry, *_] = await admin_world.oversight.export_acts(EVERY_COMPANY, 0)
    said = {"verdict": "paid", "reason": "extrato"}
    event = replace(entry.event, action="payout.judged", details=said)
    reviewer = admin_world.staff()
    auditor = replace(reviewer, person=somebody(Role.SECURITY))
    own = replace(event, actor=reviewer.acting.actor)

    def read(who: BackOfficeCaller, shown: AuditEvent, *, is_open: bool = True) -> object:
        found = replace(entry, event=shown, is_open_opinion=is_open)
        return json.loads(show_lines([found], who).content)["details"]

    assert [read(reviewer, event), read(auditor, event), read(reviewer, own)] == [{}, {}, said]
    assert read(auditor, event, is_open=False) == read(reviewer, event, is_open=False) == said


async def test_a_record_that_was_changed_is_told(admin_world: AdminWorld):
    """Which link is broken, and not an error."""
    broken: Any = Broken()

    proof = await replace(admin_world.oversight, record=broken).prove_acts(EVERY_COMPANY, None)

    assert proof.problem == "the audit log is broken at event 2"


async def test_who_is_limited_reads_the_acts_of_their_companies(admin_world: AdminWorld):
    """And is told of the whole chain whether it holds: a part of it proves nothing."""
    acts, limited = admin_world.oversight, admin_world.staff(admin_world.ours.id).scope

    found = await acts.search_acts(limited, FIRST)
    exported = await acts.export_acts(limited, 0)
    proof = await acts.prove_acts(limited, None)

    subjects = [each.event.subject for each in found.items]
    assert subjects == [f"account:{admin_world.account.id}", f"company:{admin_world.ours.id}"]
    assert list(exported) == list(reversed(found.items))
    assert (proof.events, proof.problem) == (found.total, "") == (2, "")


async def test_a_filter_shows_nobody_more_than_they_see(admin_world: AdminWorld):
    acts = admin_world.oversight
    theirs = replace(FIRST, subject=f"company:{admin_world.theirs.id}")

    assert (await acts.search_acts(admin_world.staff(admin_world.ours.id).scope, theirs)).total == 0
    assert (
        await acts.search_acts(admin_world.staff(admin_world.theirs.id).scope, theirs)
    ).total == 1


async def test_who_is_limited_is_told_of_a_break_anywhere(admin_world: AdminWorld):
    broken: Any = Broken()
    scope = admin_world.staff(admin_world.ours.id).scope

    proof = await replace(admin_world.oversight, record=broken).prove_acts(scope, None)

    assert proof.problem == "the audit log is broken at event 2"
