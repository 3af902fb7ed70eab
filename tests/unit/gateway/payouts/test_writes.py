"""Batches of one and of many: the result of each write, and the values that statements take."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest
from sqlalchemy import literal, select
from sqlalchemy.dialects import postgresql, sqlite

from gateway.app.store import Store
from gateway.banks.port.payout_orders import FailureCode
from gateway.core.money import Money
from gateway.core.permissions import CredentialLimits
from gateway.core.storage import LimitReached, StoreUnavailable
from gateway.payouts import writes
from gateway.payouts.model import SUCCESSORS, Claim, Failure, Intent, PayoutState
from gateway.payouts.rows import check, payout_row
from gateway.payouts.writes import (
    PayoutWriter,
    Write,
    WriteResult,
    _claim_values,
    _ending_values,
    _intent_values,
    _let_go_values,
    _probe_values,
    _settling_values,
    _step_values,
    record_step,
    write_batch,
)
from gateway.store.kernel.database import Limits
from gateway.store.kernel.postgres import UNNEST_ARRAYS
from gateway.store.kernel.sqlite import EXECUTE_MANY
from gateway.store.tables.core import payouts
from tests.unit.gateway.payouts.followups import LOOK
from tests.world.store import open_store
from tests.world.stores.samples import (
    ACCOUNT,
    EVIDENCE,
    NOW,
    attempt,
    change,
    credential,
    event,
    of,
    payout,
)
from tests.world.waiting import forever, settle

SENDING, NOT_SENT = PayoutState.SENDING, PayoutState.NOT_SENT
ACCEPTED, PAID = PayoutState.ACCEPTED, PayoutState.PAID
UNKNOWN = PayoutState.UNKNOWN
BARE = change(SENDING, PAID)
FULL = of(
    BARE,
    evidence=EVIDENCE,
    provider_id="p-1",
    e2e_id="E1",
    settled_at=NOW,
    failure=Failure(FailureCode.REJECTED, forbidden=False),
)


async def written(store: Store, *writes: Write) -> Sequence[WriteResult | None]:
    """Do all in one transaction."""
    async with store.database.writing() as connection:
        return await write_batch(store.database, connection, writes)


def intent(reference: str, centavos: int = 1050) -> Intent:
    """Mean to pay."""
    return Intent(payout(reference, centavos=centavos), attempt())


async def test_answers_come_in_the_order_of_the_writes(store: Store) -> None:
    await written(store, intent("a"))

    told = await written(
        store, change(SENDING, PAID, reference="a", attempt=9), intent("b"), intent("a", 7)
    )

    assert told == [False, True, payout("a")]


async def test_the_first_of_equal_references_is_stored(store: Store) -> None:
    told = await written(store, intent("b", 1), intent("a", 2), intent("b", 3))

    assert told == [True, True, payout("b", centavos=1)]
    assert await store.payouts.find(ACCOUNT, "b") == payout("b", centavos=1)


@pytest.mark.parametrize("size", [1, 2, 40, 57, 64])
async def test_any_number_is_stored(store: Store, size: int) -> None:
    told = await written(store, *(intent(f"{number}") for number in range(size)))

    assert told == [True] * size
    last = str(size - 1)
    assert await store.payouts.find(ACCOUNT, last) == payout(last)


async def test_a_second_step_of_a_payout_goes_alone(store: Store) -> None:
    """It must be compared with what the first one makes of the row."""
    await written(store, intent("a"))

    told = await written(
        store, change(SENDING, ACCEPTED, reference="a"), change(ACCEPTED, PAID, reference="a")
    )

    assert told == [True, None]
    row = await store.payouts.find(ACCOUNT, "a")
    assert row is not None
    assert row.state is ACCEPTED


async def test_a_claim_of_an_attempt_that_was_made_is_lost(store: Store) -> None:
    """Somebody else has claimed, sent, and proven it unsent in between."""
    late = Claim(payout("a"), attempt(2))
    await written(store, intent("a"))
    await written(store, change(SENDING, NOT_SENT, reference="a"))
    await written(store, late)
    await written(store, change(SENDING, NOT_SENT, reference="a", attempt=2))

    told = await written(store, late)
    next_one = await written(store, Claim(payout("a"), attempt(3)))

    assert (told, next_one) == ([False], [True])


async def test_a_row_that_is_not_found_is_undecided_among_many_and_lost_alone(store: Store) -> None:
    """Another transaction may hold it: a batch of many does not wait to see."""
    lost = [change(SENDING, PAID, reference="none"), Claim(payout("nor this"), attempt(2))]

    assert await written(store, *lost) == [None, None]
    assert [await written(store, each) for each in lost] == [[False], [False]]


async def test_nothing_is_nothing(store: Store) -> None:
    assert await written(store) == []


async def test_each_kind_has_its_result_in_a_batch_of_one(store: Store) -> None:
    claim = Claim(replace(payout(), state=NOT_SENT), attempt(2))
    asked = [
        Intent(payout(), attempt()),
        Intent(payout(centavos=7), attempt()),
        claim,
        change(SENDING, NOT_SENT),
        change(SENDING, NOT_SENT),
        claim,
    ]

    results = [await written(store, each) for each in asked]

    assert results == [[True], [payout()], [False], [True], [False], [True]]


async def test_a_provider_key_of_another_payout_is_a_failure(store: Store) -> None:
    """Two payouts with one key would be one payout for the bank."""
    await written(store, intent("a"))
    wrong = Intent(replace(payout("b"), provider_key=payout("a").provider_key), attempt())

    assert await written(store, wrong, intent("c")) == [None, True]
    with pytest.raises(StoreUnavailable, match="provider key"):
        await written(store, wrong)


async def test_a_limit_is_exact_for_one_and_undecided_among_many(store: Store) -> None:
    at_limit = CredentialLimits(per_payout=Money(1000))
    await store.credentials.add(replace(credential(), limits=at_limit), event())
    above = Intent(payout("above", centavos=1001), attempt(), limited=True)

    many = await written(store, above, intent("b"))
    with pytest.raises(LimitReached, match="per_payout"):
        await written(store, above)

    assert many == [None, True]
    assert await store.payouts.find(ACCOUNT, "above") is None


async def test_a_claim_that_lost_is_told_so_whatever_its_limits(store: Store) -> None:
    at_limit = CredentialLimits(per_payout=Money(1000))
    await store.credentials.add(replace(credential(), limits=at_limit), event())
    await written(store, intent("a"))
    claim = Claim(payout("a"), attempt(2), limited=True)

    lost = await written(store, claim)
    await written(store, change(SENDING, NOT_SENT, reference="a"))
    with pytest.raises(LimitReached, match="per_payout"):
        await written(store, claim)

    assert lost == [False]
    assert len(await store.payouts.attempts(ACCOUNT, "a")) == 1


async def test_a_step_may_share_a_transaction_of_its_caller(store: Store) -> None:
    await written(store, Intent(payout(), attempt()))

    async with store.database.writing() as connection:
        done = await record_step(store.database, connection, change(SENDING, PAID))
        await connection.rollback()

    assert done
    assert await store.payouts.find(payout().account_id, "order-1") == payout()


def test_only_a_claim_leads_to_sending() -> None:
    with pytest.raises(ValueError, match="claim"):
        check(change(NOT_SENT, SENDING))


async def test_a_write_alone_has_its_result_after_its_commit(store: Store) -> None:
    writer = PayoutWriter(store.database)

    result = await writer.write(Intent(payout(), attempt()))

    assert result is True
    assert await store.payouts.find(ACCOUNT, "order-1") == payout()


async def test_each_caller_of_a_batch_has_its_own_result(store: Store) -> None:
    writer = PayoutWriter(store.database)
    await writer.write(Intent(payout(), attempt()))

    results = await asyncio.gather(
        writer.write(Intent(payout(centavos=7), attempt())),
        writer.write(change(SENDING, ACCEPTED)),
        writer.write(Intent(payout("order-2"), attempt())),
        writer.write(change(SENDING, PAID, attempt=2)),
    )

    assert results == [payout(), True, True, False]


async def test_a_commit_that_does_not_end_is_given_up(store: Store) -> None:
    """Whether it is done later is not known; the wait in the queue counts too."""

    async def never(_writes: Sequence[Write]) -> Sequence[WriteResult | None]:
        await forever()
        return []

    writer = PayoutWriter(replace(store.database, whole_s=0.05))
    writer._moves._work = never

    with pytest.raises(StoreUnavailable, match="TimeoutError"):
        await writer.write(change(SENDING, PAID))


async def test_a_queue_that_does_not_move_is_given_up(url: str, store: Store) -> None:
    """Behind a commit that takes seconds no write waits longer than for a connection."""
    hasty = open_store(url, Limits(checkout_s=0.1, busy_s=60.0))

    async with store.database.writing() as connection:
        await connection.execute(select(literal(1)))
        first = asyncio.create_task(hasty.payouts.add(payout(), attempt()))
        await settle()
        with pytest.raises(StoreUnavailable, match="TimeoutError"):
            await hasty.payouts.add(payout("order-2"), attempt())

    assert await first is None
    assert await store.payouts.find(ACCOUNT, "order-2") is None
    await hasty.close()


def test_values_fill_every_place_and_no_other() -> None:
    """A value too many would be dropped in silence."""
    dialect_cases = [
        (postgresql.dialect(), postgresql.insert, UNNEST_ARRAYS),
        (postgresql.dialect(), postgresql.insert, EXECUTE_MANY),
        (sqlite.dialect(), sqlite.insert, EXECUTE_MANY),
    ]
    statement_cases = [
        ("_add_payouts", payout_row(payout())),
        ("_step_payouts", _step_values(BARE)),
        ("_step_payouts", _step_values(FULL)),
        ("_claim_payouts", _claim_values(payout(), attempt(2))),
        ("_end_attempts", _ending_values(BARE)),
        ("_end_attempts", _ending_values(FULL)),
        ("_let_go", _let_go_values(LOOK)),
        ("_note_probes", _probe_values(LOOK)),
    ]

    for dialect, insert_new, bulk in dialect_cases:
        for statement, values in statement_cases:
            given = (bulk, insert_new) if statement == "_add_payouts" else (bulk,)
            said = getattr(writes, statement)(*given)
            names = list(values) if said.is_insert else None
            places = said.compile(dialect=dialect, column_keys=names).params

            own = places.keys() & (payouts.c.keys() if said.is_insert else _new_and_was(places))

            assert values.keys() == own


def test_values_of_a_whole_write_fill_every_place_too() -> None:
    statement_cases = [
        ("_add_whole", _intent_values(Intent(payout(), attempt()), None)),
        ("_step_whole", _settling_values(FULL, None)),
        ("_step_free", _settling_values(BARE, None)),
    ]

    for bulk in [UNNEST_ARRAYS, EXECUTE_MANY]:
        for statement, values in statement_cases:
            given = (bulk, postgresql.insert) if statement == "_add_whole" else (bulk,)
            said = getattr(writes, statement)(*given)
            own = {"outcome_1"}  # what the statement has in itself

            places = said.compile(dialect=postgresql.dialect(), column_keys=list(values)).params

            assert values.keys() == places.keys() - own


def _new_and_was(places: Iterable[str]) -> set[str]:
    return {name for name in places if name.startswith(("new_", "was_"))}


@pytest.mark.parametrize(
    ("before", "states"),
    [
        ([SENDING], ["sending"] * 4),
        ([SENDING, UNKNOWN], ["sending", "unknown", "unknown", "unknown"]),
        ([SENDING, UNKNOWN, ACCEPTED], ["accepted", "sending", "unknown", "unknown"]),
    ],
    ids=["one", "two", "three"],
)
def test_a_step_is_from_every_state_it_names_and_no_other(
    before: list[PayoutState], states: list[str]
) -> None:
    values = _step_values(of(BARE, before=frozenset(before)))

    assert [values[f"was_state_{number}"] for number in range(4)] == states


def test_a_step_has_a_place_for_every_state_it_may_come_from() -> None:
    for after in PayoutState:
        before = {state.value for state, following in SUCCESSORS.items() if after in following}
        if not before:
            pytest.skip("nothing leads to it")

        values = _step_values(of(BARE, after=after, before=frozenset(map(PayoutState, before))))

        assert {values[name] for name in values if name.startswith("was_state_")} == before


def test_a_claim_is_from_unsent_and_the_attempt_before() -> None:
    values = _claim_values(payout(), attempt(3))

    assert (values["was_state"], values["was_attempt"], values["new_attempt"]) == ("not_sent", 2, 3)
