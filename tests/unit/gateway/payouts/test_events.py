"""What is kept of what happened to a payout."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import timedelta

from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.providers import Evidence
from gateway.payouts.events import KEPT_FACTS, begun, evidence_facts, noticed, stepped
from gateway.payouts.model import EventKind, Failure, PayoutState
from tests.world.stores.samples import EVIDENCE, NOW, attempt, change, payout


def test_every_evidence_field_is_an_allowed_fact():
    """Including fields added to evidence later."""
    assert {each.name for each in fields(Evidence)} <= KEPT_FACTS
    assert set(evidence_facts(EVIDENCE)) <= KEPT_FACTS


def test_allowed_facts_include_no_name_key_or_amount():
    for name in KEPT_FACTS:
        for word in (
            "name",
            "tax",
            "key",
            "value",
            "amount",
            "description",
            "destination",
            "secret",
        ):
            assert word not in name


def test_a_state_change_event_keeps_its_cause_and_facts():
    step = replace(
        change(PayoutState.SENDING, PayoutState.ACCEPTED),
        cause=EventKind.PROBED,
        evidence=EVIDENCE,
        provider_id="p1",
        e2e_id="E1",
        failure=Failure(FailureCode.OTHER),
        settled_at=NOW,
        held_until=NOW + timedelta(minutes=1),
    )

    event = stepped(step)

    assert (event.kind, event.after, event.at) == (EventKind.PROBED, step.after, step.at)
    assert set(event.facts) == {
        *("phase", "bytes_left", "reason", "http_status", "provider_code"),
        *("provider_id", "e2e_id", "failure", "settled_at", "held_until"),
    }


def test_a_state_change_without_evidence_has_no_facts():
    assert stepped(change(PayoutState.SENDING, PayoutState.UNKNOWN)).facts == {}


def test_a_stored_event_has_the_number_and_start_of_its_attempt():
    event = begun(payout(), attempt(3, started_at=NOW + timedelta(seconds=7)))

    assert (event.kind, event.attempt) == (EventKind.STORED, 3)
    assert event.at == NOW + timedelta(seconds=7)


def test_a_callback_event_has_the_callback_s_id_alone():
    assert noticed(payout(), "c1", NOW).facts == {"callback": "c1"}
