"""Fields of a body, one at a time."""

import pytest

from gateway.core import errors, strict
from gateway.core.money import Money
from policies.validation import fields
from policies.validation.fields import Number
from tests.unit.refusals import refusal_of


@pytest.mark.parametrize(
    ("found", "absent"),
    [
        ({}, True),
        ({"a": None}, True),
        ({"a": ""}, True),
        ({"a": " "}, False),
        ({"a": False}, False),
    ],
)
def test_null_and_the_empty_text_count_as_absent(found, absent: bool):
    assert fields.missing(found, "a") is absent


@pytest.mark.parametrize(
    ("found", "refusal"),
    [
        (Number("10.50"), None),
        (Number("0"), errors.AMOUNT_NOT_POSITIVE),
        (Number("-1"), errors.AMOUNT_NOT_POSITIVE),
        (Number("1e2"), errors.PAYLOAD_INVALID),
        (Number("1.234"), errors.PAYLOAD_INVALID),
        ("10.50", errors.PAYLOAD_INVALID),
        (True, errors.PAYLOAD_INVALID),
    ],
)
def test_an_amount_must_be_a_number_above_zero(found: object, refusal):
    assert refusal_of(lambda: fields.positive(found)) is refusal


def test_an_amount_is_read_exactly():
    assert fields.positive(Number("0.07")) == Money(7)


@pytest.mark.parametrize("found", ["2026-02-30", "26-01-01", Number("1"), None])
def test_an_invalid_date_is_refused(found: object):
    assert refusal_of(lambda: fields.day(found, "date")) is errors.DATE_INVALID


@pytest.mark.parametrize("found", [Number("-1"), Number("1.0"), Number("1e1"), "1", True, None])
def test_a_whole_number_must_be_written_in_digits(found: object):
    assert fields.whole(Number("18")) == 18
    with pytest.raises(strict.Malformed):
        fields.whole(found)


@pytest.mark.parametrize(("found", "read"), [({}, ""), ({"a": None}, ""), ({"a": "é"}, "é")])
def test_an_optional_text_may_be_absent(found, read: str):
    assert fields.text(found, "a") == read


@pytest.mark.parametrize("found", ["a\n", "x" * 1025, Number("1"), [], {}])
def test_a_text_with_control_characters_is_refused(found: object):
    assert refusal_of(lambda: fields.text({"a": found}, "a")) is errors.PAYLOAD_INVALID
