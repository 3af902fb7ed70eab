"""The routes as they were decided."""

from __future__ import annotations

import pytest

from tests.unit.gateway.http.surface import line


@pytest.mark.parametrize(
    ("name", "declared"),
    [
        ("audit", ("GET", "/audit", "audit:read", 200)),
        ("audit_export", ("GET", "/audit/export", "audit:read", 200)),
        ("audit_verify", ("GET", "/audit/proof", "audit:read", 200)),
    ],
)
def test_the_rows_are_those_decided(name: str, declared: tuple[str, str, str, int]):
    assert line(name) == declared
