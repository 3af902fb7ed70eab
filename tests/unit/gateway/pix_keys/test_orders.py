"""Orders of keys, read strictly."""

from __future__ import annotations

import pytest

from gateway.banks.port.pix_keys import KeyOrder, PixKeyType
from gateway.core import errors
from gateway.core.catalogue import ErrorCode
from gateway.pix_keys import orders
from tests.unit.refusals import refusal_of
from tests.world.people import posted

EVP = "5f0c8f6e-3d57-4a6d-9f53-0d4d5a0f7a01"


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
def test_a_pix_key_order_is_read_in_normal_form(body: object, order: KeyOrder):
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
def test_an_invalid_pix_key_order_is_refused(body: object, error: ErrorCode):
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
def test_a_key_look_up_may_omit_the_key_type(body: object, key: str):
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
def test_an_invalid_key_look_up_is_refused(body: object, error: ErrorCode):
    assert refusal_of(lambda: orders.LOOKUP.read(posted(body))) is error


def test_a_cnpj_with_letters_is_a_key():
    body = {"type": "cnpj", "key": "12.abc.345/01DE-35"}

    assert orders.KEY.read(posted(body)).key == "12ABC34501DE35"
