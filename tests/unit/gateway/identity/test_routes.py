"""The routes of users, roles and sessions, as they are declared."""

from __future__ import annotations

import pytest

from tests.unit.gateway.http.surface import line


@pytest.mark.parametrize(
    ("name", "declared"),
    [
        ("users", ("GET", "/users", "user:read", 200)),
        ("user", ("GET", "/users/{user_id}", "user:read", 200)),
        ("user_invite", ("POST", "/users", "user:manage", 201)),
        ("user_invite_again", ("POST", "/users/{user_id}/invitation", "user:manage", 200)),
        ("user_roles", ("PUT", "/users/{user_id}/roles", "user:manage", 200)),
        ("user_companies", ("PUT", "/users/{user_id}/companies", "user:manage", 200)),
        ("user_disable", ("POST", "/users/{user_id}/disable", "user:manage", 200)),
        ("user_enable", ("POST", "/users/{user_id}/enable", "user:manage", 200)),
        ("user_rename", ("PATCH", "/users/{user_id}", "user:manage", 200)),
        ("user_unlock", ("POST", "/users/{user_id}/unlock", "user:manage", 200)),
        ("roles", ("GET", "/roles", "user:read", 200)),
        ("user_sessions", ("GET", "/users/{user_id}/sessions", "session:read", 200)),
        ("user_sessions_end", ("DELETE", "/users/{user_id}/sessions", "session:write", 200)),
        (
            "user_session_end",
            ("DELETE", "/users/{user_id}/sessions/{session_id}", "session:write", 204),
        ),
        ("user_reset_mfa", ("POST", "/users/{user_id}/reset-mfa", "user:manage", 200)),
    ],
)
def test_the_routes_are_those_decided(name: str, declared: tuple[str, str, str, int]):
    assert line(name) == declared
