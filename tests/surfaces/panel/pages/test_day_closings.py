"""The page of all accounts' days: exceptions first, one act for the others, and the package."""

from __future__ import annotations

import re
from datetime import date, timedelta

import pytest
from sqlalchemy import delete, update

from gateway.banks.port.statements import Direction
from gateway.closings.model import Day, Figures, Line, Rule
from gateway.closings.readings import DayReadings, Problem
from gateway.core.access import Staff
from gateway.core.audit_context import AuditContext
from gateway.core.money import Money
from gateway.core.rights import Role
from gateway.statements.model import local_day
from gateway.store.tables.core import accounts, day_closings, day_readings
from tests.surfaces.panel.pages.person import Person, Seen, signed_in
from tests.world.gateway.world import World

pytestmark = pytest.mark.asyncio(loop_scope="module")

DIGEST = re.compile(r'name="digest" value="([0-9a-f]{64})"')
DAY = timedelta(days=1)
PAGE = "/panel/closings"


def main(seen: Seen) -> str:
    """Return the words of the page, without tags."""
    text = re.sub(r"<[^>]+>", " ", seen.text[seen.text.index("<main") :])
    return re.sub(r"\s+", " ", text)


async def compared(world: World, *, foreign: bool = False, failed: bool = False) -> date:
    """Compare yesterday of main and sister, alone among all accounts."""
    database, now = world.gateway.kernel.store.database, world.gateway.kernel.now()
    readings, day = DayReadings(database, timedelta()), local_day(now) - DAY
    ids = [world.demo["accounts"][name]["id"] for name in ("main", "sister")]
    for table in (day_readings, day_closings):
        await database.write(delete(table))
    earlier = update(accounts).where(accounts.c.id.in_(ids))
    await database.write(earlier.values(created_at=now - 40 * DAY))
    line = Line(
        id="ted-1",
        rule=Rule.BANK_ONLY,
        direction=Direction.DEBIT,
        at=now - DAY,
        bank=Money(80_000),
        book=None,
        name="Cartório <b>",
        e2e_id="",
    )
    figures = Figures(opening=0, credits=0, debits=0, fees=0, returns=0, closing=0, paid=0)
    who, services = Staff(AuditContext("test", world.gateway.kernel.now)), world.gateway.services
    for account_id, lines in ((ids[0], [line] if foreign else []), (ids[1], [])):
        account = await world.gateway.kernel.store.accounts.find(account_id)
        assert account
        (shown,) = await services.closings.days(who, account, [day])
        found = Day(day=day, figures=figures, lines=lines, movements=shown.movements)
        await readings.note(account_id, found, now)
    if failed:
        await database.write(delete(day_readings).where(day_readings.c.account_id == ids[1]))
        await readings.fail(ids[1], day, Problem.BANK, now)
    return day


async def test_the_page_says_in_one_line_that_all_accounts_are_reconciled(
    world: World, viewer: Person
):
    """Without asking the bank; a reader signs nothing."""
    await compared(world)
    world_calls = len((await world.control.get("calls"))["data"])

    seen = await viewer.open(PAGE)

    assert "todas as 2 contas estão conciliadas." in main(seen)
    assert "Exceções" not in main(seen).partition("Dias")[0]
    assert not DIGEST.search(seen.text)
    assert len((await world.control.get("calls"))["data"]) == world_calls


async def test_exceptions_stand_first_with_what_differs_and_a_link(world: World, approver: Person):
    day = await compared(world, foreign=True, failed=True)
    account = world.demo["accounts"]["main"]["id"]

    seen = await approver.open(PAGE)

    assert "0 de 2 contas conciliadas" in main(seen)
    assert "só no banco − R$ 800,00 Cartório &lt;b&gt;" in main(seen)
    assert "o banco não respondeu" in main(seen)
    assert f'href="/panel/accounts/{account}/closing?day={day}"' in seen.text
    assert not DIGEST.search(seen.text)


async def test_one_person_signs_all_days_another_locks_them_and_the_accountant_gets_them(
    world: World, approver: Person
):
    day = await compared(world)
    other, auditor = await signed_in(world, Role.APPROVER), await signed_in(world, *Role)

    find = world.gateway.kernel.store.accounts.find
    both = [await find(world.demo["accounts"][each]["id"]) for each in ("main", "sister")]
    names = " , ".join(sorted(each.name for each in both if each))
    first = await approver.open(PAGE)
    signed = await approver.send(f"{PAGE}/sign", fields(first, day))
    mine, theirs = await approver.open(signed.location), await other.open(signed.location)
    locked = await other.send(f"{PAGE}/lock", fields(theirs, day))
    after = await other.open(locked.location)
    offered = await auditor.open(PAGE)
    made = await auditor.open(f"{PAGE}/package?period={day}")

    assert "2 dias aguardam a primeira assinatura" in main(first)
    assert (signed.status, locked.status) == (303, 303)
    assert f"2 dias assinados ({day:%d/%m/%Y}): {names} . Outra pessoa os fecha." in main(mine)
    assert f"2 dias fechados ({day:%d/%m/%Y}): {names}" in main(after)
    assert "dias assinados" not in main(await approver.open(PAGE))
    assert "dias assinados" not in main(await other.open(signed.location))
    assert not DIGEST.search(mine.text)
    assert not DIGEST.search(after.text)
    assert f'href="{PAGE}/package?period={day}"' in offered.text
    assert made.status == 200
    assert made.headers["Content-Type"] == "application/zip"
    assert f"closing_{day}.zip" in made.headers["Content-Disposition"]


async def test_a_day_that_changed_since_it_was_shown_is_not_signed(world: World, approver: Person):
    day = await compared(world)
    shown = await approver.open(PAGE)
    await compared(world, foreign=True)

    refused = await approver.send(f"{PAGE}/sign", fields(shown, day))
    unknown = await approver.send(f"{PAGE}/lock", {"day": str(day), "digest": "x"})

    assert refused.status in {400, 422}
    assert "mudou desde que foi mostrado" in main(refused)
    assert unknown.status in {400, 422}


async def test_a_package_of_open_days_leads_to_the_first_of_them(world: World, viewer: Person):
    day = await compared(world)

    refused = await viewer.open(f"{PAGE}/package?period={day}")
    shown = await viewer.open(refused.location)

    assert (refused.status, refused.location) == (303, f"{PAGE}?day={day}&open=1")
    assert f"o primeiro dia em aberto é {day:%d/%m/%Y}." in main(shown)


async def test_a_period_that_is_none_is_refused(world: World, viewer: Person):
    await compared(world)

    answers = [
        await viewer.open(f"{PAGE}/package?period={each}")
        for each in ("", "2026-13", "20261120", "9999-12", "2026-11-31", "x")
    ]
    odd = [await viewer.open(f"{PAGE}?day={each}") for each in ("0001-01-01", "9999-12-31", "x")]

    assert {each.status for each in answers} <= {400, 422}
    assert {each.status for each in odd} == {200}


def fields(seen: Seen, day: date) -> dict[str, str]:
    digest = DIGEST.search(seen.text)
    assert digest
    return {"digest": digest[1], "day": str(day)}
