"""Amounts: whole centavos inside, two decimals outside."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core import strict
from gateway.core.money import MAX_CENTAVOS, Money

CENTAVOS = st.integers(-MAX_CENTAVOS, MAX_CENTAVOS)


def test_an_amount_has_exactly_two_decimals():
    """Contract 2.1."""
    cases = [
        (0, "0.00"),
        (1, "0.01"),
        (-1, "-0.01"),
        (10, "0.10"),
        (1050, "10.50"),
        (-12345, "-123.45"),
        (MAX_CENTAVOS, "9999999999999.99"),
    ]

    wrong = [(centavos, text) for centavos, text in cases if str(Money(centavos)) != text]

    assert wrong == []


@given(CENTAVOS)
def test_written_amounts_are_exact(centavos: int):
    assert Decimal(str(Money(centavos))) == Decimal(centavos) / 100


def test_amounts_survive_writing_and_parsing():
    """A float would be wrong for one amount in fifteen; the step covers all endings."""
    for centavos in range(0, 2_000_001, 37):
        assert strict.amount(str(Money(centavos))).centavos == centavos


def test_amounts_that_a_float_gets_wrong_are_right():
    for centavos in [114, 115, 1998, 1999, 435, 129, 1_000_000_29]:
        text = f"{centavos // 100}.{centavos % 100:02d}"

        assert strict.amount(text) == Money(centavos)


def test_an_amount_is_a_whole_number_within_range():
    cases = [1.0, 10.5, True, "1", None, Decimal(1), MAX_CENTAVOS + 1, -MAX_CENTAVOS - 1]

    for centavos in cases:
        with pytest.raises(ValueError, match="whole number of centavos"):
            Money(centavos)  # type: ignore[arg-type]


@given(CENTAVOS, CENTAVOS)
def test_amounts_are_in_the_order_of_their_centavos(one: int, other: int):
    assert (Money(one) < Money(other)) == (one < other)
