"""A payout as columns: what is asked, where it stands, and what a step changes."""

from datetime import timedelta

import pytest

from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.providers import Evidence, Phase
from gateway.payouts.events import noticed
from gateway.payouts.model import Failure, PayoutState
from gateway.payouts.rows import (
    ending_columns,
    event_row,
    evidence_document,
    first_check,
    key_columns,
    payout_row,
    restored_evidence,
    step_columns,
)
from gateway.store.tables.core import payout_events, payouts
from tests.world.stores.samples import EVIDENCE, NOW, change, of, payout

STEP = change(PayoutState.SENDING, PayoutState.ACCEPTED)
LATER = {"check_owner", "check_until", "held_until", "moved_centavos", "absence"}
FIRST_CHECK = STEP.at + timedelta(seconds=2)


def test_a_row_has_every_column_but_those_of_checks() -> None:
    row = payout_row(payout())

    assert row.keys() == set(payouts.c.keys()) - LATER


def test_an_amount_is_written_in_centavos() -> None:
    assert payout_row(payout(centavos=1050))["centavos"] == 1050


@pytest.mark.parametrize("other", ["Order-1", "order-1 ", "order-2"])
def test_other_references_have_other_keys(other: str) -> None:
    assert key_columns("a", other) != key_columns("a", "order-1")


def test_what_a_step_leaves_empty_is_not_written() -> None:
    assert step_columns(STEP) == {
        "state": "accepted",
        "review": False,
        "updated_at": STEP.at,
        "next_check_at": FIRST_CHECK,
    }


def test_an_intent_is_looked_at_when_its_lease_has_ended() -> None:
    """Until then it belongs to whoever sends it."""
    row = payout_row(payout())

    assert row["next_check_at"] == row["lease_until"]


def test_a_state_says_when_it_is_looked_at_first() -> None:
    cases = [
        (PayoutState.UNKNOWN, NOW + timedelta(seconds=2)),
        (PayoutState.ACCEPTED, NOW + timedelta(seconds=2)),
        (PayoutState.NOT_SENT, NOW + timedelta(seconds=2)),
        (PayoutState.PAID, None),
        (PayoutState.REJECTED, None),
        (PayoutState.FAILED, None),
    ]

    wrong = [(state, due) for state, due in cases if first_check(state, NOW) != due]

    assert wrong == []


def test_what_a_step_brings_is_written() -> None:
    cases = [
        ({"provider_id": "p"}, {"provider_id": "p"}),
        ({"e2e_id": "E"}, {"e2e_id": "E"}),
        ({"settled_at": NOW}, {"settled_at": NOW}),
        (
            {"failure": Failure(FailureCode.OTHER)},
            {"failure_code": "OTHER", "failure_forbidden": False},
        ),
    ]

    for fields, written in cases:
        step = step_columns(of(STEP, **fields))

        assert step == {
            "state": "accepted",
            "review": False,
            "updated_at": STEP.at,
            "next_check_at": FIRST_CHECK,
            **written,
        }


def test_evidence_is_written_only_where_there_is_some() -> None:
    assert ending_columns(STEP)["evidence"] is None
    assert ending_columns(of(STEP, evidence=EVIDENCE))["evidence"] == evidence_document(EVIDENCE)


def test_evidence_is_read_as_it_was_written() -> None:
    for phase in Phase:
        evidence = Evidence(phase=phase, bytes_left=False, reason="refused")

        assert restored_evidence(evidence_document(evidence)) == evidence


def test_a_bank_s_code_is_kept_whatever_its_characters() -> None:
    """NUL and half a pair are no text for PostgreSQL; an outcome must not be lost over them."""
    document = evidence_document(EVIDENCE)

    assert document.isascii()
    assert "\x00" not in document
    assert restored_evidence(document) == EVIDENCE


def test_event_has_every_column_but_its_number():
    row = event_row(noticed(payout(), "c1", NOW), None)

    assert set(row) == set(payout_events.c.keys()) - {"number"}


def test_event_without_a_key_has_no_facts():
    row = event_row(noticed(payout(), "CANARY", NOW), None)

    assert row["sealed_facts"] is None
    assert "CANARY" not in repr(row)
