"""What people do to their own account by an access token."""

from __future__ import annotations

import re

from gateway.core.rights import Role
from gateway.identity.model import InvitationBody
from tests.world.gateway.identity_api import ApiClient
from tests.world.identity import EMAIL, PASSWORD
from tests.world.people import CLI

NEW = "outra frase bem comprida"


async def test_sessions_are_listed_and_ended(api_client: ApiClient, maria):
    """Each by the id that the list shows; one that has ended is not found."""
    first = await api_client.sign_in()
    api_client.clock.passes(1)
    token = (await api_client.sign_in())["access_token"]

    listed = (await api_client.ask("GET", "/iam/v1/auth/sessions", token=token)).document["data"]
    other = next(each for each in listed if not each["current"])
    path = f"/iam/v1/auth/sessions/{other['id']}"
    ended = await api_client.ask("DELETE", path, token=token)
    again = await api_client.ask("DELETE", path, token=token)

    assert [each["current"] for each in listed] == [False, True]
    assert all(re.fullmatch(r"[0-9a-f]{12}", each["id"]) for each in listed)
    assert ended.status == 204
    assert again.verdict == (404, "NOT_FOUND")
    dead = await api_client.ask("GET", "/iam/v1/auth/sessions", token=first["access_token"])
    assert dead.verdict == (401, "TOKEN_INVALID")


async def test_a_session_of_somebody_else_is_not_found(api_client: ApiClient, maria):
    await api_client.identity_world.person("joao@example.com")
    theirs = (await api_client.sign_in("joao@example.com"))["access_token"]
    mine = (await api_client.sign_in())["access_token"]
    shown = (await api_client.ask("GET", "/iam/v1/auth/sessions", token=theirs)).document["data"]

    answer = await api_client.ask("DELETE", f"/iam/v1/auth/sessions/{shown[0]['id']}", token=mine)

    assert answer.verdict == (404, "NOT_FOUND")


async def test_all_other_sessions_are_ended_at_once(api_client: ApiClient, maria):
    others = [await api_client.sign_in() for _ in range(3)]
    token = (await api_client.sign_in())["access_token"]

    assert (await api_client.ask("DELETE", "/iam/v1/auth/sessions", token=token)).status == 204

    listed = await api_client.ask("GET", "/iam/v1/auth/sessions", token=token)
    assert listed.document["meta"] == {"total": 1}
    for each in others:
        dead = await api_client.ask("GET", "/iam/v1/auth/sessions", token=each["access_token"])
        assert dead.status == 401


async def test_the_sixth_session_ends_the_first(api_client: ApiClient, maria):
    first = await api_client.sign_in()
    api_client.clock.passes(1)
    for _ in range(5):
        await api_client.sign_in()

    dead = await api_client.ask("GET", "/iam/v1/auth/sessions", token=first["access_token"])

    assert dead.verdict == (401, "TOKEN_INVALID")


async def test_a_password_is_changed_by_the_present_one(api_client: ApiClient, maria):
    """Every session ends, this one too."""
    token = (await api_client.sign_in())["access_token"]
    path = "/iam/v1/auth/password/change"
    wrong = {"current_password": "not this one", "new_password": NEW}
    right = {"current_password": PASSWORD, "new_password": NEW}
    weak = {"current_password": PASSWORD, "new_password": "short"}

    refused = await api_client.ask("POST", path, wrong, token=token)
    too_weak = await api_client.ask("POST", path, weak, token=token)
    changed = await api_client.ask("POST", path, right, token=token)

    assert refused.verdict == (401, "INVALID_CREDENTIALS")
    assert too_weak.verdict == (400, "VALIDATION_FAILED")
    assert "at least 12 characters" in too_weak.document["message"]
    assert changed.status == 204
    assert (await api_client.ask("GET", "/iam/v1/auth/sessions", token=token)).status == 401
    assert (await api_client.login()).status == 401
    assert (await api_client.login(password=NEW)).status == 200


async def test_a_password_is_reset_by_the_link_of_a_mail(api_client: ApiClient, maria):
    """Once; nobody is signed in by it, and the second factor is still asked for."""
    await api_client.identity_world.enrol()
    before = await api_client.sign_in()
    api_client.clock.passes(30)
    await api_client.ask("POST", "/iam/v1/auth/password/forgot", {"email": EMAIL})
    await api_client.send_reset_links()
    body = {"token": await api_client.identity_world.link(), "password": NEW}

    done = await api_client.ask("POST", "/iam/v1/auth/password/reset", body)
    again = await api_client.ask("POST", "/iam/v1/auth/password/reset", body)

    assert (done.status, done.body) == (204, b"")
    assert "Set-Cookie" not in done.headers
    assert again.verdict == (400, "VALIDATION_FAILED")
    dead = await api_client.ask("GET", "/iam/v1/auth/sessions", token=before["access_token"])
    assert dead.status == 401
    assert (await api_client.login(password=NEW)).document["mfa_required"]


