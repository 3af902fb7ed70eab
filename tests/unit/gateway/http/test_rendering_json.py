"""Documents into bytes."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest

from gateway.core.errors import PAYOUT_NOT_FOUND
from gateway.core.money import Money
from gateway.core.schemas import instant
from gateway.http.rendering import dumps, minute
from gateway.net.server.refusals import error_body

BRASILIA = timezone(timedelta(hours=-3))
AT = datetime(2026, 11, 20, 21, 5, 59, 999_999, tzinfo=BRASILIA)


@pytest.mark.parametrize(
    ("centavos", "written"),
    [
        (0, b"0.00"),
        (5, b"0.05"),
        (1050, b"10.50"),
        (-7, b"-0.07"),
        (999_999_999_999_999, b"9999999999999.99"),
    ],
)
def test_money_is_a_number_with_two_decimals(centavos: int, written: bytes):
    """Contract 2.1; never a string, never rounded."""
    assert dumps({"value": Money(centavos)}) == b'{"value":%b}' % written


def test_an_instant_is_written_in_utc_to_the_second():
    assert instant(AT) == "2026-11-21T00:05:59Z"


@pytest.mark.parametrize("year", [1, 900, 2026, 9999])
def test_a_time_in_a_document_is_written_as_an_instant(year: int):
    """To the second, never rounded up; with four digits to the year."""
    at = datetime(year, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)

    assert dumps({"at": at}) == dumps({"at": instant(at)})


def test_a_minute_is_written_in_utc():
    """Contract 2.4."""
    assert minute(AT) == "2026-11-21 00:05"


@pytest.mark.parametrize("write", [instant, minute])
def test_an_absent_time_is_empty(write):
    """Never null."""
    assert write(None) == ""


def test_the_first_years_have_four_digits():
    assert instant(datetime(1, 1, 1, tzinfo=UTC)) == "0001-01-01T00:00:00Z"


@pytest.mark.parametrize("value", [object(), {1, 2}, b"bytes", 2**64])
def test_a_value_that_json_cannot_represent_is_refused(value: object):
    with pytest.raises(TypeError):
        dumps({"value": value})


def test_an_error_body_has_three_fields():
    """Contract 2.2."""
    found = json.loads(error_body(PAYOUT_NOT_FOUND, "a-trace"))

    assert found == {
        "code": "SVC.PIX.011",
        "message": PAYOUT_NOT_FOUND.message,
        "trace_id": "a-trace",
    }
