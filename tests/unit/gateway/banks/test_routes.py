"""The routes as they were decided."""

from __future__ import annotations

import pytest

from tests.unit.gateway.http.surface import line


@pytest.mark.parametrize(
    ("name", "path", "right"),
    [
        ("providers", "/providers", "provider:read"),
        ("weather", "/weather", "provider:read"),
        ("provider_weather", "/providers/{provider}/weather", "provider:read"),
        ("readings", "/readings", "balance:read"),
    ],
)
def test_the_rows(name: str, path: str, right: str):
    assert line(name) == ("GET", path, right, 200)
