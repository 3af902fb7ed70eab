"""A search as it was typed: the day beside a text, and the days that follow from it."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from gateway.core.windows import LocalWindow, Window, local_start
from gateway.search.model import TextQuery

TODAY = date(2026, 11, 20)
E2E = "E0000000020261118134011abcdefghi"


@pytest.mark.parametrize(
    ("typed", "text", "day"),
    [
        *(("203,81 ontem", "203,81", date(2026, 11, 19)), ("hoje Maria", "Maria", TODAY)),
        *(("Maria Silva 25/10", "Maria Silva", date(2026, 10, 25)),),
        *(("x 25/11", "x", date(2025, 11, 25)), ("x 25/11/2027", "x", date(2027, 11, 25))),
        *(("x 2026-11-01", "x", date(2026, 11, 1)), ("x YESTERDAY", "x", date(2026, 11, 19))),
        *(("ontem", "", date(2026, 11, 19)), ("", "", None), ("x 31/02", "x 31/02", None)),
        *(("x 29/02", "x 29/02", None), ("R$ 5,00", "R$ 5,00", None)),
    ],
)
def test_a_date_before_or_after_the_text_is_read(typed: str, text: str, day: date | None):
    assert TextQuery.of(typed, TODAY) == TextQuery(text, day)


def test_without_a_date_a_search_covers_the_last_90_days_and_two_at_banks():
    asked = TextQuery.of("Maria", TODAY)

    assert asked.since(TODAY) == local_start(TODAY - timedelta(days=89))
    assert asked.until is None
    assert asked.at_banks(TODAY) == LocalWindow(date(2026, 11, 19), TODAY)


def test_an_end_to_end_id_limits_the_bank_search_to_its_day():
    assert TextQuery.of(E2E, TODAY).at_banks(TODAY) == Window(
        date(2026, 11, 18), date(2026, 11, 18)
    )
    unreal = E2E.replace("20261118", "20261399")
    assert TextQuery.of(unreal, TODAY).at_banks(TODAY).ends == TODAY
