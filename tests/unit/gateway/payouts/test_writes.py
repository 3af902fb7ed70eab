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
from gateway.payouts.rows import payout_row
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


async def test_a_lost_claim_is_reported_before_its_limits(store: Store) -> None:
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


async def test_a_commit_that_does_not_end_times_out(store: Store) -> None:
    """Whether it is committed later is unknown; waiting in the queue counts too."""

    async def never(_writes: Sequence[Write]) -> Sequence[WriteResult | None]:
        await forever()
        return []

    writer = PayoutWriter(replace(store.database, whole_s=0.05))
    writer._moves._work = never

    with pytest.raises(StoreUnavailable, match="TimeoutError"):
        await writer.write(change(SENDING, PAID))


async def test_a_write_behind_a_slow_commit_times_out(url: str, store: Store) -> None:
    """A write waits no longer than for a connection."""
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


def test_statement_values_match_the_statement_s_parameters() -> None:
    """A surplus value would be dropped silently."""
    dialect_cases = [
        (postgresql.dialect(), postgresql.insert, UNNEST_ARRAYS),
        (postgresql.dialect(), postgresql.insert, EXECUTE_MANY),
        (sqlite.dialect(), sqlite.insert, EXECUTE_MANY),
    ]
    statement_cases = [
        ("_add_payouts", payout_row(payout())),
        ("_step_payouts", _step_values(BARE)),
        ("_step_payouts", _step_values(FULL)),
        ("_claim_payouts", _claim_values(Claim(payout(), attempt(2)))),
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


def test_values_of_combined_statements_match_their_parameters() -> None:
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
def test_a_state_change_lists_each_state_it_may_start_from(
    before: list[PayoutState], states: list[str]
) -> None:
    values = _step_values(of(BARE, before=frozenset(before)))

    assert [values[f"was_state_{number}"] for number in range(4)] == states


def test_a_state_change_has_parameters_for_every_predecessor() -> None:
    for after in PayoutState:
        before = {state.value for state, following in SUCCESSORS.items() if after in following}
        if not before:
            pytest.skip("nothing leads to it")

        values = _step_values(of(BARE, after=after, before=frozenset(map(PayoutState, before))))

        assert {values[name] for name in values if name.startswith("was_state_")} == before


def test_a_claim_requires_its_state_and_the_previous_attempt() -> None:
    unsent, held = Claim(payout(), attempt(3)), Claim(payout(), attempt(), before=PayoutState.HELD)

    named = ("was_state", "was_attempt", "new_attempt", "new_held_until")
    found = [[_claim_values(each)[name] for name in named] for each in (unsent, held)]

    assert found == [["not_sent", 2, 3, None], ["held", 0, 1, None]]
