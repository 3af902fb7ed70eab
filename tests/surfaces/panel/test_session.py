"""A browser from its first page to signing out."""

from __future__ import annotations

import re

import pytest

from gateway.app.store import Store
from gateway.core.browsers import PanelState
from gateway.core.schemas import ReasonBody
from gateway.identity.model import RolesBody
from tests.world.gateway.identity_api import (
    COOKIE,
    ApiClient,
    BrowserClient,
    api_client_on,
    at_once,
)
from tests.world.identity import EMAIL, PASSWORD
from tests.world.people import CLI

BOTH = pytest.mark.parametrize("kind", ["sqlite", "postgres"])
SECRETS = ("access", "refresh_token", "mfa_token")
JWT = re.compile(rb"eyJ[\w-]+\.eyJ[\w-]+\.")
"""Two parts at least: three letters alone stand in random bytes by chance."""


@BOTH
async def test_from_the_first_page_to_signing_out(api_client: ApiClient, maria):
    """Password, code, session, sign-out; each answer says what a page may know, and no more."""
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


async def test_what_a_page_knows_of_who_is_signed_in(api_client: ApiClient, maria):
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


@pytest.mark.parametrize(
    "cookie",
    [
        "",
        "nonsense",
        "AAAAAAAAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAA",
        "AAAAAAAAAAAAAAAAAAAAAA",
        "a" * 4000,
        '"quoted"',
    ],
)
async def test_a_cookie_that_stands_for_nothing_begins_anew(api_client: ApiClient, cookie: str):
    """Always 200, with a cookie of ours: a planted one is never taken."""
    browser = BrowserClient(api_client, cookie)

    seen = await browser.load_session()

    assert seen["authenticated"] is False
    assert browser.cookie not in {"", cookie}


async def test_the_id_half_of_a_cookie_opens_nothing(api_client: ApiClient, maria):
    """Who reads the store, or sees half of it, is a stranger; the session goes on."""
    browser = await api_client.signed_in_browser()
    name, _, _ = browser.cookie.partition(".")
    thief = BrowserClient(api_client, f"{name}.AAAAAAAAAAAAAAAAAAAAAA")

    answer = await thief.get("/panel/auth/sessions")

    assert answer.verdict == (401, "SESSION_REQUIRED")
    assert (await browser.get("/panel/auth/sessions")).status == 200


async def test_a_dump_of_the_store_holds_no_token_and_no_cookie(
    api_client: ApiClient, store: Store, maria, tmp_path
):
    """Nor does what is sealed there open without the cookie."""
    browser = await api_client.signed_in_browser()
    name, _, secret = browser.cookie.partition(".")

    dump = b"".join(each.read_bytes() for each in tmp_path.glob("store.db*"))
    (panel,) = await store.identity.panels.of(maria.id)

    assert panel.state is PanelState.FULL
    for text in (name, secret):
        assert text.encode() not in dump
    assert JWT.search(dump) is None


async def test_two_cookies_of_the_name_are_none(api_client: ApiClient, maria):
    """One of them was planted, and nobody can tell which."""
    browser = await api_client.signed_in_browser()
    line = f"{COOKIE}={browser.cookie}; {COOKIE}=AAAAAAAAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAA"

    answer = await BrowserClient(api_client).get("/panel/auth/sessions", Cookie=line)

    assert answer.verdict == (401, "SESSION_REQUIRED")


async def test_a_cookie_is_no_bearer_and_a_bearer_no_cookie(api_client: ApiClient, maria):
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


