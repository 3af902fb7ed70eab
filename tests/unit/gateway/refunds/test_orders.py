"""Orders of refunds, read strictly."""

from __future__ import annotations

import pytest

from gateway.banks.port.refunds import RefundRequest
from gateway.core import errors
from gateway.core.calls import RawRequest
from gateway.core.catalogue import ErrorCode
from gateway.core.money import Money
from gateway.refunds.orders import REFUND
from tests.unit.refusals import refusal_of
from tests.world.people import posted


def giving_back(body: object, payment: str = "order-1") -> RawRequest:
    asked = posted(body)
    asked.path = {"reference": payment}
    return asked


def test_a_refund_is_of_the_payment_in_the_path():
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
def test_no_impossible_refund_is_ordered(body: object, error: ErrorCode):
    assert refusal_of(lambda: REFUND.read(giving_back(body))) is error
    assert error in REFUND.refuses


def test_a_payment_that_could_not_be_there_is_refused():
    body = {"reference": "r", "value": 1}

    assert refusal_of(lambda: REFUND.read(giving_back(body, ".."))) is errors.PAYLOAD_INVALID
