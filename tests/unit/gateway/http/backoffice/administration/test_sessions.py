"""Sign-ins of other users."""

from __future__ import annotations

import pytest

from tests.unit.gateway.http.backoffice.surface import line


@pytest.mark.parametrize(
    ("name", "declared"),
    [
        ("user_sessions", ("GET", "/users/{user_id}/sessions", "session:read", 200)),
        ("user_sessions_end", ("DELETE", "/users/{user_id}/sessions", "session:write", 200)),
        (
            "user_session_end",
            ("DELETE", "/users/{user_id}/sessions/{session_id}", "session:write", 204),
        ),
    ],
)
def test_the_rows_are_those_decided(name: str, declared: tuple[str, str, str, int]):
    assert line(name) == declared
