"""The bank's clock counts microseconds exactly, and moves."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provider_adapters.testing.bank import clock
from provider_adapters.testing.bank.clock import BankClock
from provider_adapters.testing.bank.messages import Refusal
from tests.unit.provider_adapters.testing.bank.conftest import START
from tests.world.tables import cases


@pytest.mark.parametrize("offset_s", [0, 0.5, -3600, 86400.25])
def test_the_clock_is_the_wall_clock_and_an_offset(wall, offset_s):
    moved = BankClock(wall)

    moved.move(offset_s)

    assert (moved.now() - START).total_seconds() == offset_s
    assert moved.offset_s == offset_s


@pytest.mark.parametrize("offset_s", [float("inf"), float("nan"), 1e300, -1e300])
def test_an_offset_beyond_sense_is_refused(wall, offset_s):
    with pytest.raises(Refusal, match="hundred years"):
        BankClock(wall).move(offset_s)


@given(st.datetimes(datetime(1900, 1, 1), datetime(9000, 1, 1)))  # noqa: DTZ001 - made aware below
def test_an_instant_survives_being_stored(naive):
    moment = naive.replace(tzinfo=UTC)

    assert clock.from_micros(clock.to_micros(moment)) == moment


def test_an_instant_is_shown_in_utc_with_milliseconds():
    assert clock.show(clock.to_micros(START)) == "2026-11-20T13:40:11.123Z"


def test_what_is_shown_can_be_read():
    assert clock.read("2026-11-20T13:40:11.123Z") == clock.to_micros(START) - 456


def test_another_zone_is_the_same_instant():
    assert clock.read("2026-11-20T10:00:00-03:00") == clock.read("2026-11-20T13:00:00Z")


@cases("text", ["", "yesterday", "2026-11-20T10:00:00", "2026-13-01T00:00:00Z"])
def test_what_is_no_instant_is_refused(text):
    with pytest.raises(Refusal, match="instant"):
        clock.read(text)


def test_a_day_ends_three_hours_after_that_of_utc():
    late = clock.to_micros(datetime(2026, 11, 23, 1, 30, 5, tzinfo=UTC))
    day = date(2026, 11, 22)

    assert clock.day_of(late) == "2026-11-22"
    assert clock.local_time(late) == "2026-11-22T22:30:05"
    assert clock.midnight(day) == clock.to_micros(datetime(2026, 11, 22, 3, tzinfo=UTC))
    assert clock.midnight(day, 1) - clock.midnight(day) == 86_400_000_000
