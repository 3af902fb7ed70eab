"""Statements for many: the same text whatever is written, and no value without its place."""

import pytest
from sqlalchemy import Update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Dialect

from gateway.domain.payouts import Failure, FailureCode, PayoutState
from gateway.store.payout_statements import (
    CLAIM,
    ENDING,
    STEP,
    claim_values,
    ending_values,
    step_values,
)
from gateway.store.payout_steps import Claim
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


@pytest.mark.parametrize("dialect", [postgresql.dialect(), sqlite.dialect()], ids=lambda d: d.name)
@pytest.mark.parametrize(
    ("statement", "values"),
    [
        (STEP, step_values(BARE, "sending")),
        (STEP, step_values(FULL, "sending")),
        (CLAIM, claim_values(Claim(payout(), attempt(2)))),
        (ENDING, ending_values(BARE)),
        (ENDING, ending_values(FULL)),
    ],
    ids=["bare step", "full step", "claim", "bare ending", "full ending"],
)
def test_values_fill_every_place_and_no_other(
    dialect: Dialect, statement: Update, values: dict[str, object]
) -> None:
    """A value too many would be dropped in silence."""
    places = statement.compile(dialect=dialect).params

    own = {name for name in places if name.startswith(("new_", "was_"))}

    assert values.keys() == own


def test_a_step_is_from_the_state_that_was_read() -> None:
    values = step_values(of(BARE, before=frozenset({SENDING, PayoutState.UNKNOWN})), "unknown")

    assert (values["was_state"], values["new_state"]) == ("unknown", "paid")


def test_a_claim_is_from_unsent_and_the_attempt_before() -> None:
    values = claim_values(Claim(payout(), attempt(3)))

    assert (values["was_state"], values["was_attempt"], values["new_attempt"]) == ("not_sent", 2, 3)
