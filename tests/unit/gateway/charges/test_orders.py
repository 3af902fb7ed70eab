"""Orders of charges, read strictly."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.banks.port.charges import ChargeOrder, ChargeType, Payer
from gateway.charges import orders
from gateway.charges.model import LONGEST_EXPIRY_S
from gateway.core import errors
from gateway.core.catalogue import ErrorCode
from gateway.core.money import Money
from tests.unit.refusals import refusal_of
from tests.world.people import posted

CHARGE: dict[str, Any] = {"reference": "order-1", "type": "Dynamic", "key": "Loja@Example.com"}


PAYER = {"name": "Maria Silva", "tax_number": "529.982.247-25"}


@pytest.mark.parametrize("said", [{}, {"reusable": False}, {"reusable": True}])
def test_a_static_charge_is_always_reusable(said: dict[str, bool]):
    order = orders.CHARGE.read(posted({**CHARGE, "type": "Static", **said}))

    assert order.reusable


def test_a_charge_order_is_read_completely():
    body = {
        **CHARGE,
        "value": 10.5,
        "expires_in": 3600,
        "payer": {**PAYER, "message": "pedido"},
        "description": "um pedido",
        "reusable": True,
        "sort": 1,
    }
    asked = posted(body)

    assert orders.CHARGE.read(asked) == ChargeOrder(
        reference="order-1",
        type=ChargeType.DYNAMIC,
        key="loja@example.com",
        value=Money(1050),
        expires_in=3600,
        payer=Payer(name="Maria Silva", tax_number="52998224725", message="pedido"),
        description="um pedido",
        reusable=True,
    )
    assert asked.unknown_fields == 1


@pytest.mark.parametrize("absent", [{}, {"value": None, "expires_in": None, "payer": None}])
def test_a_charge_may_have_no_amount_expiry_or_payer(absent: dict[str, None]):
    order = orders.CHARGE.read(posted({**CHARGE, **absent}))

    assert (order.value, order.expires_in, order.payer, order.reusable) == (None, None, None, False)


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"reference": ""}, errors.FIELD_MISSING),
        ({"reference": ".."}, errors.PAYLOAD_INVALID),
        ({"type": None}, errors.FIELD_MISSING),
        ({"type": "dynamic"}, errors.PAYLOAD_INVALID),
        ({"key": None}, errors.FIELD_MISSING),
        ({"key": "loja"}, errors.PAYLOAD_INVALID),
        ({"value": 0}, errors.AMOUNT_NOT_POSITIVE),
        ({"value": -1}, errors.AMOUNT_NOT_POSITIVE),
        ({"value": "1"}, errors.PAYLOAD_INVALID),
        ({"expires_in": 0}, errors.PAYLOAD_INVALID),
        ({"expires_in": LONGEST_EXPIRY_S + 1}, errors.PAYLOAD_INVALID),
        ({"expires_in": 1.5}, errors.PAYLOAD_INVALID),
        ({"expires_in": "60"}, errors.PAYLOAD_INVALID),
        ({"payer": "Maria"}, errors.PAYLOAD_INVALID),
        ({"payer": {}}, errors.FIELD_MISSING),
        ({"payer": {"name": "Maria"}}, errors.FIELD_MISSING),
        ({"payer": {**PAYER, "tax_number": "1"}}, errors.PAYLOAD_INVALID),
        ({"payer": {**PAYER, "message": 1}}, errors.PAYLOAD_INVALID),
        ({"reusable": "yes"}, errors.PAYLOAD_INVALID),
        ({"description": "x" * 1025}, errors.PAYLOAD_INVALID),
    ],
)
def test_an_invalid_charge_order_is_refused(changed: dict[str, object], error: ErrorCode):
    assert refusal_of(lambda: orders.CHARGE.read(posted({**CHARGE, **changed}))) is error
    assert error in orders.CHARGE.refuses
