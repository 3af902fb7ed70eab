"""What must hold of every row."""

from __future__ import annotations

import pytest

from gateway.app.surfaces import described_surfaces
from gateway.config.settings import Settings
from gateway.http.checks import check_surfaces
from gateway.http.route import Row
from tests.unit.gateway.http.stage import TAKES, TAKES_BODY, row, surface


def test_our_own_rows_are_in_order():
    assert check_surfaces(described_surfaces(Settings())) == []


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (row(needs=None), "no permission"),
        (row(fails={}), "no declared failure"),
        (row(body_bytes=8, takes=TAKES), "a body without a limit, or a limit without a body"),
        (row(takes=TAKES_BODY), "a body without a limit, or a limit without a body"),
        (row(body_bytes=65), "a body larger than its surface takes"),
    ],
    ids=["open", "never fails", "limit alone", "body alone", "too large"],
)
def test_a_row_that_is_not_is_named(bad: Row[object], problem: str):
    assert check_surfaces([surface(bad)]) == [f"tests.echo: {problem}"]


def test_a_permission_that_nobody_asks_for_is_none():
    found = check_surfaces([surface(row(), policies=[])])

    assert found == ["tests.echo: a permission that no policy asks for"]


@pytest.mark.parametrize("name", ["info", "health", "error_codes"])
def test_three_rows_may_be_open(name: str):
    assert check_surfaces([surface(row(path=f"/{name}", needs=None))]) == []
