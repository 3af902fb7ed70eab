"""A payout as columns: what is asked, where it stands, and what a step changes."""

import pytest

from gateway.domain.payouts import Failure, FailureCode, PayoutState
from gateway.store.payout_rows import ending_columns, key_columns, payout_row, step_columns
from gateway.store.tables import payouts
from tests.contract.stores.samples import EVIDENCE, NOW, change, of, payout

STEP = change(PayoutState.SENDING, PayoutState.ACCEPTED)
LATER = {"next_check_at", "check_owner", "check_until"}


def test_a_row_has_every_column_but_those_of_checks() -> None:
    row = payout_row(payout())

    assert row.keys() == set(payouts.c.keys()) - LATER


def test_an_amount_is_written_in_centavos() -> None:
    assert payout_row(payout(centavos=1050))["centavos"] == 1050


@pytest.mark.parametrize("other", ["Order-1", "order-1 ", "order-2"])
def test_other_references_have_other_keys(other: str) -> None:
    assert key_columns("a", other) != key_columns("a", "order-1")


def test_what_a_step_leaves_empty_is_not_written() -> None:
    assert step_columns(STEP) == {"state": "accepted", "updated_at": STEP.at}


@pytest.mark.parametrize(
    ("fields", "written"),
    [
        ({"provider_id": "p"}, {"provider_id": "p"}),
        ({"e2e_id": "E"}, {"e2e_id": "E"}),
        ({"settled_at": NOW}, {"settled_at": NOW}),
        (
            {"failure": Failure(FailureCode.OTHER)},
            {"failure_code": "OTHER", "failure_forbidden": False},
        ),
    ],
    ids=["provider_id", "e2e_id", "settled_at", "failure"],
)
def test_what_a_step_brings_is_written(
    fields: dict[str, object], written: dict[str, object]
) -> None:
    step = step_columns(of(STEP, **fields))

    assert step == {"state": "accepted", "updated_at": STEP.at, **written}


def test_evidence_is_written_only_where_there_is_some() -> None:
    assert "evidence" not in ending_columns(STEP)
    assert "evidence" in ending_columns(of(STEP, evidence=EVIDENCE))
