"""What each answer about a payout proves."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.providers import (
    Accepted,
    BadReply,
    NotFound,
    ProviderError,
    Refused,
    Rejected,
    Settled,
    Unknown,
)
from gateway.core.money import Money
from provider_adapters.kit.outcomes import Expected
from provider_adapters.woovi import mapping, payouts
from tests.unit.provider_adapters.woovi.payouts import PAID, SHOWN
from tests.world.banks.harness import KEY, order
from tests.world.banks.woovi import SETTLED, answer, by_account, refused
from tests.world.tables import cases

EXPECTED = payouts.expected(order())
MANUAL = {
    "correlationID": KEY,
    "value": 1050,
    "status": "CREATED",
    "holder": {"name": "Maria Silva"},
    "account": {"account": "123456", "branch": "0001", "accountType": "CACC"},
    "psp": {"id": "60701190", "name": "ITAÚ UNIBANCO S.A."},
}


def created(document: object, status: int = 200, expected: Expected = EXPECTED):
    return payouts.created(answer(document, status), expected)


def found(document: object, expected: Expected | None = None):
    return payouts.found(answer(document), expected or Expected(KEY))


def test_a_confirmed_payout_is_settled_with_its_time_and_id():
    outcome = found({"payment": {**SHOWN, "status": "CONFIRMED"}, "transaction": PAID})

    assert isinstance(outcome, Settled)
    assert (outcome.value, outcome.e2e_id) == (Money(1050), SETTLED)
    assert outcome.settled_at == datetime(2026, 11, 22, 10, 31, 5, 123000, tzinfo=UTC)


def test_a_confirmed_payout_has_the_amount_really_paid():
    outcome = found(
        {"payment": {**SHOWN, "status": "CONFIRMED"}, "transaction": {**PAID, "value": 1049}}
    )

    assert isinstance(outcome, Settled)
    assert outcome.value == Money(1049)


@cases(("code", "failure"), [*mapping.FAILURES.items(), ("ED05", FailureCode.OTHER)])
def test_a_failed_payout_has_its_reason(code, failure):
    outcome = found(
        {
            "payment": {**SHOWN, "status": "FAILED"},
            "transaction": {"providerRejectedReason": f"{code} - Alguma coisa"},
        }
    )

    assert isinstance(outcome, Rejected)
    assert (outcome.failure, outcome.evidence.provider_code) == (failure, code)
    assert outcome.provider_key == KEY


def test_a_failed_payout_without_a_reason_is_other():
    outcome = found({"payment": {**SHOWN, "status": "FAILED"}})

    assert isinstance(outcome, Rejected)
    assert outcome.failure is FailureCode.OTHER


def test_a_malformed_end_to_end_id_is_unknown():
    outcome = created(
        {"payment": {**SHOWN, "status": "CONFIRMED"}, "transaction": {**PAID, "endToEndId": "E1"}}
    )

    assert isinstance(outcome, Unknown)
    assert outcome.evidence.reason == "e2e_id_malformed"


@cases("number", ["341", "60701190"])
def test_the_account_shown_for_a_payout_is_compared(number):
    expected = payouts.expected(by_account(number), must_show=True)

    assert isinstance(found({"payment": MANUAL}, expected), Accepted)
    assert isinstance(found({"payment": {**MANUAL, "psp": "60701190"}}, expected), Accepted)
    for other in ({"psp": {"id": "00000000"}}, {"account": None}, {"psp": None}):
        outcome = found({"payment": {**MANUAL, **other}}, expected)
        assert isinstance(outcome, Unknown)
        assert outcome.evidence.reason == "destination_mismatch"


@cases(
    "said",
    [
        refused("outra coisa"),
        refused("You do not have enough balance to make this payment", 403),
        refused("Já existe um pagamento com o correlationID fornecido", 500),
        answer({}, 401),
        answer({}, 429),
        answer({}, 404),
        refused("Payment not found"),
        answer(b"<html>", 200),
        answer({"payment": {}}),
        answer({"payment": {**SHOWN, "value": 1050.5}}),
    ],
)
def test_any_unlisted_answer_is_a_provider_error(said):
    with pytest.raises(ProviderError):
        payouts.created(said, EXPECTED)


def test_only_the_bank_s_own_sentence_means_payout_not_found():
    with pytest.raises(NotFound):
        payouts.found(refused("Payment not found"), Expected(KEY))
    with pytest.raises(BadReply):
        payouts.found(answer({}, 404), Expected(KEY))
    with pytest.raises(Refused):
        payouts.found(refused("Company not found"), Expected(KEY))
