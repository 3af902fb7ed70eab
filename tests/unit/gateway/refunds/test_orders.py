"""Orders of refunds, read strictly."""

from __future__ import annotations

import pytest

from gateway.core import errors
from gateway.core.calls import RawRequest
from gateway.core.catalogue import ErrorCode
from gateway.core.money import Money
from gateway.refunds.orders import REFUND, RefundRequest
from tests.unit.offering import E2E_ID, refund
from tests.unit.refusals import refusal_of
from tests.world.people import posted


def request(**fields: object) -> RefundRequest:
    plain = {"reference": "r-1", "payment": "order-1", "value": Money(1050)}
    return RefundRequest(**{**plain, **fields})  # type: ignore[arg-type]


def giving_back(body: object, payment: str = "order-1") -> RawRequest:
    asked = posted(body)
    asked.path = {"reference": payment}
    return asked


def test_a_refund_request_takes_its_payment_from_the_path():
    body = {"reference": "refund-1", "value": 3.25, "description": "uma parte"}

    assert REFUND.read(giving_back(body, "pedido/1")) == RefundRequest(
        reference="refund-1", payment="pedido/1", value=Money(325), description="uma parte"
    )


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({}, errors.FIELD_MISSING),
        ({"reference": "r"}, errors.FIELD_MISSING),
        ({"reference": "r", "value": 0}, errors.AMOUNT_NOT_POSITIVE),
        ({"reference": "r", "value": "1"}, errors.PAYLOAD_INVALID),
        ({"reference": 1, "value": 1}, errors.PAYLOAD_INVALID),
        ({"reference": "r", "value": 1, "description": "\n"}, errors.PAYLOAD_INVALID),
    ],
)
def test_an_invalid_refund_order_is_refused(body: object, error: ErrorCode):
    assert refusal_of(lambda: REFUND.read(giving_back(body))) is error
    assert error in REFUND.refuses


def test_a_refund_of_an_impossible_payment_reference_is_refused():
    body = {"reference": "r", "value": 1}

    assert refusal_of(lambda: REFUND.read(giving_back(body, ".."))) is errors.PAYLOAD_INVALID


@pytest.mark.parametrize("centavos", [0, -1])
def test_a_refund_request_is_above_zero(centavos: int):
    with pytest.raises(ValueError, match="above zero"):
        request(value=Money(centavos))


def test_a_payment_is_named_by_its_end_to_end_id_or_its_charge():
    cases = [
        (E2E_ID, True),
        ("order-1", False),
        ("D" + E2E_ID[1:], False),
        (E2E_ID + "\n", False),
        (E2E_ID[:-1], False),
        ("", False),
    ]

    wrong = [
        (payment, is_one)
        for payment, is_one in cases
        if request(payment=payment).names_payment is not is_one
    ]

    assert wrong == []


def test_a_repeated_refund_must_have_the_same_fields():
    cases = [
        ({}, True),
        ({"payment": E2E_ID}, True),
        ({"value": Money(1051)}, False),
        ({"description": "x"}, False),
        ({"payment": "order-2"}, False),
    ]

    wrong = [
        (fields, same) for fields, same in cases if request(**fields).matches(refund()) is not same
    ]

    assert wrong == []
