"""All days without a difference signed by one act: as they were shown, by as many as it needs."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from gateway.app.store import Store
from gateway.banks.port.providers import Unreachable
from gateway.closings.days import DayState
from gateway.closings.model import Closing
from gateway.core.audit_context import RuleViolation
from gateway.core.company_scope import CompanyScope
from gateway.statements.model import local_day
from gateway.store.tables.core import audit
from tests.contract.stores.closing_days import CAME_IN, DAY, FEE, FOREIGN, HOUR, MORNING, Office
from tests.contract.stores.databases import both
from tests.world.stores.samples import ACCOUNT, COMPANY, NOW, SISTER, account

TODAY = local_day(NOW)


async def signed(office: Office, account_id: str = ACCOUNT) -> Closing | None:
    found = await office.closings.signed(office.who(), account(account_id), TODAY)
    return next(iter(found), None)


async def acts(office: Office) -> list[tuple[str, str, str]]:
    wanted = select(audit).where(audit.c.action.like("closing.%")).order_by(audit.c.number)
    return [
        (row.action, row.actor, row.subject.partition(":")[2])
        for row in await office.store.database.rows(wanted)
    ]


@both
async def test_one_act_signs_all_days_and_another_person_s_act_locks_them(store: Store) -> None:
    office = Office(store)
    office.books[ACCOUNT].entries = [FEE, CAME_IN]
    await office.turn()
    shown = await office.days.of(office.who(), TODAY)

    made = await office.days.sign(office.who(), TODAY, shown.to_sign.digest)
    mine = await office.days.of(office.who(), TODAY)
    theirs = await office.days.of(office.who("joao"), TODAY)
    with pytest.raises(RuleViolation, match="not as it was shown"):
        await office.days.lock(office.who(), TODAY, theirs.to_lock.digest)
    done = await office.days.lock(office.who("joao"), TODAY, theirs.to_lock.digest)

    assert (made, done, shown.to_sign.count) == (2, 2, 2)
    assert (mine.to_sign.count, mine.to_lock.count, theirs.to_lock.count) == (0, 0, 2)
    kept = await signed(office)
    assert kept
    assert (kept.signed_by, kept.locked_by, kept.differences) == ("user:maria", "user:joao", 0)
    assert (kept.opening, kept.closing) == (100_000, 100_000 + 700 - 99)
    assert await acts(office) == [
        (action, actor, account_id)
        for action, actor in (("closing.signed", "user:maria"), ("closing.locked", "user:joao"))
        for account_id in (ACCOUNT, SISTER)
    ]
    after = await office.days.of(office.who(), TODAY)
    assert after.counts == {DayState.LOCKED: 2}


@both
async def test_no_day_is_signed_whose_figures_changed_since_it_was_shown(store: Store) -> None:
    """None of the act's days is; shown again, they can be."""
    office = Office(store)
    office.books[ACCOUNT].entries = [FEE]
    await office.turn()
    shown = await office.days.of(office.who(), TODAY)
    office.books[ACCOUNT].entries = [FEE, CAME_IN]
    await office.closings.read(office.who(), account(), TODAY)

    with pytest.raises(RuleViolation, match="not as it was shown"):
        await office.days.sign(office.who(), TODAY, shown.to_sign.digest)
    before = await signed(office, SISTER)
    again = await office.days.of(office.who(), TODAY)

    assert before is None
    assert await office.days.sign(office.who(), TODAY, again.to_sign.digest) == 2


@both
async def test_no_day_is_locked_that_changed_since_it_was_signed(store: Store) -> None:
    """It is an exception, and is signed anew on its own page."""
    office = Office(store)
    office.books[ACCOUNT].entries = [FEE]
    await office.turn()
    shown = await office.days.of(office.who(), TODAY)
    await office.days.sign(office.who(), TODAY, shown.to_sign.digest)
    theirs = await office.days.of(office.who("joao"), TODAY)
    office.books[ACCOUNT].entries = [FEE, CAME_IN]
    await office.closings.read(office.who(), account(), TODAY)

    with pytest.raises(RuleViolation, match="not as it was shown"):
        await office.days.lock(office.who("joao"), TODAY, theirs.to_lock.digest)

    after = await office.days.of(office.who("joao"), TODAY)
    assert [(each.account_id, each.state) for each in after.exceptions] == [
        (ACCOUNT, DayState.CHANGED)
    ]
    assert after.to_lock.count == 1


