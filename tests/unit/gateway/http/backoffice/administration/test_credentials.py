"""The rows of credentials."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gateway.domain.requests.schemas import ReasonBody
from gateway.http.backoffice.administration.credentials import (
    CredentialBody,
    CredentialFilter,
    RotationBody,
    credential_rows,
)
from tests.unit.gateway.http.backoffice.registers import FIRST, AdminWorld, turned_down
from tests.unit.gateway.http.backoffice.surface import line

EVERY = CredentialFilter(FIRST)


@pytest.mark.parametrize(
    ("name", "declared"),
    [
        ("credentials", ("GET", "/credentials", "credential:read", 200)),
        ("credential", ("GET", "/credentials/{client_id}", "credential:read", 200)),
        ("credential_issue", ("POST", "/credentials", "credential:write", 201)),
        (
            "credential_rotate",
            ("POST", "/credentials/{client_id}/rotate", "credential:write", 200),
        ),
        (
            "credential_limits",
            ("PUT", "/credentials/{client_id}/limits", "credential:write", 200),
        ),
        (
            "approval_secret",
            ("POST", "/approvals/{approval_id}/secret", "credential:write", 201),
        ),
        (
            "credential_revoke",
            ("POST", "/credentials/{client_id}/revoke", "credential:write", 200),
        ),
    ],
)
def test_the_rows_are_those_decided(name: str, declared: tuple[str, str, str, int]):
    assert line(name) == declared


def test_every_row_has_a_failure_for_the_store(admin_world: AdminWorld):
    rows = credential_rows(admin_world.credentials)

    assert all(row.fails for row in rows)


async def test_a_credential_is_issued_rotated_and_ended_by_a_person(admin_world: AdminWorld):
    acts, who = admin_world.credentials, admin_world.staff()
    order = CredentialBody(
        name="n", account_id=admin_world.account.id, permissions=["balance:read"]
    )

    made = await acts.issue(who, order)
    client_id = made.credential.client_id
    again = await acts.rotate(who, (client_id, RotationBody(overlap_s=60)))
    ended = await acts.revoke(who, (client_id, ReasonBody(reason="left")))

    assert made.client_secret != again.client_secret
    assert ended.revoked_at is not None
    assert [act for actor, act in await admin_world.acts() if actor == "user:ana@example.com"] == [
        "credential.issued",
        "credential.rotated",
        "credential.revoked",
    ]


async def test_a_person_is_shown_their_companies_credentials_alone(admin_world: AdminWorld):
    acts = admin_world.credentials
    order = CredentialBody(name="n", company_id=admin_world.theirs.id)
    client_id = (await acts.issue(admin_world.staff(), order)).credential.client_id
    limited = admin_world.staff(admin_world.ours.id)

    refused = [
        await turned_down(acts.read(limited, client_id)),
        await turned_down(acts.rotate(limited, (client_id, RotationBody()))),
        await turned_down(acts.revoke(limited, (client_id, ReasonBody()))),
    ]

    assert refused == ["404 NOT_FOUND"] * 3
    assert (await acts.list(limited, EVERY)).listed.items == []
    assert (await acts.list(admin_world.staff(admin_world.theirs.id), EVERY)).counts.live == 1


async def test_nobody_issues_a_credential_for_what_they_do_not_see(admin_world: AdminWorld):
    acts, limited = admin_world.credentials, admin_world.staff(admin_world.ours.id)
    orders = [
        CredentialBody(name="n", company_id=admin_world.theirs.id),
        CredentialBody(name="n", account_id=admin_world.foreign.id),
        CredentialBody(name="n", company_id=admin_world.ours.id, account_id=admin_world.foreign.id),
    ]

    refused = [await turned_down(acts.issue(limited, order)) for order in orders]

    assert refused == ["400 VALIDATION_FAILED"] * 3
    assert (await acts.list(admin_world.staff(), EVERY)).listed.items == []


async def test_an_expiry_without_a_zone_is_refused(admin_world: AdminWorld):
    at = datetime(2030, 1, 1, tzinfo=UTC).replace(tzinfo=None)
    order = CredentialBody(name="n", company_id=admin_world.ours.id, expires_at=at)

    refused = await turned_down(admin_world.credentials.issue(admin_world.staff(), order))

    assert refused == "400 VALIDATION_FAILED"
