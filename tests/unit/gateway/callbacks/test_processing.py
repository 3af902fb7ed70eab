"""Callbacks looked into: they are never believed, and no bank waits for another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.banks.port.provider_callbacks import CallbackKind, NamedBy, Notice
from gateway.banks.port.providers import NotFound, Unavailable
from gateway.callbacks.model import Callback, CallbackState
from gateway.callbacks.store import CallbackRecords
from gateway.core.storage import StoreUnavailable
from gateway.payouts.events import PayoutEvent
from gateway.payouts.model import PayoutState
from tests.unit.gateway.callbacks.hall import (
    PAYOUT,
    Accounts,
    Bank,
    Hall,
    Listed,
    People,
    Silent,
    Standing,
)
from tests.world import registers
from tests.world.standing import NOON, Clock


@pytest.fixture
async def hall(tmp_path: Path) -> AsyncIterator[Hall]:
    async with registers.opened(tmp_path) as office:
        yield Hall(office, Clock())


async def test_a_payout_is_read_at_its_bank(hall: Hall):
    hall.known = Standing()
    await hall.take()

    one = await hall.turn()

    assert (one.state, hall.looked) == (CallbackState.DONE, 1)


async def test_a_process_that_may_not_claim_leaves_callbacks_to_others(hall: Hall):
    """Such as one whose clock is wrong."""
    hall.known, hall.may_claim = Standing(), False
    await hall.take()

    waiting = await hall.turn()
    hall.may_claim = True
    one = await hall.turn()

    assert (waiting.state, waiting.tries) == (CallbackState.RECEIVED, 0)
    assert (one.state, hall.looked) == (CallbackState.DONE, 1)


async def events(hall: Hall) -> Sequence[PayoutEvent]:
    return await hall.office.store.payouts.events("acc", "order-1")


async def test_a_callback_and_its_queries_without_effect_are_events_of_the_payout(hall: Hall):
    """Recorded once its payout is known; a step of the payout is recorded by its own event."""
    hall.known = Standing()
    hall.becomes, hall.says = PayoutState.ACCEPTED, ["accepted"]
    await hall.take()

    await hall.turn(Accounts())
    hall.clock.passes(2)
    hall.becomes, hall.says = PayoutState.PAID, []
    await hall.turn(Accounts())

    assert [each.kind.value for each in await events(hall)] == ["noticed", "probed"]


@pytest.mark.parametrize(("told", "named"), [("tra_1", "tra_1"), ("", ""), ("x" * 129, "")])
async def test_a_status_query_uses_the_bank_id_of_the_callback(hall: Hall, told: str, named: str):
    """Some banks find a payout only by it, and the answer with it may be lost."""
    hall.known = Standing()
    hall.proof.notice = replace(PAYOUT, provider_id=told)
    await hall.take()

    await hall.turn()

    assert hall.named == [named]


@pytest.mark.parametrize(("provider", "company"), [("p", "company-1"), ("another", "")])
async def test_a_callback_belongs_to_the_company_of_its_payout(
    hall: Hall, provider: str, company: str
):
    """A bank that names another bank's payout makes nothing visible."""
    hall.known = Standing(provider=provider)
    await hall.take()

    await hall.turn(Accounts())

    assert (await hall.all())[0].company_id == company


async def test_a_callback_for_a_final_payout_makes_no_status_query(hall: Hall):
    hall.known = Standing(state=PayoutState.PAID)
    await hall.take()

    one = await hall.turn()

    assert (one.state, hall.looked) == (CallbackState.DONE, 0)


async def test_a_callback_about_another_bank_s_payout_makes_no_status_query(hall: Hall):
    hall.known = Standing(provider="another")
    await hall.take()

    one = await hall.turn()

    assert (one.state, hall.looked) == (CallbackState.RECEIVED, 0)


async def test_an_unknown_subject_is_waited_for_and_then_ignored(hall: Hall):
    """With growing delays; the callback may be faster than the bank's answer."""
    await hall.take()

    tries = 0
    while (one := await hall.turn()).state is CallbackState.RECEIVED:
        assert one.due_at is not None
        waits_s = (one.due_at - hall.clock.now()).total_seconds()
        assert waits_s == 2 * 2**tries
        hall.clock.passes(waits_s)
        tries += 1

    assert (one.state, one.tries, one.due_at) == (CallbackState.IGNORED, 6, None)


