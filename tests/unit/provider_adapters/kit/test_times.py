"""Times of banks: a zone that is written is heeded."""

from __future__ import annotations

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from gateway.core.windows import Window
from provider_adapters.kit.times import ends, instant, local_day, milliseconds, utc

ZONE = ZoneInfo("America/Sao_Paulo")


def test_a_time_without_a_zone_is_in_the_bank_s_zone():
    texts = {
        "2026-11-26 10:00:00": datetime(2026, 11, 26, 13, tzinfo=UTC),
        "2026-11-26T10:00:00-05:00": datetime(2026, 11, 26, 15, tzinfo=UTC),
        "2026-11-26T10:00:00Z": datetime(2026, 11, 26, 10, tzinfo=UTC),
        "2026-11-26": datetime(2026, 11, 26, 3, tzinfo=UTC),
    }

    assert {text: instant(text, ZONE) for text in texts} == texts


def test_an_instant_is_converted_to_the_bank_s_local_day():
    assert local_day("2026-11-26T01:30:00Z", ZONE) == date(2026, 11, 25)
    assert local_day("2026-11-26", ZONE) == date(2026, 11, 26)


def test_an_invalid_time_is_refused():
    with pytest.raises(ValueError, match="ontem"):
        instant("ontem", ZONE)


def test_an_instant_is_written_in_utc_with_milliseconds():
    at = datetime(2026, 1, 2, 0, 4, 5, 678901, ZONE)

    assert milliseconds(at) == "2026-01-02T03:04:05.678Z"
    assert (utc(at), utc(None)) == (at.astimezone(UTC), None)


def test_the_end_of_a_window_is_the_first_instant_after_it():
    window = Window(date(2026, 11, 1), date(2026, 11, 2))

    assert ends(window) == ("2026-11-01T00:00:00.000Z", "2026-11-03T00:00:00.000Z")
