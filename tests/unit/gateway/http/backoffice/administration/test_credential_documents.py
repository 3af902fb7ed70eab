"""Credentials as documents: what they say, and what they never say."""

from __future__ import annotations

from datetime import timedelta

from gateway.http.backoffice.administration.credential_documents import credential
from gateway.http.backoffice.administration.credentials import CredentialBody
from tests.unit.gateway.http.backoffice.registers import AdminWorld


async def test_a_wide_credential_without_an_end_asks_for_a_look(admin_world: AdminWorld):
    who, order = admin_world.staff(), CredentialBody(name="n", company_id=admin_world.ours.id)
    made = await admin_world.credentials.issue(who, order)

    shown = credential(made.credential, who)

    assert (shown["state"], shown["care"]) == ("live", "wide_for_ever")
    assert made.client_secret not in str(shown)


async def test_one_that_ends_soon_asks_for_a_look(admin_world: AdminWorld):
    who = admin_world.staff()
    ends = who.acting.now() + timedelta(days=12)
    order = CredentialBody(name="n", account_id=admin_world.account.id, expires_at=ends)

    shown = credential((await admin_world.credentials.issue(who, order)).credential, who)

    assert (shown["state"], shown["care"]) == ("live", "expires_soon")
