"""Amounts of banks, exactly."""

from decimal import Decimal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.money import MAX_CENTAVOS, Money
from provider_adapters.kit import money
from tests.world.tables import cases


class Document(msgspec.Struct):
    """An answer with an amount as a JSON number."""

    value: Decimal


READ = {
    "10.50": 1050,
    "10.5": 1050,
    "10": 1000,
    "0.01": 1,
    "-3.07": -307,
    "9999999999999.99": 10**15 - 1,
}
NONE = ["", "10,50", "10.505", "1e1", "NaN", ".5", "5.", "+1", " 1", "1_0", "٣", "10.50\n", "--1"]


@cases(("text", "centavos"), READ.items())
def test_reais_as_text_and_as_number_are_the_same_amount(text: str, centavos: int):
    number = msgspec.json.decode(f'{{"value":{text}}}', type=Document).value

    assert money.from_text(text) == money.from_number(number) == Money(centavos)


@cases("text", NONE)
def test_an_invalid_amount_text_is_refused(text: str):
    with pytest.raises(ValueError, match="decimals"):
        money.from_text(text)


@cases("number", ["10.505", "0.001", "1e-3", "NaN", "Infinity"])
def test_an_amount_with_three_decimals_is_refused(number: str):
    with pytest.raises(ValueError, match="decimals"):
        money.from_number(Decimal(number))


@cases("number", ["1e20", "1e999"])
def test_an_amount_beyond_the_range_is_refused(number: str):
    with pytest.raises(ValueError, match="range"):
        money.from_number(Decimal(number))


@given(st.integers(-MAX_CENTAVOS, MAX_CENTAVOS))
def test_a_written_amount_is_read_back_exactly(centavos: int):
    value = Money(centavos)

    written = msgspec.json.encode({"value": money.as_number(value)})

    assert money.from_text(money.as_text(value)) == value
    assert money.from_number(msgspec.json.decode(written, type=Document).value) == value
    assert money.from_centavos(centavos) == value


class Raw(msgspec.Struct):
    """An answer with an amount as in the document."""

    value: money.JsonNumber


@cases(("text", "centavos"), [*READ.items(), ("1.05e1", 1050), ("10.500", 1050)])
def test_a_json_number_is_read_exactly(text: str, centavos: int):
    number = msgspec.json.decode(f'{{"value":{text}}}', type=Raw).value

    assert money.from_json(number) == Money(centavos)


@cases(
    "text", ['"10.50"', "null", "true", "[10]", "{}", "10.505", "1e-3", "99999999999999", "1e999"]
)
def test_an_invalid_json_amount_is_refused(text: str):
    """Including a text: a bank that writes numbers has changed its interface."""
    number = msgspec.json.decode(f'{{"value":{text}}}', type=Raw).value

    with pytest.raises(ValueError, match=r"decimals|[Aa]mount|centavos"):
        money.from_json(number)


class Open(msgspec.Struct):
    value: money.JsonNumber = money.ABSENT


@cases(("text", "value"), [("{}", None), ('{"value":null}', None), ('{"value":10.5}', Money(1050))])
def test_an_amount_may_be_absent(text: str, value: Money | None):
    assert money.from_json_or_none(msgspec.json.decode(text, type=Open).value) == value


def test_a_transferred_amount_must_be_above_zero():
    for one in (1, Money(1), msgspec.Raw(b"0.01")):
        assert money.above_zero(one) == Money(1)
    for none in (0, -1, Money(0), msgspec.Raw(b"-0.01")):
        with pytest.raises(ValueError, match="wrong_shape"):
            money.above_zero(none)


def test_an_unsigned_amount_may_be_zero():
    assert [money.unsigned(0), money.unsigned(Money(1))] == [Money(0), Money(1)]
    with pytest.raises(ValueError, match="wrong_shape"):
        money.unsigned(-1)
