"""The rows of approvals."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateway.approvals.execution import Decided
from gateway.approvals.facts import DecisionFacts
from gateway.approvals.routes import facts
from gateway.banks.model import Reading
from gateway.banks.port.providers import Unreachable
from gateway.core.approvals import ApprovalState, WaitingMoney
from gateway.core.money import Money, Sum
from gateway.core.user_errors import REFUND_NOT_SENT, VALIDATION_FAILED
from gateway.payouts.documents import FoundPayout, PayoutsAlike
from gateway.payouts.model import PayoutState
from tests.unit.gateway.http.ordering import WAITING
from tests.unit.gateway.http.registers import taken
from tests.unit.gateway.http.surface import STAFF, becomes, line
from tests.unit.refusals import refusal_of
from tests.world.standing import NOON
from tests.world.stores.samples import payout


@pytest.mark.parametrize(
    ("name", "declared"),
    [
        ("approvals", ("GET", "/approvals", "approval:read", 200)),
        ("approval_facts", ("GET", "/approvals/{approval_id}/facts", "approval:read", 200)),
        ("approval", ("GET", "/approvals/{approval_id}", "approval:read", 200)),
        (
            "approval_approve",
            ("POST", "/approvals/{approval_id}/approve", "approval:write", 200),
        ),
        ("approval_reject", ("POST", "/approvals/{approval_id}/reject", "approval:write", 200)),
        ("approval_withdraw", ("POST", "/approvals/{approval_id}/withdraw", "approval:read", 200)),
    ],
)
def test_the_rows_are_those_decided(name: str, declared: tuple[str, str, str, int]):
    assert line(name) == declared


def test_a_status_is_one_of_the_words():
    wanted = taken("approvals", query={"status": ["waiting"]})["wanted"]

    assert wanted.state is ApprovalState.WAITING
    assert taken("approvals")["wanted"].state is None
    wrong = refusal_of(lambda: taken("approvals", query={"status": ["open"]}))
    assert wrong is VALIDATION_FAILED


def test_a_refund_that_was_not_sent_is_told_so():
    assert becomes("approval_approve", Unreachable("refused")) == REFUND_NOT_SENT.name


def test_an_approval_shows_nothing_that_is_sealed():
    shown = WAITING.to_document(STAFF.staff)

    assert (shown["id"], shown["status"], shown["decided_at"]) == (WAITING.id, "waiting", "")
    assert "sealed" not in str(shown)


def test_a_decision_is_shown():
    decided = replace(
        WAITING, state=ApprovalState.REJECTED, decider="user:ana", decided_at=NOON, reason="no"
    )

    shown = decided.to_document(STAFF.staff)

    assert (shown["status"], shown["decided_by"], shown["reason"]) == ("rejected", "user:ana", "no")


def test_an_approved_payout_is_told_as_processing():
    """As its partner is told, whatever the bank has said by now."""
    paid = replace(payout(), state=PayoutState.PAID)

    shown = Decided(approval=WAITING, moved=paid).to_document(STAFF.staff)

    assert shown["status"] == "processing"


def test_what_is_known_is_shown_with_the_number_hidden():
    reading = Reading(
        account_id="a",
        account_name="Matriz",
        provider="p",
        balance=Money(1050),
        read_at=None,
    )
    alike = FoundPayout(payout(), "Matriz")

    waiting = WaitingMoney(2, Sum(2100), [WAITING])

    shown = facts(DecisionFacts(PayoutsAlike([alike]), reading, waiting), STAFF)

    assert [each.payee_tax_number for each in shown["to_recipient"]] == ["***.982.247-**"]
    assert shown["same_value"] == []
    assert [each["id"] for each in shown["waiting"]] == [WAITING.id]
    assert (shown["waiting_count"], shown["waiting_value"]) == (2, Sum(2100))
    assert shown["reading"].account_id == "a"
    assert "reading" not in facts(DecisionFacts(), STAFF)
