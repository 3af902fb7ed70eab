"""Days compared with the bank by a worker: when, how again, and what is kept of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateway.app.store import Store
from gateway.banks.port.capabilities import EntryField
from gateway.banks.port.providers import Unreachable
from gateway.closings.days import DayState
from gateway.closings.readings import DayReading, not_reconciled
from gateway.core.money import Money
from gateway.statements.model import local_day
from tests.contract.stores.closing_days import (
    CAME_IN,
    DAY,
    FEE,
    FOREIGN,
    HOUR,
    MORNING,
    NINE,
    Books,
    Office,
)
from tests.contract.stores.databases import both
from tests.world.movements import movement
from tests.world.stores.samples import ACCOUNT, NOW, SISTER, account

TODAY = local_day(NOW)
TOMORROW = TODAY + DAY


async def kept(office: Office, account_id: str = ACCOUNT, day: object = TODAY) -> DayReading:
    found = await office.readings.of(account_id, day)  # type: ignore[arg-type]
    assert found
    return found


@both
async def test_every_account_s_day_is_read_once_six_hours_after_it_ended(store: Store) -> None:
    """The figures are the bank's; a day without a difference is not read again."""
    office = Office(store)
    office.books[ACCOUNT].entries = [FEE, CAME_IN]
    office.now = MORNING - HOUR

    early = await office.turn()
    office.now = MORNING
    first, again = await office.turn(), await office.turn()

    assert (early, first, again) == ([], ["reconciled"] * 2, [])
    found = await kept(office)
    assert (found.opening, found.credits, found.fees, found.closing) == (
        100_000,
        700,
        99,
        100_000 + 700 - 99,
    )
    assert (found.differences, found.gap, found.problem, found.read_at) == (0, 0, "", MORNING)


@both
async def test_a_day_is_not_reconciled_before_its_bank_has_answered(store: Store) -> None:
    """It is asked again after five minutes, and counted as late from nine o'clock on."""
    office = Office(store)
    office.books[ACCOUNT].problem = Unreachable("x")

    failed = await office.turn()
    seen = await office.days.of(office.who(), TODAY)
    at_once = await office.turn()
    late = [await not_reconciled(store.database, at) for at in (NINE - HOUR, NINE)]
    office.books[ACCOUNT].problem, office.now = None, NINE
    answered = await office.turn()

    assert (sorted(failed), at_once, answered) == (["failed", "reconciled"], [], ["reconciled"])
    assert seen.counts == {DayState.UNREAD: 1, DayState.READY: 1}
    assert [(each.account_id, each.state) for each in seen.exceptions] == [
        (ACCOUNT, DayState.UNREAD)
    ]
    assert (seen.reconciled, seen.accounts) == (1, 2)
    assert late == [{}, {"sandbox": 1}]
    assert await not_reconciled(store.database, NINE) == {}


async def test_a_bank_that_hangs_for_one_account_delays_no_other(store: Store) -> None:
    office = Office(store, turn_s=0.5)
    office.books[ACCOUNT].hangs = True

    outcomes = await office.turn()

    assert sorted(outcomes) == ["failed", "reconciled"]
    assert (await kept(office, SISTER)).read_at == MORNING
    assert (await kept(office)).problem == "bank"


async def test_a_bank_whose_statement_names_no_payouts_is_not_compared(store: Store) -> None:
    """Each payout would be a difference. No alert waits for it."""
    office = Office(store)
    office.books[ACCOUNT].capabilities = replace(
        office.books[ACCOUNT].capabilities, entry_fields=frozenset({EntryField.KIND})
    )

    outcomes = await office.turn()
    office.now += HOUR

    assert sorted(outcomes) == ["not_offered", "reconciled"]
    assert await office.turn() == []
    assert await not_reconciled(store.database, NINE) == {}
    seen = await office.days.of(office.who(), TODAY)
    assert (seen.reconciled, seen.accounts, seen.exceptions) == (1, 1, [])


