"""A browser from its first page to signing out."""

from __future__ import annotations

import re

import pytest

from gateway.app.store import Store
from gateway.core.browsers import PanelState
from tests.world.gateway.identity_api import COOKIE, ApiClient, BrowserClient
from tests.world.identity import EMAIL, PASSWORD

BOTH = pytest.mark.parametrize("kind", ["sqlite", "postgres"])
SECRETS = ("access", "refresh_token", "mfa_token")
JWT = re.compile(rb"eyJ[\w-]+\.eyJ[\w-]+\.")
"""Two parts at least: three letters alone stand in random bytes by chance."""


@BOTH
async def test_a_session_from_the_first_page_to_the_sign_out(api_client: ApiClient, maria):
    """Password, code, session, sign-out; each answer contains only what a page may know."""
    await api_client.identity_world.enrol()
    browser = await api_client.open_browser()

    before = await browser.load_session()
    asked = await browser.post("/panel/auth/login", {"email": EMAIL, "password": PASSWORD})
    pending = await browser.load_session()
    given = await browser.post("/panel/auth/mfa", {"code": api_client.identity_world.code()})
    seated = await browser.load_session()
    listed = await browser.get("/panel/auth/sessions")
    left = await browser.post("/panel/auth/logout")

    assert set(before) == {"authenticated", "mfa_required", "csrf_token", "environment"}
    assert (before["authenticated"], before["mfa_required"]) == (False, False)
    assert (pending["authenticated"], pending["mfa_required"]) == (False, True)
    assert set(pending) == set(before)
    assert seated == given.document
    assert set(seated) == set(before) | {
        *("user", "roles", "permissions", "company", "mfa"),
        *("expires_at", "idle_expires_at", "session_id"),
    }
    assert listed.document["data"][0]["id"] == seated["session_id"]
    assert left.status == 204
    assert left.headers["Clear-Site-Data"] == '"cache", "storage"'
    assert browser.cookie == ""
    for answer in (asked, given, listed, left):
        assert not any(word.encode() in answer.body for word in SECRETS)
        assert JWT.search(answer.body) is None


async def test_the_session_document_describes_the_signed_in_user(api_client: ApiClient, maria):
    await api_client.identity_world.enrol()
    browser = await api_client.open_browser()
    await browser.sign_in()

    seen = await browser.load_session()

    now = int(api_client.clock.now().timestamp())
    assert seen["user"] == {"id": maria.id, "name": "Maria", "email": EMAIL}
    assert seen["roles"] == ["admin"]
    assert {"credential:manage", "account:read"} <= set(seen["permissions"])
    assert seen["company"] is None
    assert seen["mfa"] == {
        "enrolled": True,
        "verified_at": now,
        "recovery_codes_left": 10,
        "required": False,
    }
    assert seen["expires_at"] == now + 8 * 3600
    assert seen["idle_expires_at"] == now + 900
    assert re.fullmatch(r"[0-9a-f]{12}", seen["session_id"])
    assert seen["environment"] == "sandbox"


async def test_a_dump_of_the_store_holds_no_token_and_no_cookie(
    api_client: ApiClient, store: Store, maria, tmp_path
):
    """And what is sealed there does not open without the cookie."""
    browser = await api_client.signed_in_browser()
    name, _, secret = browser.cookie.partition(".")

    dump = b"".join(each.read_bytes() for each in tmp_path.glob("store.db*"))
    (panel,) = await store.identity.panels.of(maria.id)

    assert panel.state is PanelState.FULL
    for text in (name, secret):
        assert text.encode() not in dump
    assert JWT.search(dump) is None


async def test_a_cookie_is_not_accepted_as_a_bearer_nor_the_reverse(api_client: ApiClient, maria):
    browser = await api_client.signed_in_browser()
    token = (await api_client.sign_in())["access_token"]

    by_cookie = await api_client.ask(
        "GET", "/iam/v1/auth/sessions", headers={"Cookie": f"{COOKIE}={browser.cookie}"}
    )
    by_bearer = await BrowserClient(api_client).get(
        "/panel/auth/sessions", Authorization=f"Bearer {token}"
    )

    assert by_cookie.verdict == (401, "TOKEN_INVALID")
    assert by_bearer.verdict == (401, "SESSION_REQUIRED")


async def test_each_step_of_authentication_gives_a_new_cookie_and_voids_the_old(
    api_client: ApiClient, maria
):
    """
    Before and after the password, after the code, and after stepping up (fixation).

    The last old cookie may be used for reading for half a minute, and changes nothing.
    """
    await api_client.identity_world.enrol()
    browser = await api_client.open_browser()
    cookies, tokens = [browser.cookie], [browser.csrf]

    async def rises(path: str, document: object) -> None:
        assert (await browser.post(path, document)).status == 200
        cookies.append(browser.cookie)
        tokens.append(browser.csrf)

    await rises("/panel/auth/login", {"email": EMAIL, "password": PASSWORD})
    await rises("/panel/auth/mfa", {"code": api_client.identity_world.code()})
    api_client.clock.passes(30)
    await rises("/panel/auth/step-up", {"code": api_client.identity_world.code()})

    assert len(set(cookies)) == len(set(tokens)) == 4
    assert (await browser.get("/panel/auth/sessions")).status == 200
    late = BrowserClient(api_client, cookies[-2], tokens[-2])
    assert (await late.get("/panel/auth/sessions")).status == 200
    assert late.cookie == cookies[-2]
    for token in tokens[-2:]:
        writes = BrowserClient(api_client, cookies[-2], token)
        answer = await writes.post("/panel/auth/step-up", {"code": "123456"})
        assert answer.verdict == (401, "SESSION_REQUIRED")
    api_client.clock.passes(30)
    for old in cookies[:-1]:
        answer = await BrowserClient(api_client, old).get("/panel/auth/sessions")
        assert answer.verdict == (401, "SESSION_REQUIRED")
    assert (await browser.get("/panel/auth/sessions")).status == 200
