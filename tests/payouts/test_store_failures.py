"""A store that fails before or after it did what was asked, so that the outcome is unknown."""

from datetime import timedelta

import pytest

from gateway.banks.port.providers import Outcome
from gateway.core.storage import StoreUnavailable
from gateway.core.windows import Paging, Search, Window
from gateway.payouts.model import PayoutState
from gateway.telemetry.records import AccessRecord, begin_record
from tests.world.payouts import (
    ACCEPTED,
    DOUBT,
    IS_ACCEPTED,
    IS_NOT_SENT,
    IS_SETTLED,
    IS_UNKNOWN,
    NO_STORE,
    NOT_SENT,
    OK,
    PAID,
    SENDING,
    UNKNOWN,
    UNSENT,
    PayoutWorld,
    asking,
)
from tests.world.people import caller
from tests.world.standing import TODAY, Clock


async def test_a_store_that_cannot_be_read_ends_the_request(payout_world: PayoutWorld):
    payout_world.store.fails_before = {"find"}

    assert await payout_world.post() == NO_STORE
    assert payout_world.bank.orders == []
    assert not await payout_world.has_row()


async def test_an_intent_that_was_not_stored_is_not_sent(payout_world: PayoutWorld):
    record = AccessRecord(trace_id="")
    begin_record(record)
    payout_world.store.fails_before = {"add"}

    assert await payout_world.post() == NO_STORE
    assert (payout_world.bank.orders, record.payout) == ([], "intent_failed")
    payout_world.store.fails_before = set()
    assert await payout_world.post() == OK


async def test_an_intent_of_unknown_storage_is_not_sent(payout_world: PayoutWorld, clock: Clock):
    """
    The connection broke during the commit: the row exists, without an owner.

    The end of the lease makes it unknown and the look-up unsent; "look the reference up first" then
    works.
    """
    payout_world.store.fails_after = {"add"}
    assert await payout_world.post() == NO_STORE
    assert payout_world.bank.orders == []
    assert (await payout_world.row()).state is SENDING
    payout_world.store.fails_after = set()

    clock.passes(60)
    assert await payout_world.post() == OK
    assert (await payout_world.row()).state is UNKNOWN
    clock.passes(600)
    assert (await payout_world.look()).state is NOT_SENT
    assert payout_world.bank.orders == []
    assert await payout_world.post() == OK
    assert len(payout_world.bank.orders) == 1


@pytest.mark.parametrize("when", ["fails_before", "fails_after"])
async def test_a_payout_whose_claim_failed_is_not_sent(
    payout_world: PayoutWorld, clock: Clock, when: str
):
    await payout_world.stands(NOT_SENT)
    setattr(payout_world.store, when, {"claim"})

    assert await payout_world.post() == NO_STORE
    assert payout_world.bank.orders == []
    assert (await payout_world.row()).state is (NOT_SENT if when == "fails_before" else SENDING)
    clock.passes(60)
    setattr(payout_world.store, when, set())
    assert await payout_world.post() == OK
    assert len(payout_world.bank.orders) == (1 if when == "fails_before" else 0)


async def test_a_payout_that_cannot_be_closed_at_its_day_s_end_is_not_sent(
    payout_world: PayoutWorld, clock: Clock
):
    await payout_world.stands(NOT_SENT)
    clock.passes(24 * 3600)
    payout_world.store.fails_before = {"record"}

    assert await payout_world.post(asking(day=TODAY + timedelta(days=1))) == NO_STORE
    assert payout_world.bank.orders == []
    assert (await payout_world.row()).state is NOT_SENT


@pytest.mark.parametrize(
    ("said", "answer", "after"),
    [
        (IS_ACCEPTED, OK, ACCEPTED),
        (IS_SETTLED, OK, PAID),
        (IS_NOT_SENT, UNSENT, NOT_SENT),
        (IS_UNKNOWN, DOUBT, UNKNOWN),
    ],
    ids=["accepted", "settled", "not sent", "unknown"],
)
@pytest.mark.parametrize("when", ["fails_before", "fails_after"])
async def test_an_outcome_that_was_not_recorded_is_still_answered(
    payout_world: PayoutWorld, said: Outcome, answer: str, after: PayoutState, when: str
):
    """Rejections are the exception; see the rules."""
    payout_world.bank.says = [said]
    setattr(payout_world.store, when, {"record"})

    assert await payout_world.post() == answer
    assert (await payout_world.row()).state is (SENDING if when == "fails_before" else after)


@pytest.mark.parametrize("said", [IS_ACCEPTED, IS_NOT_SENT, IS_UNKNOWN], ids=str)
async def test_after_an_unrecorded_outcome_a_repeat_sends_nothing(
    payout_world: PayoutWorld, clock: Clock, said: Outcome
):
    payout_world.bank.says = [said]
    payout_world.store.fails_before = {"record"}
    await payout_world.post()
    payout_world.store.fails_before = set()

    clock.passes(61)

    assert await payout_world.post() == OK
    assert (await payout_world.row()).state is UNKNOWN
    assert len(payout_world.bank.orders) == 1


async def test_an_unrecorded_acceptance_is_found_again_by_a_look(
    payout_world: PayoutWorld, clock: Clock
):
    payout_world.store.fails_before = {"record"}
    await payout_world.post()
    payout_world.store.fails_before = set()
    payout_world.bank.knows = IS_SETTLED

    clock.passes(61)

    assert (await payout_world.look()).state is PAID


async def test_a_store_failure_during_the_wait_for_the_winner_ends_the_wait(
    payout_world: PayoutWorld,
):
    await payout_world.stands(SENDING)
    seen: list[str] = []

    def later(name: str) -> None:
        seen.append(name)
        if seen == ["find"]:
            return
        payout_world.store.fails_before = {"find"}

    payout_world.store.on_call = later

    assert await payout_world.post() == NO_STORE
    assert payout_world.bank.orders == []


async def test_an_unreadable_list_is_not_reported_as_empty(payout_world: PayoutWorld):
    payout_world.store.fails_before = {"search"}

    with pytest.raises(StoreUnavailable):
        await payout_world.payouts.search(caller(), Search(Window(TODAY, TODAY), Paging(1, 25)))


@pytest.mark.parametrize("state", [UNKNOWN, PAID])
async def test_an_unreadable_payout_is_not_reported_as_unknown(
    payout_world: PayoutWorld, state: PayoutState
):
    """A 404 would make the caller pay again."""
    await payout_world.stands(state)
    payout_world.store.fails_before = {"find"}

    with pytest.raises(StoreUnavailable):
        await payout_world.payouts.read(caller(), "order-1")
