"""What part of a list the bank is asked for."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from gateway.domain.kernel.windows import Window
from provider_adapters.sandbox import listing

DAY = Window(date(2026, 11, 20), date(2026, 11, 21))


def test_both_days_of_the_window_are_in_it():
    assert listing.query(DAY, None, 25) == {
        "de": "2026-11-20T00:00:00.000Z",
        "ate": "2026-11-22T00:00:00.000Z",
        "limite": "25",
    }


def test_a_cursor_goes_back_as_it_came():
    assert listing.query(DAY, "a b&c", 25)["cursor"] == "a b&c"


@pytest.mark.parametrize(("limit", "asked"), [(0, "1"), (500, "500"), (501, "500")])
def test_no_more_is_asked_for_than_the_bank_gives(limit: int, asked: str):
    assert listing.query(DAY, None, limit)["limite"] == asked


def test_an_instant_has_milliseconds():
    assert listing.instant(datetime(2026, 1, 2, 3, 4, 5, 678901, UTC)) == "2026-01-02T03:04:05.678Z"
