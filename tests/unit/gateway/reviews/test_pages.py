"""Of many unresolved payouts a page shows some, and leads to the others."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from gateway.reviews.pages import _chosen, _paged
from policies.validation.forms import Form
from tests.unit.gateway.http.panel.pages.visit import visit


@pytest.mark.parametrize(
    ("page", "first", "newer", "older"),
    [
        ("", 0, "", "/panel?page=2"),
        ("2", 30, "/panel?page=1", "/panel?page=3"),
        ("4", 90, "/panel?page=3", ""),
        ("9", 0, "", "/panel?page=2"),
        ("\u0663", 0, "", "/panel?page=2"),
        ("-1", 0, "", "/panel?page=2"),
    ],
)
def test_each_review_page_links_to_its_neighbours(page, first, newer, older):
    rows: Any = [{"place": place} for place in range(100)]

    shown = _paged(visit({"page": [page]}), rows)

    assert [each["place"] for each in shown["items"]] == list(range(100))[first : first + 30]
    assert (shown["newer"], shown["older"]) == (newer, older)


def test_a_page_beyond_the_end_shows_the_last_page():
    shown = _paged(visit({"page": ["3"]}), [{}] * 31)

    assert len(shown["items"]) == 1


ROWS: Any = [
    SimpleNamespace(account_id="a", reference="old", review=False),
    SimpleNamespace(account_id="a", reference="judged", review=True),
    SimpleNamespace(account_id="b", reference="old", review=False),
]


def test_the_oldest_payout_awaiting_people_is_selected_first():
    assert _chosen(visit(), ROWS) == ROWS[1]
    assert _chosen(visit(), ROWS[:1]) == ROWS[0]


def test_a_form_for_one_payout_does_not_judge_another():
    """The payout was settled meanwhile, and no other may take its place."""
    looked = visit({"account": ["b"], "reference": ["old"]})
    assert _chosen(looked, ROWS) == ROWS[2]

    looked.form = Form({"account_id": ("b",), "reference": ("gone",)})

    assert _chosen(looked, ROWS) is None
