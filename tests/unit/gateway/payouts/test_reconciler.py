"""The reconciler: when it looks, how many at once, and what cannot stop it."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from gateway.banks.port.providers import Page, Unavailable
from gateway.core.account import Account
from gateway.core.money import Money
from gateway.payouts.followup import FollowUp
from gateway.payouts.schedule import DueAccount
from tests.unit.gateway.payouts.reconciler import People, ReconcilerWorld, stood
from tests.world.exports import owner_mismatches
from tests.world.movements import movement
from tests.world.payouts import (
    ACCEPTED,
    HELD,
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
from tests.world.waiting import settle, until

HOUR_S = 3600
MISMATCH = replace(IS_SETTLED, value=Money(1049))


@pytest.fixture
def reconciler_world(payout_world: PayoutWorld) -> ReconcilerWorld:
    payout_world.bank.reads["statement"] = {None: Unavailable("down")}
    return ReconcilerWorld(payout_world)


async def test_a_run_records_the_bank_s_hold_without_a_review(
    reconciler_world: ReconcilerWorld, caplog: pytest.LogCaptureFixture
):
    """No alert and no statement read: nothing moves before the bank decides."""
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


async def test_an_ended_hold_is_executed_without_a_query(
    reconciler_world: ReconcilerWorld,
):
    reconciler_world.board.waiting = [stood(HELD, attempt=0, held_until=NOON)]

    await reconciler_world.reconciler.run_once()

    [look] = reconciler_world.board.looks
    assert (look.state, look.attempt) == (ACCEPTED, 1)
    assert len(reconciler_world.ended) == 1
    assert reconciler_world.payout_world.bank.lookups == []


async def test_a_run_clears_a_hold_that_the_bank_no_longer_reports(
    reconciler_world: ReconcilerWorld,
):
    await reconciler_world.payout_world.stands(ACCEPTED, held_until=NOON + timedelta(minutes=30))
    reconciler_world.payout_world.bank.knows = IS_ACCEPTED
    reconciler_world.board.waiting = [await reconciler_world.payout_world.row()]

    await reconciler_world.reconciler.run_once()

    [look] = reconciler_world.board.looks
    assert (look.held_until, look.next_check_at) == (None, NOON + timedelta(seconds=2))


async def test_a_failed_query_keeps_the_deadline_of_a_hold(
    reconciler_world: ReconcilerWorld,
):
    until = NOON + timedelta(minutes=30)
    await reconciler_world.payout_world.stands(ACCEPTED, held_until=until)
    reconciler_world.payout_world.bank.knows = Unavailable("down")
    reconciler_world.board.waiting = [await reconciler_world.payout_world.row()]

    await reconciler_world.reconciler.run_once()

    [look] = reconciler_world.board.looks
    assert (look.held_until, look.review) == (until, False)


async def test_a_run_settles_payouts_that_the_bank_settled(reconciler_world: ReconcilerWorld):
    await reconciler_world.payout_world.stands(UNKNOWN)
    reconciler_world.payout_world.bank.knows = IS_SETTLED
    reconciler_world.board.waiting = [await reconciler_world.payout_world.row()]

    looked_at = await reconciler_world.reconciler.run_once()

    [look] = reconciler_world.board.looks
    assert (looked_at, (await reconciler_world.payout_world.row()).state) == (1, PAID)
    assert (look.state, look.next_check_at, look.review) == (PAID, None, False)
    assert reconciler_world.told == [await reconciler_world.board.standing()]


async def test_the_reconciler_never_sends_a_payout(reconciler_world: ReconcilerWorld):
    """Rule R15."""
    for state in (SENDING, UNKNOWN, NOT_SENT, ACCEPTED):
        reconciler_world.board.waiting.append(stood(state))
    reconciler_world.payout_world.clock.passes(48 * HOUR_S)

    await reconciler_world.reconciler.run_once()

    assert len(reconciler_world.board.looks) == 4
    assert reconciler_world.payout_world.bank.orders == []


@pytest.mark.parametrize(("age_h", "review"), [(25, False), (26, True)])
async def test_a_payout_unknown_after_a_day_and_two_hours_goes_to_review(
    reconciler_world: ReconcilerWorld, age_h: int, review: bool, caplog: pytest.LogCaptureFixture
):
    """With an error in the log and a gauge."""
    await reconciler_world.payout_world.stands(UNKNOWN)
    reconciler_world.payout_world.bank.knows = Unavailable("down")
    reconciler_world.board.waiting = [await reconciler_world.payout_world.row()]
    reconciler_world.payout_world.clock.passes(age_h * HOUR_S)

    await reconciler_world.reconciler.run_once()

    [look] = reconciler_world.board.looks
    assert (look.review, look.next_check_at is None) == (review, review)
    assert ("payout_review" in caplog.text) is review


async def test_another_amount_at_the_bank_goes_to_review_at_once(
    reconciler_world: ReconcilerWorld,
):
    """It is queried further, because the bank may correct itself."""
    await reconciler_world.payout_world.stands(ACCEPTED)
    reconciler_world.payout_world.bank.knows = MISMATCH
    reconciler_world.board.waiting = [await reconciler_world.payout_world.row()]

    await reconciler_world.reconciler.run_once()

    [look] = reconciler_world.board.looks
    assert look.review
    assert look.next_check_at == NOON + timedelta(seconds=2)


async def test_a_payout_in_review_stays_there_until_it_is_final(reconciler_world: ReconcilerWorld):
    reconciler_world.payout_world.bank.knows = Unavailable("down")
    reconciler_world.board.waiting = [stood(UNKNOWN, review=True)]

    await reconciler_world.reconciler.run_once()

    [look] = reconciler_world.board.looks
    assert look.review


async def test_a_payout_of_a_deleted_account_is_planned_again(reconciler_world: ReconcilerWorld):
    reconciler_world.board.waiting = [stood(UNKNOWN, account_id="gone")]

    await reconciler_world.reconciler.run_once()

    assert reconciler_world.payout_world.bank.lookups == []
    assert len(reconciler_world.board.looks) == 1


async def test_a_bank_gets_at_most_two_queries_at_once(reconciler_world: ReconcilerWorld):
    """Payouts 2.7: whatever is due."""
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


async def test_banks_are_queried_independently(reconciler_world: ReconcilerWorld):
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


async def test_an_adapter_that_raises_delays_no_other_query(
    reconciler_world: ReconcilerWorld,
):
    """Whatever it raises, at any call: the schedule continues."""
    raising = Raising(knows=KeyError("situacao"))
    reconciler_world.payout_world.banks.adapter = raising
    reconciler_world.board.waiting = [
        stood(UNKNOWN, reference=f"o-{number}") for number in range(4)
    ]

    await reconciler_world.reconciler.run_once()

    assert {look.reference for look in reconciler_world.board.looks} == {"o-0", "o-1", "o-2", "o-3"}
    assert all(look.next_check_at is not None for look in reconciler_world.board.looks)


async def test_a_query_for_a_user_does_not_raise_an_adapter_s_error(
    reconciler_world: ReconcilerWorld,
):
    """Proven results are kept, and the rest is unchanged."""
    await reconciler_world.payout_world.stands(UNKNOWN)
    reconciler_world.payout_world.banks.adapter = Raising(knows=KeyError("situacao"))
    row = await reconciler_world.payout_world.row()

    assert await reconciler_world.reconciler.look_at(row) == row


async def test_payouts_planned_by_a_clock_put_back_are_queried_at_once(
    reconciler_world: ReconcilerWorld, caplog: pytest.LogCaptureFixture
):
    """Otherwise they would wait until the clock has caught up."""
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


async def test_a_process_searches_once_for_payouts_planned_too_far_ahead(
    reconciler_world: ReconcilerWorld, caplog: pytest.LogCaptureFixture
):
    """At the first run with a store; another task repeats it each minute."""
    reconciler_world.board.ahead = 3
    reconciler_world.board.fails = True
    with pytest.raises(ExceptionGroup):
        await reconciler_world.reconciler.run_once()
    reconciler_world.board.fails = False

    for _ in range(2):
        await reconciler_world.reconciler.run_once()

    assert reconciler_world.board.recalls == [NOON]
    await reconciler_world.reconciler.recall()
    assert reconciler_world.board.recalls == [NOON, NOON]
    assert "payouts_planned_too_far_ahead count=3" in caplog.text


async def test_a_process_that_may_not_claim_claims_nothing(reconciler_world: ReconcilerWorld):
    """Such as one whose clock is wrong; it continues when it may claim again."""
    board = reconciler_world.board
    board.waiting = [stood(UNKNOWN)]
    reconciler_world.may_claim = False

    assert await reconciler_world.reconciler.run_once() == 0
    assert (board.claims, len(board.waiting)) == (0, 1)
    reconciler_world.may_claim = True
    assert await reconciler_world.reconciler.run_once() == 1


async def test_a_small_clock_correction_is_followed(reconciler_world: ReconcilerWorld):
    clock = reconciler_world.payout_world.clock
    await reconciler_world.reconciler.run_once()
    clock.at -= timedelta(seconds=2)
    await reconciler_world.reconciler.run_once()

    assert reconciler_world.board.up_to == [NOON, clock.at]


async def test_a_payout_whose_bank_cannot_be_found_delays_no_other_query(
    payout_world: PayoutWorld, caplog: pytest.LogCaptureFixture
):
    payout_world.follow_up = FollowUp(
        payout_world.store,
        Broken(payout_world.bank),
        payout_world.clock.now,
        lambda *_: None,
        owner_mismatches(),
    )
    reconciler_world = ReconcilerWorld(payout_world)
    reconciler_world.board.waiting = [
        stood(UNKNOWN, reference=f"o-{number}") for number in range(2)
    ]

    await reconciler_world.reconciler.run_once()

    assert len(reconciler_world.board.looks) == 2
    assert "payout_look_failed" in caplog.text


async def test_a_payout_whose_account_cannot_be_read_delays_no_other_query(
    reconciler_world: ReconcilerWorld, caplog: pytest.LogCaptureFixture
):
    class Unreadable(People):
        async def find(self, account_id: str) -> Account | None:
            if account_id != ACCOUNT:
                message = "no such word"
                raise ValueError(message)
            return account()

    object.__setattr__(reconciler_world.reconciler._work, "find_account", Unreadable().find)
    reconciler_world.board.waiting = [
        stood(UNKNOWN, reference="theirs", account_id="other", provider="other"),
        *(stood(UNKNOWN, reference=f"o-{number}") for number in range(3)),
    ]

    await reconciler_world.reconciler.run_once()

    looks = {look.reference for look in reconciler_world.board.looks}
    assert looks == {"theirs", "o-0", "o-1", "o-2"}
    assert "payout_look_failed" in caplog.text


async def test_figures_of_payouts_are_exported_despite_failing_queries(
    reconciler_world: ReconcilerWorld, monkeypatch: pytest.MonkeyPatch
):
    """Otherwise stale figures would hide that nothing is queried."""

    async def mistaken(_now: datetime) -> Sequence[DueAccount]:
        message = "ted"
        raise KeyError(message)

    monkeypatch.setattr(reconciler_world.board, "due", mistaken)

    with pytest.raises(ExceptionGroup):
        await reconciler_world.reconciler.run_once()

    assert reconciler_world.told == [await reconciler_world.board.standing()]


async def test_a_payout_not_found_is_searched_in_the_statement(
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


async def test_a_probe_queries_at_once_and_leaves_nothing_to_claim(
    reconciler_world: ReconcilerWorld,
):
    """A query by another process, or one just before, leaves nothing to claim."""
    await reconciler_world.payout_world.stands(UNKNOWN)
    row = await reconciler_world.payout_world.row()
    reconciler_world.payout_world.bank.knows = IS_SETTLED
    reconciler_world.board.waiting = [row]

    seen = await reconciler_world.reconciler.probe(row.account_id, row.reference)
    again = await reconciler_world.reconciler.probe(row.account_id, row.reference)

    assert seen is not None
    assert (seen.state, again) == (PAID, None)
    assert [each.state for each in reconciler_world.board.looks] == [PAID]
