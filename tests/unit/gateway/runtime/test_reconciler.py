"""The reconciler: when it looks, how many at once, and what cannot stop it."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from gateway.domain.accounts.accounts import Account
from gateway.domain.bank.providers import Page, Unavailable
from gateway.domain.kernel.money import Money
from gateway.domain.kernel.storage import StoreUnavailable
from gateway.domain.payouts.followups import DueAccount
from gateway.domain.payouts.payouts import FINAL_STATES, Payout, PayoutState
from gateway.operations.payouts.followup import FollowUp
from gateway.runtime.reconciler import next_check
from tests.unit.gateway.runtime.reconciler import People, ReconcilerWorld, stood
from tests.world.movements import movement
from tests.world.payouts import (
    ACCEPTED,
    IS_ACCEPTED,
    IS_SETTLED,
    NOT_SENT,
    PAID,
    SENDING,
    UNKNOWN,
    OneBank,
    PayoutWorld,
    ScriptedBank,
)
from tests.world.people import ACCOUNT, account
from tests.world.standing import NOON
from tests.world.waiting import forever, settle, until

HOUR_S = 3600
MISMATCH = replace(IS_SETTLED, value=Money(1049))


@pytest.fixture
def reconciler_world(payout_world: PayoutWorld) -> ReconcilerWorld:
    payout_world.bank.reads["statement"] = {None: Unavailable("down")}
    return ReconcilerWorld(payout_world)


def looks_at(payout: Payout, ages_s: Iterable[float]) -> dict[float, float | None]:
    """Return when a payout is looked at next, by its age, both in seconds."""
    due = {age_s: next_check(payout, NOON + timedelta(seconds=age_s), 0.5) for age_s in ages_s}
    return {age: None if at is None else (at - NOON).total_seconds() for age, at in due.items()}


@pytest.mark.parametrize("state", [UNKNOWN, ACCEPTED])
def test_looks_are_soon_at_first_then_hourly_then_never(state: PayoutState):
    """Payouts 2.7: after 2, 5, 15 s, 1, 5, 15 min, then every hour until 26."""
    expected = {
        0: 2,
        1.9: 2,
        2: 7,
        6.9: 7,
        7: 22,
        22: 82,
        82: 382,
        382: 1282,
        1282: 1282 + HOUR_S,
        20 * HOUR_S: 21 * HOUR_S,
        26 * HOUR_S - 1: 27 * HOUR_S - 1,
        26 * HOUR_S: None,
        100 * HOUR_S: None,
    }

    assert looks_at(stood(state), expected) == expected


HELD = stood(ACCEPTED, held_until=NOON + timedelta(minutes=30))


def test_a_held_payout_is_looked_at_now_and_then_and_after_its_deadline_as_usual():
    expected = {
        0: 300,
        2: 302,
        1600: 1802,
        1799: 1802,
        1800: 1802,
        1802: 1807,
        1800 + 1282: 1800 + 1282 + HOUR_S,
        26 * HOUR_S: None,
    }

    assert looks_at(HELD, expected) == expected


def test_a_bank_that_puts_its_deadline_off_again_and_again_hides_nothing():
    now = NOON + timedelta(hours=26)

    assert next_check(replace(HELD, held_until=now + timedelta(minutes=60)), now, 0.5) is None


async def test_a_turn_notes_that_the_bank_holds_a_payout_and_wants_nobody(
    reconciler_world: ReconcilerWorld, caplog: pytest.LogCaptureFixture
):
    """Nothing pages, and the statement is not read: nothing moved before the bank decided."""
    until = NOON + timedelta(minutes=30)
    await reconciler_world.payout_world.stands(ACCEPTED)
    reconciler_world.payout_world.bank.knows = replace(IS_ACCEPTED, held_until=until)
    reconciler_world.payout_world.bank.reads["statement"] = {None: AssertionError("read")}
    reconciler_world.board.waiting = [await reconciler_world.payout_world.row()]

    await reconciler_world.reconciler.run_once()

    [look] = reconciler_world.board.looks
    assert (look.state, look.held_until, look.review) == (ACCEPTED, until, False)
    assert look.next_check_at == NOON + timedelta(minutes=5)
    assert caplog.text == ""


async def test_a_turn_notes_that_the_bank_holds_it_no_longer(reconciler_world: ReconcilerWorld):
    await reconciler_world.payout_world.stands(ACCEPTED, held_until=NOON + timedelta(minutes=30))
    reconciler_world.payout_world.bank.knows = IS_ACCEPTED
    reconciler_world.board.waiting = [await reconciler_world.payout_world.row()]

    await reconciler_world.reconciler.run_once()

    [look] = reconciler_world.board.looks
    assert (look.held_until, look.next_check_at) == (None, NOON + timedelta(seconds=2))


async def test_a_bank_that_does_not_answer_leaves_the_deadline_as_it_was(
    reconciler_world: ReconcilerWorld,
):
    until = NOON + timedelta(minutes=30)
    await reconciler_world.payout_world.stands(ACCEPTED, held_until=until)
    reconciler_world.payout_world.bank.knows = Unavailable("down")
    reconciler_world.board.waiting = [await reconciler_world.payout_world.row()]

    await reconciler_world.reconciler.run_once()

    [look] = reconciler_world.board.looks
    assert (look.held_until, look.review) == (until, False)


@pytest.mark.parametrize(("chance", "minutes"), [(0.0, 54), (0.5, 60), (0.999999, 66)])
def test_hourly_looks_are_spread_by_a_tenth(chance: float, minutes: int):
    now = NOON + timedelta(hours=5)

    due = next_check(stood(UNKNOWN), now, chance)

    assert due is not None
    assert abs(due - now - timedelta(minutes=minutes)) < timedelta(seconds=1)


def test_final_payouts_are_never_looked_at_again():
    assert {next_check(stood(state), NOON, 0.5) for state in FINAL_STATES} == {None}


def test_what_is_being_sent_is_looked_at_when_its_lease_ends():
    payout = stood(SENDING)

    assert next_check(payout, NOON, 0.5) == payout.lease_until


def test_what_was_not_sent_is_looked_at_when_its_day_is_over():
    assert next_check(stood(NOT_SENT), NOON, 0.5) == NOON + timedelta(hours=12)


async def test_a_turn_settles_what_the_bank_settled(reconciler_world: ReconcilerWorld):
    await reconciler_world.payout_world.stands(UNKNOWN)
    reconciler_world.payout_world.bank.knows = IS_SETTLED
    reconciler_world.board.waiting = [await reconciler_world.payout_world.row()]

    looked_at = await reconciler_world.reconciler.run_once()

    [look] = reconciler_world.board.looks
    assert (looked_at, (await reconciler_world.payout_world.row()).state) == (1, PAID)
    assert (look.state, look.next_check_at, look.review) == (PAID, None, False)
    assert reconciler_world.told == [await reconciler_world.board.standing()]


async def test_nothing_is_ever_sent(reconciler_world: ReconcilerWorld):
    """Rule R15."""
    for state in (SENDING, UNKNOWN, NOT_SENT, ACCEPTED):
        reconciler_world.board.waiting.append(stood(state))
    reconciler_world.payout_world.clock.passes(48 * HOUR_S)

    await reconciler_world.reconciler.run_once()

    assert len(reconciler_world.board.looks) == 4
    assert reconciler_world.payout_world.bank.orders == []


@pytest.mark.parametrize(("age_h", "review"), [(25, False), (26, True)])
async def test_what_is_not_known_after_a_day_and_two_hours_waits_for_a_person(
    reconciler_world: ReconcilerWorld, age_h: int, review: bool, caplog: pytest.LogCaptureFixture
):
    """An error in the log and a gauge: nothing is lost silently."""
    await reconciler_world.payout_world.stands(UNKNOWN)
    reconciler_world.payout_world.bank.knows = Unavailable("down")
    reconciler_world.board.waiting = [await reconciler_world.payout_world.row()]
    reconciler_world.payout_world.clock.passes(age_h * HOUR_S)

    await reconciler_world.reconciler.run_once()

    [look] = reconciler_world.board.looks
    assert (look.review, look.next_check_at is None) == (review, review)
    assert ("payout_review" in caplog.text) is review


async def test_another_amount_at_the_bank_is_for_a_person_at_once(
    reconciler_world: ReconcilerWorld,
):
    """And is still looked at: the bank may correct itself."""
    await reconciler_world.payout_world.stands(ACCEPTED)
    reconciler_world.payout_world.bank.knows = MISMATCH
    reconciler_world.board.waiting = [await reconciler_world.payout_world.row()]

    await reconciler_world.reconciler.run_once()

    [look] = reconciler_world.board.looks
    assert look.review
    assert look.next_check_at == NOON + timedelta(seconds=2)


async def test_what_a_person_must_see_stays_so_until_it_is_final(reconciler_world: ReconcilerWorld):
    reconciler_world.payout_world.bank.knows = Unavailable("down")
    reconciler_world.board.waiting = [stood(UNKNOWN, review=True)]

    await reconciler_world.reconciler.run_once()

    [look] = reconciler_world.board.looks
    assert look.review


async def test_an_account_that_is_gone_is_asked_about_later(reconciler_world: ReconcilerWorld):
    reconciler_world.board.waiting = [stood(UNKNOWN, account_id="gone")]

    await reconciler_world.reconciler.run_once()

    assert reconciler_world.payout_world.bank.lookups == []
    assert len(reconciler_world.board.looks) == 1


async def test_a_bank_sees_two_looks_at_once(reconciler_world: ReconcilerWorld):
    """Payouts 2.7: its budget, however much is due."""
    reconciler_world.board.waiting = [
        stood(UNKNOWN, reference=f"o-{number}") for number in range(10)
    ]
    reconciler_world.payout_world.bank.knows = Unavailable("down")
    reconciler_world.payout_world.bank.gate.clear()
    turn = asyncio.ensure_future(reconciler_world.reconciler.run_once())
    await until(lambda: len(reconciler_world.payout_world.bank.lookups) == 2)
    await settle(50)

    at_once = len(reconciler_world.payout_world.bank.lookups)
    reconciler_world.payout_world.bank.gate.set()
    await turn

    assert at_once == 2
    assert (
        len(reconciler_world.payout_world.bank.lookups) == len(reconciler_world.board.looks) == 10
    )


async def test_one_bank_does_not_wait_for_another(reconciler_world: ReconcilerWorld):
    reconciler_world.board.waiting = [
        *(stood(UNKNOWN, reference=f"o-{number}") for number in range(3)),
        stood(UNKNOWN, provider="other"),
    ]
    reconciler_world.payout_world.bank.gate.clear()

    turn = asyncio.ensure_future(reconciler_world.reconciler.run_once())
    await until(lambda: reconciler_world.board.looks)

    assert [look.reference for look in reconciler_world.board.looks] == ["order-1"]
    reconciler_world.payout_world.bank.gate.set()
    await turn


class Raising(ScriptedBank):
    """An adapter with a mistake in every read."""

    async def list_statement(self, *_arguments: object) -> object:  # type: ignore[override]
        message = "no such field"
        raise KeyError(message)


class Broken(OneBank):
    """Banks whose credentials cannot be opened for one of two accounts."""

    def of(self, found: Account):  # type: ignore[no-untyped-def]
        message = "sealed under another key"
        raise ValueError(message)


async def test_an_adapter_that_raises_keeps_nobody_from_their_look(
    reconciler_world: ReconcilerWorld,
):
    """Whatever it raises, wherever: the schedule goes on."""
    raising = Raising(knows=KeyError("situacao"))
    reconciler_world.payout_world.banks.adapter = raising
    reconciler_world.board.waiting = [
        stood(UNKNOWN, reference=f"o-{number}") for number in range(4)
    ]

    await reconciler_world.reconciler.run_once()

    assert {look.reference for look in reconciler_world.board.looks} == {"o-0", "o-1", "o-2", "o-3"}
    assert all(look.next_check_at is not None for look in reconciler_world.board.looks)


async def test_a_look_of_a_person_does_not_raise_for_an_adapter_s_mistake(
    reconciler_world: ReconcilerWorld,
):
    """What the bank proves stays; what it does not is as it was."""
    await reconciler_world.payout_world.stands(UNKNOWN)
    reconciler_world.payout_world.banks.adapter = Raising(knows=KeyError("situacao"))
    row = await reconciler_world.payout_world.row()

    assert await reconciler_world.reconciler.look_at(row) == row


async def test_what_a_clock_planned_that_was_put_back_is_looked_at_at_once(
    reconciler_world: ReconcilerWorld, caplog: pytest.LogCaptureFixture
):
    """Else it would wait until the clock is there again."""
    clock, board = reconciler_world.payout_world.clock, reconciler_world.board
    later = clock.at + timedelta(hours=2)
    clock.at = later
    await reconciler_world.reconciler.run_once()
    clock.at = NOON
    board.waiting = [stood(UNKNOWN, since=later)]
    for _ in range(2):
        await reconciler_world.reconciler.run_once()

    assert board.up_to == [later, *[later + timedelta(minutes=15)] * 2, NOON]
    assert [each.next_check_at for each in board.looks] == [NOON + timedelta(minutes=1)]
    assert "payouts_clock_put_back seconds=7200" in caplog.text


async def test_a_process_looks_once_for_what_was_planned_too_far_ahead(
    reconciler_world: ReconcilerWorld, caplog: pytest.LogCaptureFixture
):
    """At its first turn that the store answers."""
    reconciler_world.board.ahead = 3
    reconciler_world.board.fails = True
    with pytest.raises(ExceptionGroup):
        await reconciler_world.reconciler.run_once()
    reconciler_world.board.fails = False

    for _ in range(2):
        await reconciler_world.reconciler.run_once()

    assert reconciler_world.board.recalls == [NOON]
    assert "payouts_planned_too_far_ahead count=3" in caplog.text


async def test_a_clock_that_is_corrected_changes_nothing(reconciler_world: ReconcilerWorld):
    clock = reconciler_world.payout_world.clock
    await reconciler_world.reconciler.run_once()
    clock.at -= timedelta(seconds=2)
    await reconciler_world.reconciler.run_once()

    assert reconciler_world.board.up_to == [NOON, clock.at]


async def test_a_bank_that_cannot_be_found_out_keeps_nobody_from_their_look(
    payout_world: PayoutWorld, caplog: pytest.LogCaptureFixture
):
    payout_world.follow_up = FollowUp(
        payout_world.store,
        Broken(payout_world.bank),
        payout_world.clock.now,
        lambda *_: None,
        payout_world.returns,
    )
    reconciler_world = ReconcilerWorld(payout_world)
    reconciler_world.board.waiting = [
        stood(UNKNOWN, reference=f"o-{number}") for number in range(2)
    ]

    await reconciler_world.reconciler.run_once()

    assert len(reconciler_world.board.looks) == 2
    assert "payout_look_failed" in caplog.text


async def test_an_account_that_cannot_be_read_keeps_nobody_from_their_look(
    reconciler_world: ReconcilerWorld, caplog: pytest.LogCaptureFixture
):
    class Unreadable(People):
        async def find(self, account_id: str) -> Account | None:
            if account_id != ACCOUNT:
                message = "no such word"
                raise ValueError(message)
            return account()

    object.__setattr__(reconciler_world.reconciler._work, "accounts", Unreadable())
    reconciler_world.board.waiting = [
        stood(UNKNOWN, reference="theirs", account_id="other", provider="other"),
        *(stood(UNKNOWN, reference=f"o-{number}") for number in range(3)),
    ]

    await reconciler_world.reconciler.run_once()

    looks = {look.reference for look in reconciler_world.board.looks}
    assert looks == {"theirs", "o-0", "o-1", "o-2"}
    assert "payout_look_failed" in caplog.text


async def test_how_payouts_stand_is_told_whatever_goes_wrong_with_looks(
    reconciler_world: ReconcilerWorld, monkeypatch: pytest.MonkeyPatch
):
    """Else the figures would stand still, and nobody would see that nothing is looked at."""

    async def mistaken(_now: datetime) -> Sequence[DueAccount]:
        message = "ted"
        raise KeyError(message)

    monkeypatch.setattr(reconciler_world.board, "due", mistaken)

    with pytest.raises(ExceptionGroup):
        await reconciler_world.reconciler.run_once()

    assert reconciler_world.told == [await reconciler_world.board.standing()]


@pytest.fixture
async def started(reconciler_world: ReconcilerWorld) -> AsyncIterator[ReconcilerWorld]:
    reconciler_world.reconciler.task.start()
    yield reconciler_world
    await reconciler_world.reconciler.task.stop()


async def test_a_store_that_is_away_is_asked_again(
    started: ReconcilerWorld, caplog: pytest.LogCaptureFixture
):
    """And everybody is told so, in one line a turn."""
    started.board.fails = True
    await until(lambda: "the store does not answer" in caplog.text)

    started.board.fails = False
    started.board.waiting = [stood(PAID)]
    await until(lambda: started.board.looks)

    assert len(started.board.looks) == 1
    assert set(started.slept) == {1.0}
    assert "Traceback" not in caplog.text


async def test_begun_twice_is_begun_once(reconciler_world: ReconcilerWorld):
    reconciler_world.rests = True
    reconciler_world.reconciler.task.start()
    reconciler_world.reconciler.task.start()
    await until(lambda: reconciler_world.slept)
    await settle(50)

    claims = reconciler_world.board.claims
    await reconciler_world.reconciler.task.stop()

    assert claims == 1


async def test_a_mistake_of_ours_does_not_end_the_following_up(
    reconciler_world: ReconcilerWorld, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.ERROR)
    reconciler_world.told = None  # type: ignore[assignment]
    reconciler_world.reconciler.task.start()
    await until(lambda: reconciler_world.board.claims > 1)
    await reconciler_world.reconciler.task.stop()

    assert "failed: unsettled payouts" in caplog.text


async def test_stopping_amid_a_turn_that_fails_stops_all_the_same(
    reconciler_world: ReconcilerWorld,
):
    """A group of tasks that fails swallows the cancellation that comes while it ends."""
    asking = asyncio.Event()

    async def ends_slowly() -> int:
        async with asyncio.TaskGroup() as group:
            group.create_task(slowly(asking))
            group.create_task(failing())
        return 0

    reconciler_world.reconciler.task._run_once = ends_slowly
    reconciler_world.reconciler.task.start()
    await asking.wait()

    await reconciler_world.reconciler.task.stop()


async def slowly(asking: asyncio.Event) -> None:
    try:
        await forever()
    except asyncio.CancelledError:
        asking.set()
        await settle()
        raise


async def failing() -> None:
    message = "away"
    raise StoreUnavailable(message)


async def test_stopping_gives_up_a_look_under_way(reconciler_world: ReconcilerWorld):
    """Its claim ends by itself; nothing is noted that was not seen."""
    reconciler_world.board.waiting = [stood(UNKNOWN)]
    reconciler_world.payout_world.bank.gate.clear()
    reconciler_world.reconciler.task.start()
    await until(lambda: len(reconciler_world.payout_world.bank.lookups) == 1)

    await reconciler_world.reconciler.task.stop()
    await reconciler_world.reconciler.task.stop()

    assert reconciler_world.board.looks == []


async def test_what_the_bank_does_not_find_is_looked_for_in_its_statement(
    reconciler_world: ReconcilerWorld,
):
    await reconciler_world.payout_world.stands(UNKNOWN)
    row = await reconciler_world.payout_world.row()
    reconciler_world.payout_world.bank.reads["statement"] = {
        None: Page(items=[movement(provider_key=row.provider_key)], next_cursor=None)
    }

    seen = await reconciler_world.reconciler.look_at(row)

    assert (seen.state, seen.e2e_id) == (PAID, "E7")
    assert len(reconciler_world.payout_world.bank.lookups) == 1


async def test_a_probe_looks_now_and_plans_the_next_look(reconciler_world: ReconcilerWorld):
    """Somebody else's look, or one just before, leaves nothing to claim."""
    await reconciler_world.payout_world.stands(UNKNOWN)
    row = await reconciler_world.payout_world.row()
    reconciler_world.payout_world.bank.knows = IS_SETTLED
    reconciler_world.board.waiting = [row]

    seen = await reconciler_world.reconciler.probe(row.account_id, row.reference)
    again = await reconciler_world.reconciler.probe(row.account_id, row.reference)

    assert seen is not None
    assert (seen.state, again) == (PAID, None)
    assert [each.state for each in reconciler_world.board.looks] == [PAID]
