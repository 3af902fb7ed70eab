"""The routes of credentials."""

from __future__ import annotations

import pytest

from gateway.core.approvals import ApprovalDocument
from tests.unit.gateway.http.surface import ROWS, line


@pytest.mark.parametrize(
    ("name", "declared"),
    [
        ("credentials", ("GET", "/credentials", "credential:read", 200)),
        ("credential", ("GET", "/credentials/{client_id}", "credential:read", 200)),
        ("credential_issue", ("POST", "/credentials", "credential:write", 201)),
        ("credential_rotate", ("POST", "/credentials/{client_id}/rotate", "credential:write", 200)),
        ("credential_limits", ("PUT", "/credentials/{client_id}/limits", "credential:write", 200)),
        ("credential_revoke", ("POST", "/credentials/{client_id}/revoke", "credential:write", 200)),
        ("approval_secret", ("POST", "/approvals/{approval_id}/secret", "credential:write", 201)),
    ],
)
def test_the_routes_are_those_decided(name: str, declared: tuple[str, str, str, int]):
    assert line(name) == declared


@pytest.mark.parametrize("name", ["credential_issue", "credential_rotate", "credential_limits"])
def test_a_change_may_wait_for_a_second_person(name: str):
    assert ROWS[f"backoffice.{name}"].also == {202: ApprovalDocument}