async def test_an_unsettled_payout_is_queried_again(hall: Hall):
    hall.known, hall.becomes = Standing(), PayoutState.ACCEPTED
    await hall.take()
    await hall.turn()
    hall.becomes = PayoutState.PAID
    hall.clock.passes(2)

    one = await hall.turn()

    assert (one.state, hall.looked) == (CallbackState.DONE, 2)


async def test_a_payout_held_by_the_bank_is_left_to_its_schedule(hall: Hall):
    hall.known, hall.becomes, hall.becomes_held = Standing(), PayoutState.ACCEPTED, True
    await hall.take()

    one = await hall.turn()

    assert (one.state, hall.looked) == (CallbackState.DONE, 1)


RETURN = replace(PAYOUT, kind=CallbackKind.RETURN)


@pytest.mark.parametrize(("before", "looked"), [(PayoutState.PAID, 0), (PayoutState.ACCEPTED, 1)])
async def test_a_return_is_searched_once_the_payout_is_paid(
    hall: Hall, before: PayoutState, looked: int
):
    """The only query for a payout that has settled."""
    hall.proof.notice, hall.known, hall.shows = RETURN, Standing(state=before), [True]
    await hall.take()

    one = await hall.turn(accounts=People())

    assert (one.state, one.kind) == (CallbackState.DONE, CallbackKind.RETURN)
    assert (hall.looked, hall.looked_back) == (looked, 1)


async def test_a_return_not_yet_shown_is_searched_again_a_few_times(
    hall: Hall,
):
    hall.proof.notice, hall.known = RETURN, Standing(state=PayoutState.PAID)
    hall.shows = [False] * 6
    await hall.take()

    states = []
    for _ in range(7):
        states.append((await hall.turn(accounts=People())).state)
        hall.clock.passes(3600)

    assert states == [CallbackState.RECEIVED] * 5 + [CallbackState.DONE] * 2
    assert hall.looked_back == 6


async def test_a_settled_payout_is_not_queried_for_other_callbacks(hall: Hall):
    """The settlement is announced too, and must not cost a query at the bank."""
    hall.known = Standing(state=PayoutState.PAID)
    await hall.take()

    one = await hall.turn(accounts=People())

    assert (one.state, hall.looked, hall.looked_back) == (CallbackState.DONE, 0, 0)


@pytest.mark.parametrize(
    ("problem", "state"),
    [
        (None, CallbackState.DONE),
        (NotFound("x"), CallbackState.RECEIVED),
        (Unavailable("x"), CallbackState.RECEIVED),
    ],
)
async def test_a_charge_is_read_at_its_bank(
    hall: Hall, problem: Exception | None, state: CallbackState
):
    hall.proof.notice = Notice(event="e", kind=CallbackKind.CHARGE, subject="r", account="acc")
    bank = Bank(problem)
    await hall.take()

    one = await hall.turn(Accounts(), bank)

    assert (one.state, bank.asked) == (state, ["r"])
    assert (await hall.all())[0].company_id == "company-1"


async def test_a_callback_ends_once_the_answer_about_its_charge_is_stored(hall: Hall):
    """Killed in between, the process would leave a payment that nobody tells."""
    hall.proof.notice = Notice(event="e", kind=CallbackKind.CHARGE, subject="r", account="acc")
    hall.store_fails = True
    await hall.take()

    with pytest.raises(ExceptionGroup) as raised:
        await hall.turn(Accounts(), Bank(None))
    assert raised.group_contains(StoreUnavailable)
    (waiting,) = await hall.all()
    hall.store_fails = False
    hall.clock.passes(60)
    one = await hall.turn(Accounts(), Bank(None))

    assert (waiting.state, waiting.tries) == (CallbackState.RECEIVED, 0)
    assert (one.state, len(hall.paid), hall.processed) == (CallbackState.DONE, 1, 1)


async def test_a_refund_that_a_bank_tells_of_is_read_and_handed_on(hall: Hall):
    hall.proof.notice = Notice(event="e", kind=CallbackKind.REFUND, subject="k", account="acc")
    await hall.take()

    one = await hall.turn(Accounts(), Bank(None))

    assert one.state is CallbackState.DONE
    assert [refund for _, refund in hall.refunded] == ["refund k"]


async def test_a_callback_that_raises_fails_after_several_tries(
    hall: Hall, caplog: pytest.LogCaptureFixture
):
    """Callbacks are claimed together: otherwise it would come first each time."""
    hall.proof.notice = Notice(event="e", kind=CallbackKind.CHARGE, subject="r", account="acc")
    bank = Bank(RuntimeError("ours"))
    await hall.take()
    states = []

    for tries in range(6):
        states.append((await hall.turn(Accounts(), bank)).state)
        hall.clock.passes(2 * 2**tries)

    assert states == [CallbackState.RECEIVED] * 5 + [CallbackState.FAILED]
    assert "callback_look_failed id=" in caplog.text