async def test_days_with_a_difference_are_in_no_act(store: Store) -> None:
    office = Office(store)
    office.books[ACCOUNT].entries = [FOREIGN]
    await office.turn()

    shown = await office.days.of(office.who(), TODAY)
    await office.days.sign(office.who(), TODAY, shown.to_sign.digest)

    assert (shown.to_sign.count, await signed(office)) == (1, None)
    (found,) = shown.exceptions
    assert found.reading
    assert [each.name for each in found.reading.lines] == [FOREIGN.counterparty.name]


@both
async def test_a_day_that_was_locked_with_a_difference_is_not_called_reconciled(
    store: Store,
) -> None:
    office = Office(store)
    office.books[ACCOUNT].entries = [FOREIGN]
    await office.turn()
    day = await office.closings.read(office.who(), account(), TODAY)
    await office.closings.sign(office.who(), account(), TODAY, day.digest)
    signed_day = await office.days.of(office.who(), TODAY)
    await office.closings.lock(office.who("joao"), account(), TODAY, day.digest)

    locked_day = await office.days.of(office.who(), TODAY)

    for seen, state in ((signed_day, DayState.SIGNED), (locked_day, DayState.LOCKED)):
        assert seen.counts == {state: 1, DayState.READY: 1}
        assert (seen.reconciled, seen.accounts, seen.signed_with_difference) == (1, 2, 1)


@both
async def test_a_difference_that_was_signed_on_a_day_without_a_reading_counts(
    store: Store,
) -> None:
    """Signed before the day was final, and not read since, or in vain."""
    office = Office(store, now=MORNING - 5 * HOUR)
    office.books[ACCOUNT].entries = [FOREIGN]
    day = await office.closings.read(office.who(), account(), TODAY)
    await office.closings.sign(office.who(), account(), TODAY, day.digest)
    unread = await office.days.of(office.who(), TODAY)
    office.now = MORNING
    office.books[ACCOUNT].problem = Unreachable("x")
    await office.turn()

    failed = await office.days.of(office.who(), TODAY)

    assert unread.counts == {DayState.SIGNED: 1, DayState.UNREAD: 1}
    assert failed.counts == {DayState.SIGNED: 1, DayState.READY: 1}
    assert (unread.reconciled, unread.signed_with_difference) == (0, 1)
    assert (failed.reconciled, failed.signed_with_difference) == (1, 1)


@both
async def test_one_signature_locks_a_day_without_a_difference(store: Store) -> None:
    office = Office(store, one_signature=True)
    await office.turn()
    shown = await office.days.of(office.who(), TODAY)

    await office.days.sign(office.who(), TODAY, shown.to_sign.digest)

    kept = await signed(office)
    assert kept
    assert (kept.signed_by, kept.locked_by, kept.locked_at) == (
        "user:maria",
        "user:maria",
        MORNING,
    )
    assert [each[:2] for each in await acts(office)] == [
        ("closing.signed", "user:maria"),
        ("closing.locked", "user:maria"),
    ] * 2


@pytest.mark.parametrize("together", [True, False])
async def test_a_day_with_a_difference_takes_two_signatures_always(
    store: Store, together: bool
) -> None:
    """Also when one person has explained it, and by either way of signing."""
    office = Office(store, one_signature=True)
    office.books[ACCOUNT].entries = [FOREIGN]
    await office.turn()
    await office.explain()
    await office.closings.read(office.who(), account(), TODAY)

    if together:
        shown = await office.days.of(office.who(), TODAY)
        await office.days.sign(office.who(), TODAY, shown.to_sign.digest)
    else:
        day = await office.closings.read(office.who(), account(), TODAY)
        await office.closings.sign(office.who(), account(), TODAY, day.digest)

    kept = await signed(office)
    assert kept
    assert (kept.signed_by, kept.locked_by, kept.locked_at) == ("user:maria", "", None)


