"""Orders of keys, charges and refunds, read strictly."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.banks.port.charges import ChargeOrder, ChargeType, Payer
from gateway.banks.port.pix_keys import KeyOrder, PixKeyType
from gateway.banks.port.refunds import RefundRequest
from gateway.charges.orders import LONGEST_EXPIRY_S
from gateway.core import errors
from gateway.core.calls import RawRequest
from gateway.core.catalogue import ErrorCode
from gateway.core.money import Money
from gateway.refunds.orders import REFUND
from policies.validation.backoffice import orders
from tests.unit.refusals import refusal_of
from tests.world.people import posted

EVP = "5f0c8f6e-3d57-4a6d-9f53-0d4d5a0f7a01"
CHARGE: dict[str, Any] = {"reference": "order-1", "type": "Dynamic", "key": "Loja@Example.com"}
PAYER = {"name": "Maria Silva", "tax_number": "529.982.247-25"}


@pytest.mark.parametrize(
    ("body", "order"),
    [
        ({"type": "evp"}, KeyOrder(PixKeyType.EVP, "")),
        ({"type": "evp", "key": None}, KeyOrder(PixKeyType.EVP, "")),
        (
            {"type": "email", "key": "Loja@Example.com"},
            KeyOrder(PixKeyType.EMAIL, "loja@example.com"),
        ),
        ({"type": "cpf", "key": "529.982.247-25"}, KeyOrder(PixKeyType.CPF, "52998224725")),
        ({"type": "phone", "key": "+5511987654321"}, KeyOrder(PixKeyType.PHONE, "+5511987654321")),
    ],
)
def test_a_key_is_read_in_its_normal_form(body: object, order: KeyOrder):
    assert orders.KEY.read(posted(body)) == order


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("no JSON", errors.PAYLOAD_INVALID),
        ({}, errors.FIELD_MISSING),
        ({"type": "email"}, errors.FIELD_MISSING),
        ({"type": "email", "key": ""}, errors.FIELD_MISSING),
        ({"type": "EVP"}, errors.PAYLOAD_INVALID),
        ({"type": 1}, errors.PAYLOAD_INVALID),
        ({"type": "evp", "key": EVP}, errors.PAYLOAD_INVALID),
        ({"type": "email", "key": "nobody"}, errors.PAYLOAD_INVALID),
        ({"type": "cpf", "key": "11222333000181"}, errors.PAYLOAD_INVALID),
    ],
)
def test_no_impossible_key_is_ordered(body: object, error: ErrorCode):
    assert refusal_of(lambda: orders.KEY.read(posted(body))) is error
    assert error in orders.KEY.refuses


@pytest.mark.parametrize(
    ("body", "key"),
    [
        ({"key": "Maria@Example.com"}, "maria@example.com"),
        ({"key": "529.982.247-25"}, "52998224725"),
        ({"key": "11.222.333/0001-81"}, "11222333000181"),
        ({"key": EVP.upper()}, EVP),
        ({"key": "+5511987654321", "type": "phone"}, "+5511987654321"),
        ({"key": "+5511987654321", "type": None}, "+5511987654321"),
    ],
)
def test_a_key_to_look_up_may_leave_its_kind_to_its_form(body: object, key: str):
    assert orders.LOOKUP.read(posted(body)) == key


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({}, errors.FIELD_MISSING),
        ({"key": "maria"}, errors.PAYLOAD_INVALID),
        ({"key": ["a"]}, errors.PAYLOAD_INVALID),
        ({"key": "maria@example.com", "type": "phone"}, errors.PAYLOAD_INVALID),
        ({"key": "maria@example.com", "type": "mail"}, errors.PAYLOAD_INVALID),
    ],
)
def test_what_is_no_key_is_not_looked_up(body: object, error: ErrorCode):
    assert refusal_of(lambda: orders.LOOKUP.read(posted(body))) is error


@pytest.mark.parametrize("said", [{}, {"reusable": False}, {"reusable": True}])
def test_a_static_charge_can_be_paid_again_whatever_is_said(said: dict[str, bool]):
    order = orders.CHARGE.read(posted({**CHARGE, "type": "Static", **said}))

    assert order.reusable


def test_a_charge_is_read_whole():
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
def test_a_charge_may_be_open_endless_and_anybodys(absent: dict[str, None]):
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
def test_no_impossible_charge_is_ordered(changed: dict[str, object], error: ErrorCode):
    assert refusal_of(lambda: orders.CHARGE.read(posted({**CHARGE, **changed}))) is error
    assert error in orders.CHARGE.refuses


def test_a_cnpj_with_letters_is_a_key():
    body = {"type": "cnpj", "key": "12.abc.345/01DE-35"}

    assert orders.KEY.read(posted(body)).key == "12ABC34501DE35"


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
