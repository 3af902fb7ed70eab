"""Refunds in the bank's words, and its answers as outcomes."""

from __future__ import annotations

import pytest

from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.providers import (
    Accepted,
    BadReply,
    NotSent,
    ProviderError,
    Rejected,
    Settled,
    Unknown,
)
from gateway.banks.port.refunds import Refund, RefundOrder, RefundStatus
from gateway.core.money import Money
from provider_adapters.sandbox import refunds
from provider_adapters.sandbox.payouts import REFUSED_BEFORE
from tests.unit.offering import E2E_ID
from tests.unit.provider_adapters.sandbox.refunds import REFUND, RETURN_ID
from tests.unit.provider_adapters.sandbox.translate import AT, refusing, saying
from tests.world.banks.harness import KEY
from tests.world.banks.witness import NOON
from tests.world.tables import cases

ORDER = RefundOrder(
    provider_key=KEY, reference="r-1", payment_e2e_id=E2E_ID, value=Money(1050), description=""
)


def test_a_completed_refund_is_settled():
    said = {**REFUND, "situacao": "DEVOLVIDO", "liquidada_em": AT}

    outcome = refunds.created(saying(said), ORDER)

    assert isinstance(outcome, Settled)
    assert (outcome.value, outcome.settled_at) == (Money(1050), NOON)


def test_an_unknown_refund_status_is_processing_and_counted():
    said = saying({**REFUND, "situacao": "AGENDADA"})

    outcome = refunds.created(said, ORDER)

    assert isinstance(outcome, Accepted)
    assert said.unknown_words == 1


@cases(
    ("wrong", "reason"),
    [
        ({"chave_idempotencia": "other"}, "key_mismatch"),
        ({"chave_idempotencia": None}, "key_mismatch"),
        ({"valor_centavos": 1051}, "amount_mismatch"),
        ({"recebimento": {"e2e": "E" + "0" * 31, "referencia": None}}, "e2e_id_malformed"),
    ],
)
def test_a_mismatched_refund_is_unknown(wrong: dict[str, object], reason: str):
    outcome = refunds.created(saying({**REFUND, **wrong}), ORDER)

    assert isinstance(outcome, Unknown)
    assert outcome.evidence.reason == reason


@cases(("pair", "meaning"), list(refunds.REJECTIONS.items()))
def test_listed_refusals_of_a_refund_are_definite(
    pair: tuple[int, str], meaning: tuple[str, FailureCode]
):
    outcome = refunds.created(refusing(*pair), ORDER)

    assert isinstance(outcome, Rejected)
    assert (outcome.evidence.reason, outcome.failure) == meaning
    assert outcome.forbidden is (pair[0] == 403)


@cases(
    ("status", "code"),
    [
        (400, "INVALID_REQUEST"),
        (404, "NOT_FOUND"),
        (409, "DUPLICATE"),
        (422, "REJECTED"),
        (401, ""),
        (429, ""),
        (500, "INTERNAL"),
    ],
)
def test_any_other_answer_to_a_refund_is_a_provider_error(status: int, code: str):
    with pytest.raises(ProviderError):
        refunds.created(refusing(status, code), ORDER)


@cases("pair", REFUSED_BEFORE)
def test_a_refund_refused_before_execution_is_not_sent(pair: tuple[int, str]):
    outcome = refunds.created(refusing(*pair), ORDER)

    assert isinstance(outcome, NotSent)
    assert outcome.evidence.reason == REFUSED_BEFORE[pair]


def test_a_looked_up_refund_is_read_completely():
    said = {**REFUND, "situacao": "NAO_REALIZADO", "falha": {"code": "ELSE"}}

    assert refunds.found(saying(said), KEY) == Refund(
        reference="r-1",
        provider_key=KEY,
        provider_id="dev_1",
        payment_e2e_id=E2E_ID,
        payment_reference="order-1",
        return_id=RETURN_ID,
        value=Money(1050),
        description="oops",
        status=RefundStatus.FAILED,
        failure=FailureCode.OTHER,
        created_at=NOON,
        settled_at=None,
    )


def test_a_refund_with_another_key_is_a_bad_reply():
    with pytest.raises(BadReply):
        refunds.found(saying(REFUND), "other")
