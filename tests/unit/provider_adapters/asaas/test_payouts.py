"""What each answer about a transfer proves."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.pix_keys import PixKeyType
from gateway.banks.port.providers import (
    Accepted,
    NotFound,
    NotSent,
    Outcome,
    ProviderError,
    Rejected,
    Settled,
    Unknown,
)
from gateway.core.money import Money
from provider_adapters.asaas import mapping, payouts
from tests.world.banks.asaas import E2E, TRANSFER, answer, by_account, by_key, refused
from tests.world.banks.harness import KEY, order
from tests.world.tables import cases

DONE = TRANSFER | {
    "status": "DONE",
    "endToEndIdentifier": E2E,
    "effectiveDate": "2026-11-22 07:31:05",
}


def created(changes: dict[str, object], made_of: object = None) -> Outcome:
    asked = made_of or order()
    return payouts.created(answer(TRANSFER | changes), asked)  # type: ignore[arg-type]


def found(changes: dict[str, object], key: str = KEY) -> Outcome:
    return payouts.found(answer(TRANSFER | changes), key)


def test_a_completed_transfer_is_settled_at_its_time_in_sao_paulo():
    outcome = found(DONE)

    assert isinstance(outcome, Settled)
    assert (outcome.value, outcome.e2e_id, outcome.provider_key) == (Money(1050), E2E, KEY)
    assert outcome.settled_at == datetime(2026, 11, 22, 10, 31, 5, tzinfo=UTC)


def test_a_date_without_a_time_gives_no_settlement_time():
    outcome = found(DONE | {"effectiveDate": "2026-11-22"})

    assert isinstance(outcome, Settled)
    assert outcome.settled_at is None


@cases(("status", "failure"), mapping.FAILURES.items())
def test_a_failed_transfer_is_rejected_without_the_bank_s_free_text(
    status: str, failure: FailureCode
):
    outcome = found({"status": status, "failReason": "Conta de Maria encerrada"})

    assert isinstance(outcome, Rejected)
    assert (outcome.failure, outcome.provider_key) == (failure, KEY)
    assert "Maria" not in repr(outcome)


@cases("key", [None, "", "0" * 32])
def test_a_transfer_without_our_key_is_unknown(key: str | None):
    for outcome in (created({"externalReference": key}), found({"externalReference": key})):
        assert isinstance(outcome, Unknown)
        assert outcome.evidence.reason == "key_mismatch"


@cases("value", [10.51, 10.4, 1050, 0, -10.5])
def test_a_transfer_of_another_amount_is_unknown(value: float):
    outcome = created({"value": value})

    assert isinstance(outcome, Unknown)
    assert outcome.evidence.reason == "amount_mismatch"


@cases(
    ("made_of", "shown", "same"),
    [
        (order(), {"pixAddressKey": "joao@example.com"}, False),
        (order(), {"pixAddressKey": "MARIA@example.com"}, True),
        (order(), {"pixAddressKey": "mar***@example.com"}, True),
        (order(), {"pixAddressKey": None}, True),
        (by_key(PixKeyType.PHONE, "+5547999999999"), {"pixAddressKey": "47999999999"}, True),
        (by_key(PixKeyType.PHONE, "+5547999999999"), {"pixAddressKey": "+5547999999999"}, True),
        (by_key(PixKeyType.PHONE, "+5547999999999"), {"pixAddressKey": "47999999998"}, False),
        (by_key(PixKeyType.CPF, "52998224725"), {"pixAddressKey": "529.982.247-25"}, True),
        (by_account(), {"agency": "1", "account": "123456", "accountDigit": "7"}, True),
        (by_account(), {"agency": "0001", "account": "123456", "accountDigit": "8"}, False),
        (by_account(), {"bank": {"code": "341", "ispb": "60701190"}}, True),
        (by_account(), {"bank": {"code": "237"}}, False),
        (by_account(bank_number="60701190"), {"bank": {"code": "341"}}, True),
    ],
)
def test_a_transfer_to_another_recipient_is_unknown(
    made_of: object, shown: dict[str, object], same: bool
):
    """Letters and digits are compared; masked or missing ones are not."""
    outcome = created({"bankAccount": shown}, made_of)

    assert isinstance(outcome, Accepted if same else Unknown)


def test_an_exhausted_rate_limit_is_not_sent_with_a_retry_delay():
    headers = {"RateLimit-Remaining": "0", "RateLimit-Reset": "30"}

    outcome = payouts.created(answer(b"", 429, headers), order())

    assert isinstance(outcome, NotSent)
    assert (outcome.evidence.reason, outcome.retry_after) == ("rate_limited", 30.0)


@cases(
    "said",
    [
        refused(400, "invalid_action"),
        refused(400, ""),
        refused(401, "anything"),
        refused(403, "invalid_access_token"),
        refused(409, "invalid_value"),
        answer(b"", 401),
        answer(b"", 403),
        answer(b"", 404),
        answer(b"", 409),
        answer(b"", 429),
        answer(b"", 429, {"RateLimit-Remaining": "1"}),
        answer(b"", 500),
        answer({"errors": []}, 400),
        answer(TRANSFER, 201),
        answer(b"<html>"),
        answer({}),
        answer(TRANSFER | {"value": "10.50"}),
        answer(TRANSFER | {"value": 10.505}),
        answer(TRANSFER | {"id": "x" * 129}),
    ],
)
def test_any_other_answer_to_an_order_is_a_provider_error(said: object):
    """The client returns Unknown: an order refused by a proxy may have been paid."""
    with pytest.raises(ProviderError):
        payouts.created(said, order())  # type: ignore[arg-type]


def test_a_bare_404_does_not_prove_that_a_transfer_is_absent():
    with pytest.raises(ProviderError) as problem:
        payouts.found(answer(b"", 404), KEY)

    assert not isinstance(problem.value, NotFound)