async def test_a_link_is_built_from_the_configured_origin(api_client: ApiClient, maria):
    """A Host of the caller's choosing changes nothing."""
    await api_client.ask(
        "POST",
        "/iam/v1/auth/password/forgot",
        {"email": EMAIL},
        headers={"X-Forwarded-Host": "evil.example", "Host": "evil.example"},
    )

    await api_client.send_reset_links()
    (mail,) = await api_client.identity_world.mails()
    assert "https://pix.example/panel/reset?token=" in mail
    assert "evil" not in mail


async def test_an_invitation_is_accepted(api_client: ApiClient, maria):
    order = InvitationBody(email="ana@example.com", name="Ana", roles=[Role.VIEWER])
    await api_client.identity_world.services.users.invite(CLI, order)
    body = {"token": await api_client.identity_world.link("ana@example.com"), "password": NEW}

    before = await api_client.login("ana@example.com", NEW)
    accepted = await api_client.ask("POST", "/iam/v1/auth/invitations/accept", body)

    assert before.status == 401
    assert accepted.status == 204
    assert (await api_client.login("ana@example.com", NEW)).document["user"]["roles"] == ["viewer"]


async def test_a_factor_is_enrolled_by_password_and_code(api_client: ApiClient, maria):
    """Ten recovery codes come with it; every session ends."""
    token = (await api_client.sign_in())["access_token"]
    wrong = await api_client.ask("POST", "/iam/v1/auth/totp", {"password": "not this"}, token=token)
    begun = await api_client.ask("POST", "/iam/v1/auth/totp", {"password": PASSWORD}, token=token)
    api_client.identity_world.secrets[EMAIL] = begun.document["secret"]
    bad = {"code": api_client.identity_world.wrong_code()}
    refused = await api_client.ask("POST", "/iam/v1/auth/totp/confirm", bad, token=token)
    code = {"code": api_client.identity_world.code()}
    confirmed = await api_client.ask("POST", "/iam/v1/auth/totp/confirm", code, token=token)

    assert wrong.verdict == (401, "INVALID_CREDENTIALS")
    assert begun.document["otpauth_uri"].startswith("otpauth://totp/")
    assert begun.document["qr_svg"].startswith("<svg xmlns=")
    assert refused.verdict == (401, "MFA_INVALID")
    assert len(confirmed.document["recovery_codes"]) == 10
    assert (await api_client.ask("GET", "/iam/v1/auth/sessions", token=token)).status == 401


async def test_a_factor_is_removed_by_a_fresh_code(api_client: ApiClient, maria):
    """As recovery codes are made anew by one."""
    await api_client.identity_world.enrol()
    token = (await api_client.sign_in())["access_token"]
    api_client.clock.passes(301)
    stale = await api_client.ask("DELETE", "/iam/v1/auth/totp", token=token)
    fresh = {"code": api_client.identity_world.code()}
    stepped = await api_client.ask("POST", "/iam/v1/auth/step-up", fresh, token=token)
    renewed = await api_client.ask("POST", "/iam/v1/auth/recovery-codes", token=token)
    removed = await api_client.ask("DELETE", "/iam/v1/auth/totp", token=token)

    assert stale.verdict == (403, "STEP_UP_REQUIRED")
    assert stepped.document == {"expires_at": int(api_client.clock.now().timestamp()) + 300}
    assert len(renewed.document["recovery_codes"]) == 10
    assert removed.status == 204
    assert "access_token" in (await api_client.login()).document


async def test_who_has_no_factor_cannot_step_up(api_client: ApiClient, maria):
    token = (await api_client.sign_in())["access_token"]

    answer = await api_client.ask("POST", "/iam/v1/auth/step-up", {"code": "123456"}, token=token)

    assert answer.verdict == (403, "STEP_UP_REQUIRED")


async def test_a_second_factor_is_not_enrolled_over_the_first(api_client: ApiClient, maria):
    await api_client.identity_world.enrol()
    token = (await api_client.sign_in())["access_token"]

    answer = await api_client.ask("POST", "/iam/v1/auth/totp", {"password": PASSWORD}, token=token)

    assert answer.verdict == (400, "VALIDATION_FAILED")
