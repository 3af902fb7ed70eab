"""One text per statement whatever is written, and no value without its place."""

from collections.abc import Iterable

import pytest
from sqlalchemy.dialects import postgresql, sqlite

from gateway.banks.port.payout_orders import FailureCode
from gateway.payouts import sql as statements
from gateway.payouts.model import SUCCESSORS, Failure, Intent, PayoutState
from gateway.payouts.rows import payout_row
from gateway.payouts.sql import (
    claim_values,
    ending_values,
    intent_values,
    settling_values,
    step_values,
)
from gateway.store.kernel.postgres import UNNEST_ARRAYS
from gateway.store.kernel.sqlite import EXECUTE_MANY
from gateway.store.tables.core import payouts
from tests.world.stores.samples import EVIDENCE, NOW, attempt, change, of, payout

SENDING, PAID = PayoutState.SENDING, PayoutState.PAID
UNKNOWN, ACCEPTED = PayoutState.UNKNOWN, PayoutState.ACCEPTED
BARE = change(SENDING, PAID)
FULL = of(
    BARE,
    evidence=EVIDENCE,
    provider_id="p-1",
    e2e_id="E1",
    settled_at=NOW,
    failure=Failure(FailureCode.REJECTED, forbidden=False),
)


def test_values_fill_every_place_and_no_other() -> None:
    """A value too many would be dropped in silence."""
    dialect_cases = [
        (postgresql.dialect(), postgresql.insert, UNNEST_ARRAYS),
        (postgresql.dialect(), postgresql.insert, EXECUTE_MANY),
        (sqlite.dialect(), sqlite.insert, EXECUTE_MANY),
    ]
    statement_cases = [
        ("add", payout_row(payout())),
        ("step", step_values(BARE)),
        ("step", step_values(FULL)),
        ("claim", claim_values(payout(), attempt(2))),
        ("end", ending_values(BARE)),
        ("end", ending_values(FULL)),
    ]

    for dialect, insert_new, bulk in dialect_cases:
        for statement, values in statement_cases:
            given = (bulk, insert_new) if statement == "add" else (bulk,)
            said = getattr(statements, statement)(*given)
            names = list(values) if said.is_insert else None
            places = said.compile(dialect=dialect, column_keys=names).params

            own = places.keys() & (payouts.c.keys() if said.is_insert else _new_and_was(places))

            assert values.keys() == own


def test_values_of_a_whole_write_fill_every_place_too() -> None:
    statement_cases = [
        ("intend", intent_values(Intent(payout(), attempt()), None)),
        ("settle", settling_values(FULL, None)),
        ("settle_free", settling_values(BARE, None)),
    ]

    for bulk in [UNNEST_ARRAYS, EXECUTE_MANY]:
        for statement, values in statement_cases:
            given = (bulk, postgresql.insert) if statement == "intend" else (bulk,)
            said = getattr(statements, statement)(*given)
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
    values = step_values(of(BARE, before=frozenset(before)))

    assert [values[f"was_state_{number}"] for number in range(4)] == states


def test_a_step_has_a_place_for_every_state_it_may_come_from() -> None:
    for after in PayoutState:
        before = {state.value for state, following in SUCCESSORS.items() if after in following}
        if not before:
            pytest.skip("nothing leads to it")

        values = step_values(of(BARE, after=after, before=frozenset(map(PayoutState, before))))

        assert {values[name] for name in values if name.startswith("was_state_")} == before


def test_a_claim_is_from_unsent_and_the_attempt_before() -> None:
    values = claim_values(payout(), attempt(3))

    assert (values["was_state"], values["was_attempt"], values["new_attempt"]) == ("not_sent", 2, 3)
