"""Steps, reads, returns and opinions in one database; the contract suite asks both."""

import asyncio
from datetime import timedelta
from itertools import product

import pytest
from sqlalchemy import event as listening

from gateway.app.store import Store
from gateway.banks.port.providers import PixReturn
from gateway.core.money import Money
from gateway.core.storage import StoreUnavailable
from gateway.payouts.matching import MOST
from gateway.payouts.model import SUCCESSORS, Opinion, PayoutState, Verdict
from gateway.payouts.store import EventSealing
from gateway.security.keys import Derivation
from tests.world.statements import Statement
from tests.world.stores.samples import ACCOUNT, NOW, attempt, change, event, of, payout

UNKNOWN, PAID = PayoutState.UNKNOWN, PayoutState.PAID
FORBIDDEN = [
    (before, after)
    for before, after in product(PayoutState, PayoutState)
    if after not in SUCCESSORS[before] or after is PayoutState.SENDING
]
OPINION = Opinion(
    account_id=ACCOUNT,
    reference="order-1",
    verdict=Verdict.PAID,
    reason="r",
    by="maria",
    at=NOW,
    attempt=1,
    state=UNKNOWN,
)
OLD = {"k1": b"1" * 32}
BOTH = {"k1": b"1" * 32, "k2": b"2" * 32}


async def test_a_forbidden_state_change_is_an_error(store: Store) -> None:
    await store.payouts.add(payout(), attempt())

    for before, after in FORBIDDEN:
        with pytest.raises(ValueError, match=r"follow|claim"):
            await store.payouts.record(change(before, after))

        assert await store.payouts.find(payout().account_id, "order-1") == payout()


@pytest.mark.parametrize(
    "before",
    [frozenset(), frozenset({PayoutState.SENDING, PayoutState.REJECTED})],
    ids=["none", "one too many"],
)
async def test_every_state_before_a_change_must_allow_it(
    store: Store, before: frozenset[PayoutState]
) -> None:
    step = of(change(PayoutState.SENDING, PayoutState.PAID), before=before)

    with pytest.raises(ValueError, match="follow"):
        await store.payouts.record(step)


async def test_concurrent_reads_by_reference_return_their_own_payouts(
    store: Store, asked: list[Statement]
) -> None:
    for name in ("a", "b"):
        await store.payouts.add(payout(name), attempt())
    asked.clear()

    found = await asyncio.gather(
        *(store.payouts.find(ACCOUNT, name) for name in ("b", "none", "a", "b")),
        store.payouts.find("other", "a"),
    )

    assert found == [payout("b"), None, payout("a"), payout("b"), None]
    assert len(asked) == 1


async def test_a_read_sees_a_payout_stored_before_it(store: Store) -> None:
    for number in range(20):
        name = f"o-{number}"
        others = [asyncio.ensure_future(store.payouts.find(ACCOUNT, name)) for _ in range(3)]
        await store.payouts.add(payout(name), attempt())

        assert await store.payouts.find(ACCOUNT, name) == payout(name)
        await asyncio.gather(*others)


async def test_an_invalid_search_does_not_affect_others_in_the_batch(store: Store) -> None:
    await store.payouts.add(payout(), attempt())

    told = await asyncio.gather(
        store.payouts.find(ACCOUNT, "order-1"),
        store.payouts.find("\ud800", "order-1"),
        store.payouts.find(ACCOUNT, "\ud800"),
        store.payouts.find(ACCOUNT, "order-2"),
        return_exceptions=True,
    )

    assert [told[0], told[3]] == [payout(), None]
    assert isinstance(told[1], StoreUnavailable)
    assert isinstance(told[2], StoreUnavailable)


async def test_a_failed_read_raises_and_does_not_return_none(store: Store) -> None:
    """A 404 would make the partner pay again."""

    def fail(*_any: object) -> None:
        raise ConnectionResetError

    listening.listen(store.database.reader.sync_engine, "before_cursor_execute", fail)
    told = await asyncio.gather(
        store.payouts.find(ACCOUNT, "a"), store.payouts.find(ACCOUNT, "b"), return_exceptions=True
    )

    assert [type(each) for each in told] == [StoreUnavailable] * 2


def back(number: int = 0) -> PixReturn:
    return PixReturn(id=f"D{number:031}", value=Money(1), at=NOW + timedelta(seconds=number))


async def test_stored_returns_of_a_payout_are_bounded(store: Store) -> None:
    await store.payouts.add(payout(), attempt())

    noted = await store.payouts.note_returns(payout(), [back(number) for number in range(MOST + 1)])

    assert noted == MOST
    assert len(await store.payouts.returns(ACCOUNT, "order-1")) == MOST
    assert await store.payouts.note_returns(payout(), [back(MOST)]) == 0


@pytest.fixture
async def unrecorded(store: Store) -> Store:
    """A store that cannot append to the record of acts."""
    await store.payouts.add(payout(), attempt())
    await store.payouts.record(change(PayoutState.SENDING, UNKNOWN))
    async with store.database.writing() as connection:
        await connection.exec_driver_sql("DELETE FROM audit_head")
    return store


async def test_an_opinion_is_rolled_back_with_its_audit_event(unrecorded: Store) -> None:
    with pytest.raises(StoreUnavailable):
        await unrecorded.payouts.add_opinion(OPINION, event())

    assert await unrecorded.payouts.opinions(ACCOUNT, "order-1") == []


async def test_a_decision_is_rolled_back_with_its_audit_event(unrecorded: Store) -> None:
    with pytest.raises(StoreUnavailable):
        await unrecorded.payouts.decide(change(UNKNOWN, PAID), [], event())

    found = await unrecorded.payouts.find(ACCOUNT, "order-1")
    assert found is not None
    assert found.state is UNKNOWN


async def test_a_forbidden_decision_is_an_error(unrecorded: Store) -> None:
    with pytest.raises(ValueError, match="follow"):
        await unrecorded.payouts.decide(change(PAID, UNKNOWN), [], event())


def test_recorded_words_are_sealed_for_their_row():
    sealing = EventSealing(Derivation(OLD, "k1"))
    sealed = sealing.seal(b"CANARY", "row")

    assert sealed is not None
    assert b"CANARY" not in sealed
    assert sealing.open(sealed, "row") == b"CANARY"
    assert sealing.open(sealed, "another") is None


def test_a_retired_key_still_opens_its_sealed_words():
    sealed = EventSealing(Derivation(OLD, "k1")).seal(b"x", "row")
    assert sealed is not None

    assert EventSealing(Derivation(BOTH, "k2")).open(sealed, "row") == b"x"
    assert EventSealing(Derivation({"k2": b"2" * 32}, "k2")).open(sealed, "row") is None
