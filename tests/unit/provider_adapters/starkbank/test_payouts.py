"""The bank's answers about payouts, as outcomes."""

from __future__ import annotations

import pytest

from gateway.banks.port.providers import (
    Accepted,
    BadReply,
    NotFound,
    ProviderError,
    Settled,
    Unknown,
)
from gateway.core.money import Money
from provider_adapters.kit.outcomes import Expected
from provider_adapters.starkbank import payouts, requests
from tests.unit.provider_adapters.starkbank.making import (
    KEY,
    TO_ACCOUNT,
    TRANSFER,
    answering,
    refusing,
)
from tests.world.tables import cases

PLACE = requests.place_of_account(TO_ACCOUNT)
EXPECTED = Expected(KEY, Money(1050), PLACE)


def created(**changes: object) -> object:
    answer = answering({"transfers": [{**TRANSFER, **changes}]})
    return payouts.created(answer, EXPECTED)


def test_a_successful_transfer_is_settled_at_its_last_update():
    outcome = created(status="success")

    assert isinstance(outcome, Settled)
    assert (outcome.value, outcome.e2e_id) == (Money(1050), "")
    assert outcome.settled_at is not None
    assert outcome.settled_at.second == 1


@cases(
    ("changes", "reason"),
    [
        ({"amount": 1051}, "amount_mismatch"),
        ({"externalId": "f" * 32}, "key_mismatch"),
        ({"tags": ["ref:" + "f" * 32]}, "key_mismatch"),
        ({"tags": [], "externalId": None}, "key_mismatch"),
        ({"bankCode": "00000000"}, "destination_mismatch"),
        ({"taxId": "111.444.777-35"}, "destination_mismatch"),
        ({"accountNumber": "123456-8"}, "destination_mismatch"),
        ({"branchCode": "0002"}, "destination_mismatch"),
    ],
)
def test_a_mismatched_transfer_is_unknown(changes: dict[str, object], reason: str):
    outcome = created(**changes)

    assert isinstance(outcome, Unknown)
    assert outcome.evidence.reason == reason


@cases("changes", [{"taxId": "***.982.247-**"}, {"accountNumber": "1234567"}, {"tags": []}])
def test_allowed_differences_in_a_transfer_are_accepted(changes: dict[str, object]):
    assert isinstance(created(**changes), Accepted)


def test_encrypted_account_fields_are_not_compared():
    answer = answering({"transfers": [{**TRANSFER, "accountNumber": "9", "branchCode": "8"}]})
    place = {name: text for name, text in PLACE.items() if name not in requests.ENCRYPTED}
    expected = Expected(KEY, Money(1050), place)

    assert isinstance(payouts.created(answer, expected), Accepted)


@cases("codes", [["invalidExternalId"], ["invalidAmount", "melting"]])
def test_any_other_refusal_is_unknown_and_may_be_a_duplicate(codes: list[str]):
    outcome = payouts.created(refusing(*codes), EXPECTED)

    assert isinstance(outcome, Unknown)
    assert payouts.may_be_known(outcome)


@cases("transfers", [[], [TRANSFER, TRANSFER], [{}]])
def test_an_answer_must_have_exactly_one_created_transfer(transfers: list[object]):
    with pytest.raises(BadReply):
        payouts.created(answering({"transfers": transfers}), EXPECTED)


def test_only_a_transfer_with_our_tag_is_found():
    other = {**TRANSFER, "tags": ["ref:" + "f" * 32]}

    with pytest.raises(NotFound):
        payouts.found(answering({"transfers": [other]}), Expected(KEY))
    outcome = payouts.found(
        answering({"transfers": [other, {**TRANSFER, "status": "success"}]}),
        Expected(KEY),
    )
    assert isinstance(outcome, Settled)


def test_two_transfers_with_our_tag_are_unknown():
    outcome = payouts.found(answering({"transfers": [TRANSFER, TRANSFER]}), Expected(KEY))

    assert isinstance(outcome, Unknown)
    assert outcome.evidence.reason == "key_mismatch"


@cases("codes", [["invalidTransfer"], ["invalidId"], []])
@cases("status", [400, 404])
def test_a_refused_search_never_means_not_found(status: int, codes: list[str]):
    with pytest.raises(ProviderError) as failed:
        payouts.found(refusing(*codes, status=status), Expected(KEY))

    assert not isinstance(failed.value, NotFound)
