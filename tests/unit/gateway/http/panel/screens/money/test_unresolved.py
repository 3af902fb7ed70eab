"""Of many unresolved payouts a page shows some, and leads to the others."""

from __future__ import annotations

import pytest

from gateway.http.panel.screens.money.unresolved import _paged
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
def test_each_page_is_cut_and_leads_to_those_beside_it(page, first, newer, older):
    rows = [{"place": place} for place in range(100)]

    shown = _paged(visit({"page": [page]}), rows)

    assert [each["place"] for each in shown["items"]] == list(range(100))[first : first + 30]
    assert (shown["newer"], shown["older"]) == (newer, older)


def test_a_page_that_is_gone_is_the_last_one():
    shown = _paged(visit({"page": ["3"]}), [{}] * 31)

    assert len(shown["items"]) == 1