async def test_a_day_that_does_not_join_the_day_before_takes_two_signatures(store: Store) -> None:
    office = Office(store, one_signature=True)
    office.books[ACCOUNT].entries = [FEE]
    await office.turn()
    office.books[ACCOUNT].opened_with += 1
    office.now = MORNING + DAY
    await office.turn()

    next_day = TODAY + DAY
    day = await office.closings.read(office.who(), account(), next_day)
    await office.closings.sign(office.who(), account(), next_day, day.digest)

    assert day.differences == 0
    kept = await signed(office)
    assert kept
    assert (kept.day, kept.locked_by) == (next_day, "")


async def test_one_signature_on_a_day_s_own_page_locks_it_too(store: Store) -> None:
    """Once it is final: before that its signature waits for another person."""
    office = Office(store, one_signature=True, now=MORNING - 5 * HOUR)
    early = await office.closings.read(office.who(), account(SISTER), TODAY)
    await office.closings.sign(office.who(), account(SISTER), TODAY, early.digest)
    office.now = MORNING
    day = await office.closings.read(office.who(), account(), TODAY)

    await office.closings.sign(office.who(), account(), TODAY, day.digest)

    first, second = await signed(office, SISTER), await signed(office)
    assert first
    assert second
    assert (first.locked_by, second.locked_by) == ("", "user:maria")


async def test_days_of_other_companies_are_neither_shown_nor_signed(store: Store) -> None:
    office = Office(store)
    await office.turn()
    nobody = office.who(scope=CompanyScope(frozenset()))
    theirs = office.who(scope=CompanyScope(frozenset({COMPANY})))

    shown, seen = await office.days.of(nobody, TODAY), await office.days.of(theirs, TODAY)
    with pytest.raises(RuleViolation):
        await office.days.sign(nobody, TODAY, seen.to_sign.digest)

    assert (shown.accounts, shown.to_sign.count, seen.to_sign.count) == (0, 0, 2)
    assert (await office.days.month(nobody, TODAY.replace(day=1))).accounts == 0


async def test_the_page_shows_the_days_that_one_act_signs(store: Store) -> None:
    """31 days with the chosen one: a month's close, and no day more."""
    office = Office(store)
    first = TODAY - 30 * DAY
    for day in (first - DAY, first, TODAY):
        await office.closings.read(office.who(), account(), day)

    shown = await office.days.of(office.who(), TODAY)

    assert [day for day, _ in shown.earlier] == [first]
    assert (shown.to_sign.count, shown.to_sign.first) == (2, first)


async def test_more_days_than_one_act_takes_are_signed_by_several(store: Store) -> None:
    """The oldest first."""
    office = Office(store, together=3, now=MORNING + DAY)
    await office.turn()
    signed_days = []

    for _ in range(2):
        shown = await office.days.of(office.who(), TODAY + DAY)
        signed_days.append((shown.to_sign.count, shown.to_sign.first, shown.to_sign.last))
        await office.days.sign(office.who(), TODAY + DAY, shown.to_sign.digest)

    assert signed_days == [(3, TODAY, TODAY + DAY), (1, TODAY + DAY, TODAY + DAY)]


@both
async def test_the_month_adds_up_the_days_of_each_account_and_of_all(store: Store) -> None:
    office = Office(store)
    office.books[ACCOUNT].entries = [FEE, CAME_IN]
    await office.turn()
    office.now = MORNING + DAY
    await office.turn()
    shown = await office.days.of(office.who(), TODAY)
    await office.days.sign(office.who(), TODAY, shown.to_sign.digest)
    theirs = await office.days.of(office.who("joao"), TODAY)
    await office.days.lock(office.who("joao"), TODAY, theirs.to_lock.digest)

    month = await office.days.month(office.who(), TODAY.replace(day=1))

    (first, second) = month.rows
    assert (first.account_id, first.opening, first.closing) == (ACCOUNT, 100_000, 100_601)
    assert (first.credits, first.debits, first.fees, first.returns) == (700, 0, 99, 0)
    assert (first.days, first.locked, second.days) == (2, 1, 2)
    assert (month.accounts, month.total.credits, month.total.fees) == (2, 700, 99)
    assert (month.total.days, month.total.locked) == (4, 2)
    earlier = await office.days.month(office.who(), TODAY.replace(month=10, day=1))
    assert (earlier.accounts, earlier.rows, earlier.total.credits) == (0, [], 0)
