"""The routes as they were decided."""

from __future__ import annotations

from tests.unit.gateway.http.surface import line


def test_the_row_is_the_one_decided():
    """Of security and administration alone: it names hosts of the operator."""
    assert line("config") == ("GET", "/config", "config:read", 200)
