"""The tables hold words of ours, and only pairs with a source are definite."""

from __future__ import annotations

from gateway.banks.port.charges import ChargeStatus
from gateway.banks.port.provider_callbacks import CallbackKind
from provider_adapters.asaas import mapping


def test_what_was_refused_before_is_no_rejection():
    assert not mapping.REJECTIONS.keys() & mapping.REFUSED_BEFORE.keys()


def test_only_an_unpaid_charge_is_active():
    """One that was paid and given back is still paid: what came back stands beside it."""
    active = {each for each, ours in mapping.CHARGE_STATUSES.items() if ours is ChargeStatus.ACTIVE}

    assert active == {"PENDING", "OVERDUE", "AWAITING_RISK_ANALYSIS", "DUNNING_REQUESTED"}


def test_what_a_charge_was_paid_by_is_asked_apart():
    assert mapping.CHARGE_RECEIVED not in mapping.KINDS


def test_an_event_of_a_transfer_is_of_a_payout():
    for event, kind in mapping.EVENTS.items():
        assert (kind is CallbackKind.PAYOUT) == event.startswith("TRANSFER_")
