"""Cursors and ids of events, as callers get and give them."""

from __future__ import annotations

import base64
import itertools
import re
import uuid
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.events.model import FEED_KEPT, Cursor, new_event_id, place

NOW = datetime(2026, 11, 20, 12, 30, 15, tzinfo=UTC)
ACCOUNT = "0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c01"
INSTANTS = st.datetimes(datetime(1970, 1, 1), datetime(2106, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - of no zone yet
CURSORS = st.builds(Cursor, st.uuids().map(str), st.integers(0, 2**63 - 1), INSTANTS)


@given(CURSORS)
def test_a_cursor_comes_back_as_it_was_written_to_the_second(cursor: Cursor):
    read = Cursor.parse(str(cursor))

    assert (read.account_id, read.position) == (cursor.account_id, cursor.position)
    assert read.at == cursor.at.replace(microsecond=0)
    assert re.fullmatch(r"[A-Za-z0-9_-]{38}", str(cursor))


@given(st.text())
def test_any_text_is_the_cursor_that_writes_it_or_refused(text: str):
    try:
        cursor = Cursor.parse(text)
    except ValueError:
        return
    assert str(cursor) == text


def test_an_invalid_cursor_is_refused():
    right = str(Cursor(ACCOUNT, 7, NOW))
    beyond = uuid.UUID(ACCOUNT).bytes + b"\xff" * 8 + b"\0" * 4
    last = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    wrong = [
        *("", "0", "next", " ", right[:-1], right + "A", right + "=", f" {right}", right + "\n"),
        *(right.replace(right[0], sign, 1) for sign in "+/é=\ud800"),
        # bits behind the last byte
        *(right[:-1] + each for each in last if each != right[-1] and int(last.index(each)) % 16),
        base64.urlsafe_b64encode(beyond).rstrip(b"=").decode(),
    ]

    for text in wrong:
        with pytest.raises(ValueError, match=r"^$|."):
            Cursor.parse(text)


def test_a_place_at_the_oldest_events_is_good_for_a_day():
    oldest = NOW - FEED_KEPT

    assert place(ACCOUNT, 1, oldest, NOW).at == oldest + timedelta(days=1)
    assert place(ACCOUNT, 1, NOW - timedelta(days=5), NOW).at == NOW - timedelta(days=5)


def test_ids_of_events_have_128_random_bits():
    counted = itertools.count()

    made = [new_event_id(lambda size: next(counted).to_bytes(size)) for _ in range(2)]

    assert made == ["evt_" + "0" * 32, "evt_" + "0" * 31 + "1"]
