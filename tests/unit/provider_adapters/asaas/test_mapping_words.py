"""The tables hold words of ours, and only pairs with a source are definite."""

from __future__ import annotations

from gateway.banks.port.charges import ChargeStatus
from gateway.banks.port.provider_callbacks import CallbackKind
from provider_adapters.asaas import mapping


def test_refusals_before_execution_and_rejections_do_not_overlap():
    assert not mapping.REJECTIONS.keys() & mapping.REFUSED_BEFORE.keys()


def test_only_an_unpaid_charge_is_active():
    """A refunded charge is still paid: the refund is shown separately."""
    active = {each for each, ours in mapping.CHARGE_STATUSES.items() if ours is ChargeStatus.ACTIVE}

    assert active == {"PENDING", "OVERDUE", "AWAITING_RISK_ANALYSIS", "DUNNING_REQUESTED"}


def test_the_kind_of_a_charge_payment_is_looked_up_separately():
    assert mapping.CHARGE_RECEIVED not in mapping.KINDS


def test_only_transfer_events_are_about_payouts():
    for event, kind in mapping.EVENTS.items():
        assert (kind is CallbackKind.PAYOUT) == event.startswith("TRANSFER_")