@both
async def test_missed_days_are_read_oldest_first_a_week_at_most(store: Store) -> None:
    office = Office(store, now=MORNING + 9 * DAY)

    due = {each.id: days for each, days in await office.readings.due(office.now, "sandbox")}
    outcomes = await office.turn()

    assert due[ACCOUNT] == [TODAY + number * DAY for number in range(3, 10)]
    assert outcomes == ["reconciled"] * 14
    assert await office.turn() == []
    assert await office.readings.due(office.now, "other") == []


@both
async def test_a_movement_that_came_late_is_found_by_the_next_day(store: Store) -> None:
    """That day opens with another balance; both are read anew, and then they join."""
    office = Office(store)
    office.books[ACCOUNT].entries = [CAME_IN]
    await office.turn()
    late = movement(
        provider_id="fee-late", e2e_id="", value=Money(50), kind=FEE.kind, created_at=NOW
    )
    office.books[ACCOUNT].entries.append(late)
    office.now = MORNING + DAY

    first = await office.turn()
    gap, seen = (await kept(office, day=TOMORROW)).gap, await office.days.of(office.who(), TOMORROW)
    second = await office.turn()
    joined = await kept(office, day=TOMORROW)

    assert (sorted(first), gap) == (["differs", "reconciled"], -50)
    assert [each.state for each in seen.exceptions] == [DayState.DIFFERS]
    assert second == ["reconciled"]
    assert ((await kept(office)).fees, joined.gap) == (50, 0)


@both
async def test_a_day_that_differs_is_read_again_each_hour_for_a_week(store: Store) -> None:
    office = Office(store)
    office.books[ACCOUNT].entries = [FOREIGN]
    await office.turn()

    soon = (await kept(office)).next_at
    office.now = MORNING + HOUR
    again = await office.turn()
    office.now = MORNING + 8 * DAY + HOUR
    last = await office.turn()

    assert (soon, again) == (MORNING + HOUR, ["differs"])
    assert "differs" in last
    assert (await kept(office)).next_at is None
    assert [each.id for each in (await kept(office)).lines] == [FOREIGN.provider_id]


@both
async def test_an_explained_difference_is_not_open_after_another_reading(
    store: Store,
) -> None:
    office = Office(store)
    office.books[ACCOUNT].entries = [FOREIGN]
    await office.turn()
    await office.explain()

    day = await office.closings.read(office.who(), account(), TODAY)

    found = await kept(office)
    assert (day.differences, found.differences, found.differing) == (0, 0, 1)
    assert found.next_at is None


async def test_a_reading_before_the_day_is_final_is_not_kept(store: Store) -> None:
    """A person may look at a day earlier; it is read for good later."""
    office = Office(store, now=MORNING - 5 * HOUR)

    await office.closings.read(office.who(), account(), TODAY)

    assert await office.readings.of(ACCOUNT, TODAY) is None


async def test_a_failure_keeps_what_an_earlier_reading_found(store: Store) -> None:
    office = Office(store)
    office.books[ACCOUNT].entries = [FOREIGN]
    await office.turn()
    office.books[ACCOUNT].problem, office.now = Unreachable("x"), MORNING + HOUR

    outcomes = await office.turn()

    found = await kept(office)
    assert outcomes == ["failed"]
    assert (found.differences, found.read_at, found.problem) == (1, MORNING, "bank")
    seen = await office.days.of(office.who(), TODAY)
    assert [each.state for each in seen.exceptions] == [DayState.DIFFERS]


@pytest.mark.parametrize("moves", [True, False])
async def test_a_balance_that_moves_during_each_reading_reconciles_nothing(
    store: Store, moves: bool
) -> None:
    class Busy(Books):
        async def get_balance(self, account: object) -> object:  # type: ignore[override]
            self.opened_with += moves
            return await super().get_balance(account)

    office = Office(store, books={ACCOUNT: Busy(), SISTER: Books()})

    outcomes = await office.turn()

    assert sorted(outcomes) == (["failed", "reconciled"] if moves else ["reconciled"] * 2)
    assert (await kept(office)).problem == ("balance" if moves else "")
