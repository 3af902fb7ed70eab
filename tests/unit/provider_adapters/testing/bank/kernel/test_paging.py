"""Lists by cursor miss nothing and show nothing twice."""

from __future__ import annotations

import base64
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provider_adapters.testing.bank.kernel import paging
from provider_adapters.testing.bank.kernel.paging import Slice
from provider_adapters.testing.bank.kernel.refusals import Refusal
from tests.world.tables import cases

PLACES = st.lists(st.integers(-5, 5), max_size=30).map(
    lambda instants: sorted(((at, seq) for seq, at in enumerate(instants)), reverse=True)
)


@given(places=PLACES, limit=st.integers(1, 7))
def test_page_by_page_is_everything_once(places, limit):
    """Many items of one instant included: the row number breaks the tie."""
    wanted, seen = Slice(limit=limit), []

    while True:
        rows = [place for place in places if place < wanted.before][: limit + 1]
        page = paging.cut(rows, rows, limit)
        seen += page.items
        if page.cursor is None:
            break
        wanted = replace(wanted, before=paging.read_slice({"cursor": page.cursor}).before)

    assert seen == places


def test_nothing_asked_is_everything():
    wanted = paging.read_slice({})

    assert wanted == Slice()
    assert wanted.values("cc_1")[0] == "cc_1"
    assert wanted.values("cc_1")[-2:] == (101, 0)


def test_a_window_is_half_open_instants():
    wanted = paging.read_slice({"de": "1970-01-01T00:00:01Z", "ate": "1970-01-01T00:00:02Z"})

    assert (wanted.since, wanted.until) == (1_000_000, 2_000_000)


@cases(
    "query",
    [
        {"limite": "0"},
        {"limite": "501"},
        {"limite": "-1"},
        {"limite": "٣"},
        {"limite": ""},
        {"de": "today"},
        {"ate": "2026-11-20"},
        {"cursor": "5:5"},
        {"cursor": "é"},
        {"cursor": base64.urlsafe_b64encode(b"\xff").decode()},
        {"cursor": base64.urlsafe_b64encode(b"1;2").decode()},
    ],
)
def test_what_is_not_understood_is_refused(query):
    with pytest.raises(Refusal) as refused:
        paging.read_slice(query)

    assert refused.value.code == "INVALID_REQUEST"
