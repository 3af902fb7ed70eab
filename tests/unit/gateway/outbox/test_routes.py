"""The routes as they were decided."""

from __future__ import annotations

from tests.unit.gateway.http.surface import line


def test_the_row_is_the_one_decided():
    assert line("outbox") == ("GET", "/outbox", "outbox:read", 200)
