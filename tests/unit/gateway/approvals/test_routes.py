"""The routes of approvals."""

from __future__ import annotations

from dataclasses import replace

from gateway.approvals.execution import Decided
from gateway.banks.port.providers import Unreachable
from gateway.core.user_errors import REFUND_NOT_SENT
from gateway.payouts.model import PayoutState
from tests.unit.gateway.http.ordering import WAITING
from tests.unit.gateway.http.surface import STAFF, becomes
from tests.world.stores.samples import payout


def test_an_unsent_refund_is_shown_as_unsent():
    assert becomes("approval_approve", Unreachable("refused")) == REFUND_NOT_SENT.name


def test_an_approval_document_has_no_sealed_field():
    shown = WAITING.to_document(STAFF.staff)

    assert (shown["id"], shown["status"], shown["decided_at"]) == (WAITING.id, "waiting", "")
    assert "sealed" not in str(shown)


def test_an_approved_payout_is_reported_as_processing():
    """As its partner would see it, even if the bank has answered by now."""
    paid = replace(payout(), state=PayoutState.PAID)

    shown = Decided(approval=WAITING, moved=paid).to_document(STAFF.staff)

    assert shown["status"] == "processing"
