"""Statements for many: the same text whatever is written, and no value without its place."""

from collections.abc import Callable, Iterable

import pytest
from sqlalchemy import Insert, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Dialect

from gateway.domain.bank.payout_orders import FailureCode
from gateway.domain.payouts.payouts import Failure, PayoutState
from gateway.store.kernel.database import BulkParameters
from gateway.store.kernel.postgres import UNNEST_ARRAYS
from gateway.store.kernel.sqlite import EXECUTE_MANY
from gateway.store.payouts.rows import payout_row
from gateway.store.payouts.statements import claim_values, ending_values, statements, step_values
from gateway.store.payouts.steps import Claim
from gateway.store.tables.core import payouts
from tests.contract.stores.samples import EVIDENCE, NOW, attempt, change, of, payout

SENDING, PAID = PayoutState.SENDING, PayoutState.PAID
BARE = change(SENDING, PAID)
FULL = of(
    BARE,
    evidence=EVIDENCE,
    provider_id="p-1",
    e2e_id="E1",
    settled_at=NOW,
    failure=Failure(FailureCode.REJECTED, forbidden=False),
)


@pytest.mark.parametrize(
    ("dialect", "insert_new", "bulk"),
    [
        (postgresql.dialect(), postgresql.insert, UNNEST_ARRAYS),
        (sqlite.dialect(), sqlite.insert, EXECUTE_MANY),
    ],
    ids=["postgresql", "sqlite"],
)
@pytest.mark.parametrize(
    ("statement", "values"),
    [
        ("add", payout_row(payout())),
        ("step", step_values(BARE, "sending")),
        ("step", step_values(FULL, "sending")),
        ("claim", claim_values(Claim(payout(), attempt(2)))),
        ("end", ending_values(BARE)),
        ("end", ending_values(FULL)),
    ],
    ids=["new", "bare step", "full step", "claim", "bare ending", "full ending"],
)
def test_values_fill_every_place_and_no_other(
    dialect: Dialect,
    insert_new: Callable[[Table], Insert],
    bulk: BulkParameters,
    statement: str,
    values: dict[str, object],
) -> None:
    """A value too many would be dropped in silence."""
    said = getattr(statements(bulk, insert_new), statement)
    names = list(values) if said.is_insert else None
    places = said.compile(dialect=dialect, column_keys=names).params

    own = places.keys() & (payouts.c.keys() if said.is_insert else _new_and_was(places))

    assert values.keys() == own


def _new_and_was(places: Iterable[str]) -> set[str]:
    return {name for name in places if name.startswith(("new_", "was_"))}


def test_a_step_is_from_the_state_that_was_read() -> None:
    values = step_values(of(BARE, before=frozenset({SENDING, PayoutState.UNKNOWN})), "unknown")

    assert (values["was_state"], values["new_state"]) == ("unknown", "paid")


def test_a_claim_is_from_unsent_and_the_attempt_before() -> None:
    values = claim_values(Claim(payout(), attempt(3)))

    assert (values["was_state"], values["was_attempt"], values["new_attempt"]) == ("not_sent", 2, 3)
