"""The rows of people."""

from __future__ import annotations

import pytest

from gateway.domain.identity.rights import Role
from gateway.http.backoffice.administration.users import RoleName
from tests.unit.gateway.http.backoffice.surface import line


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
        ("user_reset_mfa", ("POST", "/users/{user_id}/reset-mfa", "user:manage", 200)),
    ],
)
def test_the_rows_are_those_decided(name: str, declared: tuple[str, str, str, int]):
    assert line(name) == declared


def test_roles_have_the_names_that_are_documented():
    assert set(RoleName.__args__) == set(Role)
