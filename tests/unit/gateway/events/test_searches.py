"""The query of a feed: each parameter in its form, and which is refused first."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gateway.core.calls import RawRequest
from gateway.core.errors import ServiceError
from gateway.events.model import Cursor, EventType, Wanted
from gateway.events.searches import FEED

CURSOR = Cursor("0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c01", 7, datetime(2026, 11, 20, tzinfo=UTC))


def read(**query: str | list[str]) -> Wanted:
    given = {name: value if isinstance(value, list) else [value] for name, value in query.items()}
    return FEED.read(RawRequest(path={}, query=given))


def test_everything_may_be_absent_or_empty():
    plain = Wanted(after=None, types=frozenset(), limit=25)

    assert read() == plain
    assert read(after="", types="") == plain


def test_each_parameter_is_read():
    words = "payout.failed,payout.paid,payout.paid"
    found = read(after=str(CURSOR), types=words, limit="7", wait="25")

    types = frozenset({EventType.PAYOUT_PAID, EventType.PAYOUT_FAILED})
    assert found == Wanted(after=CURSOR, types=types, limit=7, wait_s=25)
    assert read(limit="101").limit == 100


@pytest.mark.parametrize(
    ("query", "code", "field"),
    [
        ({"after": "1"}, "SVC.VAL.011", "after"),
        ({"after": [str(CURSOR)] * 2}, "SVC.VAL.011", "after"),
        ({"types": "payout.created"}, "SVC.VAL.011", "types"),
        ({"types": "payout.paid,"}, "SVC.VAL.011", "types"),
        ({"types": "payout.paid, payout.failed"}, "SVC.VAL.011", "types"),
        ({"types": "PAYOUT_PAID"}, "SVC.VAL.011", "types"),
        ({"types": ["payout.paid", "payout.failed"]}, "SVC.VAL.011", "types"),
        ({"limit": "0"}, "SVC.VAL.009", "limit"),
        ({"limit": ""}, "SVC.VAL.009", "limit"),
        ({"limit": "1.0"}, "SVC.VAL.009", "limit"),
        ({"after": "1", "types": "x", "limit": "0"}, "SVC.VAL.011", "after"),
        ({"types": "x", "limit": "0"}, "SVC.VAL.011", "types"),
        ({"wait": "26"}, "SVC.VAL.009", "wait"),
        ({"wait": "-1"}, "SVC.VAL.009", "wait"),
        ({"wait": "1.5"}, "SVC.VAL.009", "wait"),
        ({"wait": ""}, "SVC.VAL.009", "wait"),
        ({"wait": ["1", "1"]}, "SVC.VAL.009", "wait"),
        ({"wait": "9" * 30}, "SVC.VAL.009", "wait"),
        ({"limit": "0", "wait": "x"}, "SVC.VAL.009", "limit"),
    ],
)
def test_a_malformed_query_is_refused(query: dict[str, str | list[str]], code: str, field: str):
    with pytest.raises(ServiceError) as refused:
        read(**query)

    assert (refused.value.error.code, refused.value.field) == (code, field)