async def test_each_rise_gives_a_new_cookie_and_voids_the_old(api_client: ApiClient, maria):
    """
    Before the password, after it, after the code, after stepping up (fixation).

    The last of the old ones is read for half a minute more, and changes nothing.
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


@BOTH
async def test_calls_whose_answer_was_lost_get_one_new_cookie(
    api_client: ApiClient, store: Store, maria
):
    """At once, at two nodes; the code that was given counts no longer."""
    await api_client.identity_world.enrol()
    browser = await api_client.signed_in_browser()
    old, csrf = browser.cookie, browser.csrf
    api_client.clock.passes(30)
    code = {"code": api_client.identity_world.code()}
    assert (await browser.post("/panel/auth/step-up", code)).status == 200

    async with api_client_on(store, api_client.clock) as other:
        tabs = [BrowserClient(node, old, csrf) for node in (api_client, other) for _ in range(5)]
        answers = await at_once(*(tab.get("/panel/auth/sessions") for tab in tabs))

    assert {each.status for each in answers} == {200}
    assert {tab.cookie for tab in tabs} == {browser.cookie}
    assert (await browser.load_session())["mfa"]["verified_at"] is None


async def test_between_password_and_code_nothing_else_works(api_client: ApiClient, maria):
    await api_client.identity_world.enrol()
    browser = await api_client.open_browser()
    await browser.post("/panel/auth/login", {"email": EMAIL, "password": PASSWORD})

    for method, path, body in (
        ("DELETE", "/panel/auth/sessions", None),
        ("POST", "/panel/auth/step-up", {"code": "123456"}),
        ("POST", "/panel/auth/totp", {"password": PASSWORD}),
        ("POST", "/panel/auth/recovery-codes", None),
    ):
        answer = await browser.post(path, body, method=method)
        assert answer.verdict == (401, "SESSION_REQUIRED")
    assert (await browser.get("/panel/auth/sessions")).verdict == (401, "SESSION_REQUIRED")


async def test_a_challenge_belongs_to_its_browser(api_client: ApiClient, maria):
    """A code given in another one, or where none was asked for, is for nothing."""
    await api_client.identity_world.enrol()
    browser, other = await api_client.open_browser(), await api_client.open_browser()
    await browser.post("/panel/auth/login", {"email": EMAIL, "password": PASSWORD})

    refused = await other.post("/panel/auth/mfa", {"code": api_client.identity_world.code()})

    assert refused.verdict == (401, "MFA_EXPIRED")
    assert (
        await browser.post("/panel/auth/mfa", {"code": api_client.identity_world.code()})
    ).status == 200


async def test_after_five_guesses_or_five_minutes_it_begins_anew(api_client: ApiClient, maria):
    await api_client.identity_world.enrol()
    browser = await api_client.open_browser()
    login = {"email": EMAIL, "password": PASSWORD}
    await browser.post("/panel/auth/login", login)
    wrong = {"code": api_client.identity_world.wrong_code()}

    guesses = [(await browser.post("/panel/auth/mfa", wrong)).verdict for _ in range(6)]
    await browser.post("/panel/auth/login", login)
    api_client.clock.passes(301)
    late = await browser.post("/panel/auth/mfa", {"code": api_client.identity_world.code()})

    assert guesses == [(401, "MFA_INVALID")] * 5 + [(401, "MFA_EXPIRED")]
    assert late.verdict == (403, "CSRF_FAILED")
    assert (await browser.load_session())["mfa_required"] is False


async def test_signing_in_again_ends_the_sign_in_before(api_client: ApiClient, maria):
    browser = await api_client.signed_in_browser()
    await browser.sign_in()

    listed = await browser.get("/panel/auth/sessions")

    assert listed.document["meta"] == {"total": 1}


async def test_signing_out_twice_is_no_mistake(api_client: ApiClient, maria):
    browser = await api_client.signed_in_browser()
    cookie, csrf = browser.cookie, browser.csrf

    first = await browser.post("/panel/auth/logout")
    again = await BrowserClient(api_client, cookie, csrf).post("/panel/auth/logout")

    assert (first.status, again.status) == (204, 204)
    answer = await BrowserClient(api_client, cookie).get("/panel/auth/sessions")
    assert answer.verdict == (401, "SESSION_REQUIRED")


async def test_signing_out_needs_the_token_of_the_session(api_client: ApiClient, maria):
    browser = await api_client.signed_in_browser()

    forged = await BrowserClient(api_client, browser.cookie, "made up").post("/panel/auth/logout")

    assert forged.verdict == (403, "CSRF_FAILED")
    assert (await browser.get("/panel/auth/sessions")).status == 200


@pytest.mark.parametrize("how", ["disabled", "roles", "sessions ended", "password"])
async def test_what_ends_a_person_s_sessions_is_felt_with_the_next_call(
    api_client: ApiClient, maria, how: str
):
    browser = await api_client.signed_in_browser()
    api_client.clock.passes(1)
    users = api_client.identity_world.services.users
    if how == "disabled":
        await users.disable(CLI, maria.id, ReasonBody())
    elif how == "roles":
        await users.set_roles(CLI, maria.id, RolesBody(list(maria.roles)))
    elif how == "sessions ended":
        await users.end_sessions(CLI, maria.id)
    else:
        change = {"current_password": PASSWORD, "new_password": "outra frase bem comprida"}
        assert (await browser.post("/panel/auth/password/change", change)).status == 204

    seen = await BrowserClient(api_client, browser.cookie).load_session()
    answer = await browser.get("/panel/auth/sessions")

    assert seen["authenticated"] is False
    assert answer.verdict == (401, "SESSION_REQUIRED")


async def test_the_sixth_browser_ends_the_first(api_client: ApiClient, maria):
    first = await api_client.signed_in_browser()
    api_client.clock.passes(1)
    others = [await api_client.signed_in_browser() for _ in range(5)]

    assert (await first.get("/panel/auth/sessions")).verdict == (401, "SESSION_REQUIRED")
    for browser in others:
        assert (await browser.get("/panel/auth/sessions")).status == 200


async def test_a_browser_is_ended_from_another(api_client: ApiClient, maria):
    """By the id that the list shows."""
    first = await api_client.signed_in_browser()
    api_client.clock.passes(1)
    second = await api_client.signed_in_browser()
    listed = (await second.get("/panel/auth/sessions")).document["data"]

    path = f"/panel/auth/sessions/{listed[0]['id']}"
    ended = await second.post(path, method="DELETE")

    assert ended.status == 204
    assert (await first.get("/panel/auth/sessions")).verdict == (401, "SESSION_REQUIRED")


async def test_a_factor_is_enrolled_from_the_panel(api_client: ApiClient, maria):
    """Which ends the session: the next sign-in asks for a code."""
    browser = await api_client.signed_in_browser()
    begun = await browser.post("/panel/auth/totp", {"password": PASSWORD})
    api_client.identity_world.secrets[EMAIL] = begun.document["secret"]

    confirmed = await browser.post(
        "/panel/auth/totp/confirm", {"code": api_client.identity_world.code()}
    )

    assert len(confirmed.document["recovery_codes"]) == 10
    assert browser.cookie == ""
    api_client.clock.passes(30)
    await browser.load_session()
    assert (await browser.sign_in())["mfa"]["enrolled"] is True


async def test_a_password_is_reset_from_the_panel(api_client: ApiClient, maria):
    """Nobody is signed in by it."""
    browser = await api_client.open_browser()
    forgot = await browser.post("/panel/auth/password/forgot", {"email": EMAIL})
    await api_client.send_reset_links()
    body = {"token": await api_client.identity_world.link(), "password": "outra frase bem comprida"}

    done = await browser.post("/panel/auth/password/reset", body)

    assert forgot.document == {"status": "accepted"}
    assert done.status == 204
    assert (await browser.load_session())["authenticated"] is False
