"""What a caller is answered: one sentence and one word for each way a payout is not sent."""

from __future__ import annotations

import pytest

from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.providers import NotSent, Outcome, Rejected, Unknown
from gateway.core import errors
from gateway.core.catalogue import ErrorCode
from gateway.core.errors import ServiceError
from gateway.payouts import create as answers
from gateway.telemetry.records import AccessRecord, begin_record
from tests.world.answers import ANSWERED, changed
from tests.world.payouts import IS_ACCEPTED, IS_SETTLED, REFUSED_HERE, SILENCE, PayoutWorld

UNAUTHORIZED = changed(ANSWERED, reason="credentials_refused")
TOO_MANY = changed(ANSWERED, reason="rate_limited")


@pytest.fixture
def record() -> AccessRecord:
    """The request that is being served."""
    made = AccessRecord(trace_id="t")
    begin_record(made)
    return made


@pytest.mark.parametrize(
    ("outcome", "error", "told"),
    [
        (NotSent(REFUSED_HERE), errors.PROVIDER_UNREACHABLE, ("not_sent", None)),
        (NotSent(UNAUTHORIZED), errors.PROVIDER_CREDENTIALS_REFUSED, ("credentials_refused", None)),
        (NotSent(TOO_MANY), errors.PROVIDER_BUSY, ("rate_limited", None)),
        (NotSent(TOO_MANY, retry_after=0), errors.PROVIDER_BUSY, ("rate_limited", "1")),
        (NotSent(TOO_MANY, retry_after=29.1), errors.PROVIDER_BUSY, ("rate_limited", "30")),
        (NotSent(TOO_MANY, retry_after=7200), errors.PROVIDER_BUSY, ("rate_limited", "120")),
        (Unknown(SILENCE), errors.PAYOUT_UNKNOWN, ("unknown", None)),
    ],
)
async def test_each_outcome_that_is_not_acknowledged_has_its_error(
    payout_world: PayoutWorld,
    record: AccessRecord,
    outcome: Outcome,
    error: ErrorCode,
    told: tuple[str, str | None],
):
    """A bank's Retry-After is passed on, from a second to two minutes."""
    with pytest.raises(ServiceError) as refused:
        answers.answer(payout_world._payout(), outcome, recorded=True)

    assert refused.value.error is error
    assert (record.payout, refused.value.headers.get("Retry-After")) == told


@pytest.mark.parametrize("recorded", [True, False])
@pytest.mark.parametrize("outcome", [IS_ACCEPTED, IS_SETTLED], ids=["accepted", "settled"])
async def test_an_acknowledged_payout_is_answered_even_if_not_recorded(
    payout_world: PayoutWorld, record: AccessRecord, outcome: Outcome, recorded: bool
):
    told = answers.answer(payout_world._payout(), outcome, recorded=recorded)

    assert (told.provider_id, record.payout) == ("p-1", "accepted")


@pytest.mark.parametrize(
    ("recorded", "forbidden", "error"),
    [
        (True, False, errors.PAYOUT_REJECTED),
        (True, True, errors.PAYOUT_NOT_ALLOWED),
        (False, False, errors.PAYOUT_UNKNOWN),
    ],
)
async def test_a_rejection_is_answered_only_once_stored(
    payout_world: PayoutWorld, recorded: bool, forbidden: bool, error: ErrorCode
):
    """Rule R7, also for rejections without a bank call."""
    no = Rejected(evidence=REFUSED_HERE, failure=FailureCode.OTHER, forbidden=forbidden)

    with pytest.raises(ServiceError) as refused:
        answers.answer(payout_world._payout(), no, recorded=recorded)

    assert refused.value.error is error


def test_a_payout_not_sent_is_always_502_svc_acc_005():
    """Contract part 7: only 502 ``SVC.ACC.005`` means "certainly not sent"."""
    assert {(each.code, each.status) for each in answers.CERTAINLY_NOT_SENT} == {
        ("SVC.ACC.005", 502)
    }