async def test_an_unavailable_store_leaves_a_callback_unchanged(hall: Hall):
    hall.proof.notice = Notice(event="e", kind=CallbackKind.CHARGE, subject="r", account="acc")
    await hall.take()

    with pytest.raises(ExceptionGroup) as raised:
        await hall.turn(Accounts(), Bank(StoreUnavailable("away")))
    assert raised.group_contains(StoreUnavailable)

    (one,) = await hall.all()
    assert (one.state, one.tries) == (CallbackState.RECEIVED, 0)


async def test_a_charge_of_an_unknown_account_is_ignored_after_several_tries(hall: Hall):
    """The account may be created a moment later."""
    hall.proof.notice = Notice(event="e", kind=CallbackKind.CHARGE, subject="r", account="other")
    await hall.take()
    states = []

    for tries in range(6):
        states.append((await hall.turn(Accounts(), Bank(None))).state)
        hall.clock.passes(2 * 2**tries)

    assert states == [CallbackState.RECEIVED] * 5 + [CallbackState.IGNORED]


async def test_a_callback_of_an_unknown_kind_is_stored_and_ignored(hall: Hall):
    hall.proof.notice = replace(PAYOUT, kind=CallbackKind.OTHER, account="acc")
    await hall.take()

    assert (await hall.turn(Accounts())).state is CallbackState.IGNORED
    assert (await hall.all())[0].company_id == "company-1"


async def test_a_callback_whose_account_cannot_be_found_is_tried_again(hall: Hall):
    """Its bank does not answer; the callback is processed again later."""
    notice = Notice(
        event="e", kind=CallbackKind.OTHER, subject="", account="k", named_by=NamedBy.KEY
    )
    hall.proof.notice = notice
    await hall.take()

    one = await hall.turn(Listed(), Silent())

    assert (one.state, one.tries) == (CallbackState.RECEIVED, 1)


class Hanging(Bank):
    """Does not answer about the charge ``hangs`` until it is let go."""

    def __init__(self) -> None:
        super().__init__(None)
        self.heard = asyncio.Queue[str]()
        self.is_let_go = asyncio.Event()

    async def get_charge_payment(self, account: object, reference: str) -> None:
        await super().get_charge_payment(account, reference)
        self.heard.put_nowait(reference)
        if reference == "hangs":
            await self.is_let_go.wait()


class Anywhere(Accounts):
    """One account at every bank."""

    async def find_at(self, _provider: str, _named: str) -> Accounts:
        return self


async def add(hall: Hall, provider: str, subject: str) -> None:
    told = Callback(
        id=subject,
        provider=provider,
        event=subject,
        kind=CallbackKind.CHARGE,
        subject=subject,
        account="acc",
        received_at=NOON,
        body=b"",
        due_at=NOON,
    )
    await CallbackRecords(hall.office.store.database).add(told)


async def test_a_hanging_bank_delays_its_own_callbacks_alone(hall: Hall):
    """Callbacks of another bank are processed meanwhile."""
    bank = Hanging()
    for provider, subject in (("p", "hangs"), ("p", "waits"), ("q", "other")):
        await add(hall, provider, subject)

    async with asyncio.TaskGroup() as turning:
        turn = turning.create_task(hall.looks(Anywhere(), bank).turn())
        first = {await bank.heard.get(), await bank.heard.get()}
        await add(hall, "q", "later")
        second = await bank.heard.get()
        bank.is_let_go.set()

    assert (first, second) == ({"hangs", "other"}, "later")
    assert (turn.result(), bank.asked[-1]) == (4, "waits")


async def test_a_callback_whose_claim_has_expired_is_not_processed(hall: Hall):
    """Another process may have processed it meanwhile."""
    bank = Hanging()
    for subject in ("hangs", "waits"):
        await add(hall, "p", subject)

    async with asyncio.TaskGroup() as turning:
        turn = turning.create_task(hall.looks(Anywhere(), bank).turn())
        await bank.heard.get()
        hall.clock.passes(60)
        bank.is_let_go.set()

    assert (turn.result(), bank.asked) == (3, ["hangs", "waits"])
    assert {each.tries for each in await hall.all()} == {1}
