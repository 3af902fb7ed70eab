"""Acts that strangers can cause: counted without the store, written once a minute."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from gateway.audit import log as audit_log
from gateway.audit.log import BATCH, FAILED, MOST_ADDRESSES, TAKEN, AuditTally, keeping
from gateway.audit.model import AuditSearch
from gateway.companies.service import add_company
from gateway.core.audit import AuditEvent
from gateway.core.company_scope import scope_of
from gateway.core.storage import StoreUnavailable
from gateway.core.windows import Paging
from gateway.telemetry.records import AccessRecord, begin_record
from tests.world import registers
from tests.world.acts import acts_of
from tests.world.stores.people import MARIA, user
from tests.world.stores.samples import ACCOUNT, COMPANY, NOW, account, company, event
from tests.world.surfaces import usual_surfaces


@dataclass
class Hall:
    office: registers.Registers
    tally: AuditTally
    is_away: bool = False
    batches: int = 0

    async def append(self, *events: AuditEvent) -> None:
        if self.is_away:
            raise StoreUnavailable
        self.batches += 1
        await self.office.store.audit.append(*events)

    def fails(
        self, user_id: str = "", address: str = "203.0.113.7", word: str = "login_fail"
    ) -> None:
        begin_record(AccessRecord(trace_id="t", route="identity.login", address=address))
        self.tally.on_event(f"authn_{word}", user_id)

    async def told(self, *companies: str) -> list[AuditEvent]:
        """Write, and return what was counted, oldest first."""
        await self.tally.run_once()
        scope = scope_of(frozenset(companies))
        found = await acts_of(self.office.store, scope)
        return [each.event for each in found if each.event.details.get("count")]


@pytest.fixture
async def hall(tmp_path: Path) -> AsyncIterator[Hall]:
    async with registers.opened(tmp_path) as office:
        await add_company(office.store.database, company(), event())
        await office.store.accounts.add(account(), event())
        maria = replace(user(), companies=frozenset({COMPANY}))
        await office.store.identity.users.add(maria, event())
        users = office.store.identity.users
        made = Hall(office, AuditTally(office.store.audit, users.find, lambda: NOW))
        audit: Any = made
        made.tally = AuditTally(audit, users.find, lambda: NOW)
        yield made


async def test_many_failed_sign_ins_are_one_event_per_user(hall: Hall):
    """However many attempts there are, from however many addresses."""
    for number in range(1_000):
        hall.fails(MARIA, f"203.0.113.{number % 20}")

    (told,) = await hall.told()

    assert (told.action, told.subject) == ("sign_in.failed", f"user:{MARIA}")
    assert told.actor.startswith("address:203.0.113.")
    assert told.details["count"] == "1000"
    assert len(told.details["addresses"].split()) == 8
    assert (told.at, told.trace_id) == (NOW, "t")
    assert (await hall.told()) == [told]


async def test_failed_sign_ins_without_a_user_are_recorded_by_address(hall: Hall):
    """An IPv6 address counts as its network."""
    for address in ("2001:db8::1", "2001:db8::2"):
        hall.fails("", address)
    hall.fails("", "203.0.113.7", word="sign_on_refused")

    told = await hall.told()

    assert [(each.subject, each.details["count"]) for each in told] == [
        ("address:2001:db8::/64", "2"),
        ("address:203.0.113.7", "1"),
    ]
    assert {each.companies for each in told} == {frozenset()}


async def test_counting_failed_sign_ins_does_not_call_the_store(hall: Hall):
    """So that neither duration nor a silent store reveals who exists."""
    hall.is_away = True

    for user_id in (MARIA, ""):
        hall.fails(user_id)
        hall.fails(user_id, word="login_lock")

    hall.is_away = False
    assert [each.action for each in await hall.told()] == [
        *("sign_in.failed", "sign_in.locked") * 2,
    ]


async def test_many_addresses_fill_neither_memory_nor_log(hall: Hall):
    """And room is left for users, whose attackers would otherwise stay unseen."""
    for number in range(5_000):
        hall.fails("", f"10.0.{number // 250}.{number % 250}")
    hall.fails(MARIA)

    told = await hall.told()

    others = next(each for each in told if each.subject == "address:others")
    assert len(told) == MOST_ADDRESSES + 2
    assert others.details["count"] == str(5_000 - MOST_ADDRESSES)
    assert told[-1].subject == f"user:{MARIA}"
    assert hall.batches == -(-len(told) // BATCH)


async def test_counted_users_are_bounded(hall: Hall, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(audit_log, "MOST_PEOPLE", 100)
    for number in range(110):
        hall.fails(f"u{number}")

    assert len(await hall.told()) == 100 + 1


async def test_counts_that_could_not_be_stored_are_kept_for_the_next_run(hall: Hall):
    hall.fails(MARIA)
    hall.is_away = True
    with pytest.raises(StoreUnavailable):
        await hall.tally.run_once()
    hall.fails(MARIA)
    hall.is_away = False

    (told,) = await hall.told()

    assert told.details["count"] == "2"


def record(**fields: Any) -> AccessRecord:
    plain = {"trace_id": "t", "user_id": MARIA, "address": "203.0.113.7", "status": 200}
    return AccessRecord(**{**plain, **fields})


async def test_downloads_are_recorded_by_account(hall: Hall):
    for _ in range(3):
        hall.tally.on_request(record(route="backoffice.report", account_id=ACCOUNT))
    hall.tally.on_request(record(route="backoffice.audit_export"))

    told = await hall.told(COMPANY)

    assert [(each.action, each.subject, each.details["count"]) for each in told] == [
        ("report.downloaded", f"account:{ACCOUNT}", "3"),
        ("audit.exported", f"user:{MARIA}", "1"),
    ]
    assert {each.actor for each in told} == {"user:maria@example.com"}


async def test_a_refused_right_is_reported_with_its_route(hall: Hall):
    hall.tally.on_request(record(status=403, code="FORBIDDEN", route="backoffice.users"))

    (told,) = await hall.told(COMPANY)

    assert (told.action, told.subject) == ("access.refused", f"user:{MARIA}")
    assert told.details["route"] == "backoffice.users"


async def test_other_requests_are_not_reported(hall: Hall):
    hall.tally.on_request(record(user_id="", status=403, code="FORBIDDEN"))
    hall.tally.on_request(record(status=403, code="STEP_UP_REQUIRED"))
    hall.tally.on_request(record(route="backoffice.report", status=502))
    hall.tally.on_request(record(route="backoffice.balance"))

    assert await hall.told() == []


async def test_other_events_are_not_counted(hall: Hall):
    begin_record(AccessRecord(trace_id="t"))
    hall.tally.on_event("authn_login_success", MARIA)

    assert await hall.told() == []


async def test_requests_are_counted_and_passed_to_the_request_log(hall: Hall):
    kept: list[str] = []
    line: Any = None
    keep = keeping(hall.tally, lambda _at, one, _line: kept.append(one.route))

    keep(NOW, record(route="backoffice.report", account_id=ACCOUNT), line)
    keeping(hall.tally, None)(NOW, record(route="backoffice.audit_export"), line)

    assert kept == ["backoffice.report"]
    assert len(await hall.told()) == 2


def test_counted_routes_and_words_exist():
    routes = {
        route.name
        for surface in usual_surfaces()
        for gate in surface.gates
        for route in gate.routes
    }

    assert set(TAKEN) <= routes
    assert set(FAILED.values()) == {"sign_in.failed", "sign_in.locked", "factor.failed"}
    assert AuditSearch(paging=Paging(1, 1)).action is None
