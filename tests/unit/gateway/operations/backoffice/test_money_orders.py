"""How a payout or a refund that was agreed to ends."""

from __future__ import annotations

import pytest

from gateway.domain.backoffice.approvals import Outcome
from gateway.domain.bank.provider_options import OutcomeUnknown
from gateway.domain.bank.providers import (
    BadReply,
    NotFound,
    NotSupported,
    Refused,
    Unavailable,
    Unreachable,
)
from gateway.domain.kernel import errors
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.kernel.storage import StoreUnavailable
from gateway.operations.backoffice.money_orders import client_of, outcome_of
from gateway.operations.payouts.answers import CERTAINLY_NOT_SENT


@pytest.mark.parametrize(
    ("problem", "outcome", "code"),
    [
        (ServiceError(errors.PAYOUT_REJECTED, "rejected"), Outcome.REFUSED, "SVC.PIX.010"),
        (ServiceError(errors.PAYOUT_NOT_ALLOWED, "rejected"), Outcome.REFUSED, "SVC.PIX.010"),
        (ServiceError(errors.PAYOUTS_STOPPED, "stopped"), Outcome.NOT_SENT, "SVC.PIX.010"),
        (ServiceError(errors.PAYOUT_NOT_ALLOWED, "similar"), Outcome.NOT_SENT, "SVC.PIX.010"),
        *(
            (ServiceError(error, "dns"), Outcome.NOT_SENT, "SVC.ACC.005")
            for error in CERTAINLY_NOT_SENT
        ),
        (ServiceError(errors.PAYOUT_UNKNOWN, "timeout"), Outcome.UNKNOWN, ""),
        (ServiceError(errors.BANK_REFUSED, "too_late"), Outcome.REFUSED, "SVC.GTW.008"),
        (Refused("too_late"), Outcome.REFUSED, "SVC.GTW.008"),
        (NotFound("absent"), Outcome.REFUSED, "SVC.PIX.017"),
        (NotSupported("not_supported"), Outcome.REFUSED, "SVC.ACC.005"),
        (Unreachable("refused"), Outcome.NOT_SENT, "SVC.ACC.005"),
        (OutcomeUnknown("timeout"), Outcome.UNKNOWN, ""),
        (Unavailable("status"), Outcome.UNKNOWN, ""),
        (BadReply("malformed"), Outcome.UNKNOWN, ""),
    ],
    ids=repr,
)
def test_a_failure_leaves_an_outcome(problem: Exception, outcome: Outcome, code: str):
    assert outcome_of(problem) == (outcome, code)


@pytest.mark.parametrize("problem", [StoreUnavailable("away"), RuntimeError("a mistake")])
def test_what_tells_nothing_leaves_none(problem: Exception):
    """Whoever approves again carries it through."""
    assert outcome_of(problem) is None


def test_a_person_is_named_as_no_credential_is():
    assert client_of("u1") == "user:u1"
