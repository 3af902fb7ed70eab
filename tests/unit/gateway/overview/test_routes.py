"""The routes as they were decided."""

from __future__ import annotations

from tests.unit.gateway.http.surface import line


def test_the_row():
    assert line("overview") == ("GET", "/overview", "payout:read", 200)
