"""Windows of whole UTC days, and pages."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.core.windows import LocalWindow, Paging, Window, local_end, local_start

DAY = date(2026, 1, 1)


def test_a_window_has_one_to_ninety_days():
    """Contract part 8: ``init == ends`` is one day, the longest is 90."""
    for days in [1, 2, 89, 90]:
        window = Window(DAY, DAY + timedelta(days=days - 1))

        assert window.end - window.start == timedelta(days=days)


def test_a_window_of_another_length_is_refused():
    for days in [-365, -1, 0, 91, 92, 3650]:
        with pytest.raises(ValueError, match="1 to 90 days"):
            Window(DAY, DAY + timedelta(days=days - 1))


def test_a_window_includes_both_days():
    window = Window(DAY, DAY)

    assert window.start == datetime(2026, 1, 1, tzinfo=UTC)
    assert window.start <= datetime(2026, 1, 1, 23, 59, 59, 999999, tzinfo=UTC) < window.end
    assert window.end == datetime(2026, 1, 2, tzinfo=UTC)


def test_a_window_may_be_a_leap_day():
    window = Window(date(2028, 2, 29), date(2028, 2, 29))

    assert window.end == datetime(2028, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize("edge", [date.min, date.max])
def test_the_first_and_last_days_of_the_calendar_are_windows(edge: date):
    """Both can be requested without an overflow."""
    window = Window(edge, edge)

    assert window.start < window.end
    assert (window.end - window.start) > timedelta(hours=23)


@given(st.dates(max_value=date.max - timedelta(days=89)), st.integers(0, 89))
@example(date.max, 0)
@example(DAY, 89)
def test_local_days_are_covered_by_utc_windows_without_a_gap(init: date, more: int):
    """Newest first; no window is longer than a bank allows."""
    local = LocalWindow(init, init + timedelta(days=more))

    found = list(local.utc_days())

    assert found[-1].start <= local.start < local.end <= found[0].end
    assert [each.start for each in found[:-1]] == [each.end for each in found[1:]]


@given(st.dates(), st.dates())
def test_any_two_dates_are_a_window_or_refused(init: date, ends: date):
    expected = 0 <= (ends - init).days <= 89

    try:
        window = Window(init, ends)
    except ValueError:
        assert not expected
    else:
        assert expected
        assert window.start < window.end


def test_a_page_s_offset_follows_the_earlier_pages():
    wrong = [
        (page, limit, offset)
        for page, limit, offset in [(1, 25, 0), (2, 25, 25), (3, 100, 200), (1, 1, 0)]
        if Paging(page, limit).offset != offset
    ]

    assert wrong == []


def test_the_offset_of_the_largest_page_fits_a_database_integer():
    assert Paging(10**18 - 1, 100).offset == 2**62 < 2**63


def test_a_local_day_starts_at_three_in_utc():
    """Brazil has had no summer time since 2019."""
    day = date(2026, 11, 20)

    assert local_start(day) == datetime(2026, 11, 20, 3, tzinfo=UTC)
    assert local_end(day) == local_start(date(2026, 11, 21))


@pytest.mark.parametrize("day", [date.min, date.max])
def test_the_first_and_last_local_days_do_not_overflow(day: date):
    assert local_start(day) <= local_end(day)
