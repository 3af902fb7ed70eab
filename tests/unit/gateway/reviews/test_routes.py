"""The rows of reviews."""

from __future__ import annotations

import pytest

from tests.unit.gateway.http.surface import line


@pytest.mark.parametrize(
    ("name", "declared"),
    [
        ("reviews", ("GET", "/reviews", "review:read", 200)),
        ("unresolved", ("GET", "/unresolved", "review:read", 200)),
        ("review_judge", ("POST", "/reviews", "review:write", 200)),
        ("review_withdraw", ("POST", "/reviews/withdraw", "review:write", 200)),
        ("unresolved_probe", ("POST", "/unresolved/probe", "probe:write", 200)),
    ],
)
def test_the_rows_are_those_decided(name: str, declared: tuple[str, str, str, int]):
    assert line(name) == declared
