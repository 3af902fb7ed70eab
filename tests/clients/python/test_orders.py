"""Orders: amounts that cannot lose a centavo, references that survive a path, bytes."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from decimal import Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pixgate_client.orders import MOST, BankOrder, PixOrder, amount_text, body_of, new_reference
from tests.clients.python.replies import ORDER

TODAY = date(2026, 11, 20)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("0.01", "0.01"),
        ("10", "10.00"),
        ("10.5", "10.50"),
        ("1E+3", "1000.00"),
        ("131072.01", "131072.01"),
        ("1234567.8900", "1234567.89"),
        ("9999999999999.99", "9999999999999.99"),
    ],
)
def test_an_amount_has_exactly_two_decimals(value: str, text: str):
    assert amount_text(Decimal(value)) == text


@given(st.integers(min_value=1, max_value=int(MOST * 100)))
def test_every_amount_arrives_as_it_was_ordered(centavos: int):
    """Whatever the caller's own decimal context rounds to."""
    value = Decimal(centavos) / 100

    with localcontext(prec=3):
        body = body_of(replace(ORDER, value=value), TODAY)

    assert json.loads(body, parse_float=Decimal)["value"] * 100 == centavos


@pytest.mark.parametrize("value", [10.5, 10, "10.50", None, True])
def test_only_a_decimal_is_an_amount(value: object):
    with pytest.raises(TypeError, match="Decimal"):
        replace(ORDER, value=value)


@pytest.mark.parametrize(
    "value", ["0", "-0.00", "-1", "0.001", "10.505", "NaN", "sNaN", "Infinity", "1E+13", "1E-9"]
)
def test_an_invalid_amount_is_refused_before_a_request(value: str):
    with pytest.raises(ValueError, match="an amount"):
        replace(ORDER, value=Decimal(value))


@pytest.mark.parametrize(
    "reference", ["", ".", "..", "a\n", "a\x7f", "a\x9f", "a" * 1025, "\ud800"]
)
def test_an_invalid_reference_is_refused_before_a_request(reference: str):
    with pytest.raises(ValueError, match=r"."):
        replace(ORDER, reference=reference)


def test_an_order_has_a_reference_before_it_is_sent():
    made = PixOrder(value=Decimal(1), tax_number="1", key_type="cpf", key="1")

    assert len({made.reference, new_reference(), new_reference()}) == 3
    assert replace(made).reference == made.reference


def test_both_kinds_of_order_are_written_as_the_guide_has_them():
    bank = BankOrder(
        value=Decimal("10.50"),
        tax_number="529.982.247-25",
        name="Maria Silva",
        reference="order-1043",
        date=date(2026, 11, 21),
        bank_number="341",
        branch="0001",
        account="123456-7",
    )

    assert json.loads(body_of(ORDER, TODAY)) == {
        "method": "pix",
        "reference": "order-1042",
        "value": 10.5,
        "date": "2026-11-20",
        "description": "",
        "destination": {
            "tax_number": "529.982.247-25",
            "key_type": "email",
            "key": "maria@example.com",
        },
    }
    assert json.loads(body_of(bank, TODAY)) == {
        "method": "bank_account",
        "reference": "order-1043",
        "value": 10.5,
        "date": "2026-11-21",
        "description": "",
        "destination": {
            "name": "Maria Silva",
            "tax_number": "529.982.247-25",
            "bank_number": "341",
            "branch": "0001",
            "account": "123456-7",
            "account_type": "checking",
        },
    }
