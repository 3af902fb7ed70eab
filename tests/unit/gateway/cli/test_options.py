"""What operators type for durations and amounts."""

from datetime import timedelta

import click
import pytest

from gateway.cli.options import DURATION, REAIS
from gateway.core.money import Money


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("0s", timedelta()),
        ("90m", timedelta(minutes=90)),
        ("24h", timedelta(days=1)),
        ("30d", timedelta(days=30)),
    ],
)
def test_a_duration_is_a_number_and_a_unit(text: str, read: timedelta):
    assert DURATION.convert(text, None, None) == read


@pytest.mark.parametrize("text", ["", "24", "h", "-1h", "1.5h", "1w", "1234567s", "٣h"])
def test_an_invalid_duration_is_refused(text: str):
    with pytest.raises(click.BadParameter, match="is no duration such as 24h or 30d"):
        DURATION.convert(text, None, None)


def test_an_amount_option_is_converted_once():
    read = REAIS.convert("1500.00", None, None)

    assert read == Money(1500_00)
    assert REAIS.convert(read, None, None) == read


@pytest.mark.parametrize(
    ("text", "told"),
    [("1500,00", "is no amount such as 1500.00"), ("0.00", "an amount is above zero")],
)
def test_an_invalid_amount_option_is_refused_with_its_reason(text: str, told: str):
    with pytest.raises(click.BadParameter, match=told):
        REAIS.convert(text, None, None)
