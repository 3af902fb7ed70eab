"""The rows that identity and the panel share."""

from __future__ import annotations

import pytest

from gateway.core import errors
from gateway.core.storage import StoreUnavailable
from gateway.http.route import Row, code_of
from tests.world.surfaces import usual_surfaces

SURFACES = {each.name: each for each in usual_surfaces()}
ROWS = [
    row
    for name in ("identity", "panel", "keys")
    for gate in SURFACES[name].gates
    for row in gate.rows
]
TOUCHING = [row for row in ROWS if row.path not in {"/info", "/health", "/error-codes"}]


def rows_of(surface: str) -> set[tuple[str, str]]:
    return {(row.method, row.path) for gate in SURFACES[surface].gates for row in gate.rows}


def test_the_own_account_is_the_same_on_both():
    """What a token may do to it, a browser may."""
    different = {
        ("DELETE", "/auth/logout"),
        ("POST", "/auth/refresh"),
        ("GET", "/auth/session"),
        *(("GET", path) for path in ("/info", "/health", "/error-codes")),
    }

    assert rows_of("identity") - different == rows_of("panel") - {("POST", "/auth/logout")}


@pytest.mark.parametrize("row", TOUCHING, ids=lambda row: row.name)
def test_without_the_store_every_row_says_so(row: Row[object]):
    assert code_of(StoreUnavailable(), row.fails) is errors.AUTH_UNAVAILABLE


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_body_is_16_kib_at_most(row: Row[object]):
    assert row.limits.body_bytes in {0, 16 * 1024}


def test_every_name_is_of_one_row():
    assert len({row.name for row in ROWS}) == len(ROWS)
