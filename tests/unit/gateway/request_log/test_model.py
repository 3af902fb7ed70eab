"""Where a page of requests begins."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gateway.request_log.model import Cursor

CURSOR = Cursor(datetime(2026, 11, 20, 13, 31, 8, 771123, UTC), 4711)


def test_a_cursor_round_trips():
    """To the microsecond: requests of the same instant are distinguished by their number."""
    assert Cursor.read(str(CURSOR)) == CURSOR
    assert str(CURSOR) == "1795181468771123-4711"


def test_a_malformed_cursor_is_refused():
    cases = ["", "1", "1-", "-1", "1-2-3", "1.5-2", "١-2", f"{'9' * 17}-1"]

    for text in cases:
        with pytest.raises(ValueError, match=r".*"):
            Cursor.read(text)
