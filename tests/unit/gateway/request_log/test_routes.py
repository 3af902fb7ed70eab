"""The routes as they were decided."""

from __future__ import annotations

import pytest

from tests.unit.gateway.http.surface import line


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("requests", "/requests"),
        ("requests_summary", "/requests/summary"),
        ("requests_export", "/requests/export"),
    ],
)
def test_the_rows_are_those_decided(name: str, path: str):
    assert line(name) == ("GET", path, "request_log:read", 200)
