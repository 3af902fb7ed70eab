"""A browser from its first page to signing out."""

from __future__ import annotations

import re

import pytest

from gateway.domain.identity.panel_sessions import PanelState
from gateway.store.engine import Store
from tests.surfaces.house import COOKIE, House, Window
from tests.unit.door import EMAIL, PASSWORD

BOTH = pytest.mark.parametrize("kind", ["sqlite", "postgres"])
SECRETS = ("access", "refresh_token", "mfa_token", "eyJ")


@BOTH
async def test_from_the_first_page_to_signing_out(house: House, maria):
    """Password, code, session, sign-out; each answer says what a page may know, and no more."""
    await house.door.enrols()
    window = await house.window()

    before = await window.looks()
    asked = await window.posts("/panel/auth/login", {"email": EMAIL, "password": PASSWORD})
    pending = await window.looks()
    given = await window.posts("/panel/auth/mfa", {"code": house.door.code()})
    seated = await window.looks()
    listed = await window.gets("/panel/auth/sessions")
    left = await window.posts("/panel/auth/logout")

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
    assert window.cookie == ""
    for answer in (asked, given, listed, left):
        assert not any(word.encode() in answer.body for word in SECRETS)


async def test_what_a_page_knows_of_who_is_signed_in(house: House, maria):
    await house.door.enrols()
    window = await house.window()
    await window.signs_in()

    seen = await window.looks()

    now = int(house.clock.now().timestamp())
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
async def test_a_cookie_that_stands_for_nothing_begins_anew(house: House, cookie: str):
    """Always 200, with a cookie of ours: a planted one is never taken."""
    window = Window(house, cookie)

    seen = await window.looks()

    assert seen["authenticated"] is False
    assert window.cookie not in {"", cookie}


async def test_the_id_half_of_a_cookie_opens_nothing(house: House, maria):
    """Who reads the store, or sees half of it, is a stranger; the session goes on."""
    window = await house.seated()
    name, _, _ = window.cookie.partition(".")
    thief = Window(house, f"{name}.AAAAAAAAAAAAAAAAAAAAAA")

    answer = await thief.gets("/panel/auth/sessions")

    assert answer.verdict == (401, "SESSION_REQUIRED")
    assert (await window.gets("/panel/auth/sessions")).status == 200


async def test_a_dump_of_the_store_holds_no_token_and_no_cookie(
    house: House, store: Store, maria, tmp_path
):
    """Nor does what is sealed there open without the cookie."""
    window = await house.seated()
    name, _, secret = window.cookie.partition(".")

    dump = b"".join(each.read_bytes() for each in tmp_path.glob("store.db*"))
    (panel,) = await store.identity.panels.of(maria.id)

    assert panel.state is PanelState.FULL
    for text in (name, secret, "eyJ"):
        assert text.encode() not in dump


async def test_two_cookies_of_the_name_are_none(house: House, maria):
    """One of them was planted, and nobody can tell which."""
    window = await house.seated()
    line = f"{COOKIE}={window.cookie}; {COOKIE}=AAAAAAAAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAA"

    answer = await Window(house).gets("/panel/auth/sessions", Cookie=line)

    assert answer.verdict == (401, "SESSION_REQUIRED")


async def test_a_cookie_is_no_bearer_and_a_bearer_no_cookie(house: House, maria):
    window = await house.seated()
    token = (await house.signs_in())["access_token"]

    by_cookie = await house.ask(
        "GET", "/iam/v1/auth/sessions", headers={"Cookie": f"{COOKIE}={window.cookie}"}
    )
    by_bearer = await Window(house).gets("/panel/auth/sessions", Authorization=f"Bearer {token}")

    assert by_cookie.verdict == (401, "TOKEN_INVALID")
    assert by_bearer.verdict == (401, "SESSION_REQUIRED")


async def test_each_rise_gives_a_new_cookie_and_voids_the_old(house: House, maria):
    """Before the password, after it, after the code, after stepping up (fixation)."""
    await house.door.enrols()
    window = await house.window()
    cookies, tokens = [window.cookie], [window.csrf]

    async def rises(path: str, document: object) -> None:
        assert (await window.posts(path, document)).status == 200
        cookies.append(window.cookie)
        tokens.append(window.csrf)

    await rises("/panel/auth/login", {"email": EMAIL, "password": PASSWORD})
    await rises("/panel/auth/mfa", {"code": house.door.code()})
    house.clock.passes(30)
    await rises("/panel/auth/step-up", {"code": house.door.code()})

    assert len(set(cookies)) == len(set(tokens)) == 4
    for old in cookies[:-1]:
        answer = await Window(house, old).gets("/panel/auth/sessions")
        assert answer.verdict == (401, "SESSION_REQUIRED")
    assert (await window.gets("/panel/auth/sessions")).status == 200


async def test_between_password_and_code_nothing_else_works(house: House, maria):
    await house.door.enrols()
    window = await house.window()
    await window.posts("/panel/auth/login", {"email": EMAIL, "password": PASSWORD})

    for method, path, body in (
        ("DELETE", "/panel/auth/sessions", None),
        ("POST", "/panel/auth/step-up", {"code": "123456"}),
        ("POST", "/panel/auth/totp", {"password": PASSWORD}),
        ("POST", "/panel/auth/recovery-codes", None),
    ):
        answer = await window.posts(path, body, method=method)
        assert answer.verdict == (401, "SESSION_REQUIRED")
    assert (await window.gets("/panel/auth/sessions")).verdict == (401, "SESSION_REQUIRED")


async def test_a_challenge_belongs_to_its_browser(house: House, maria):
    """A code given in another one, or where none was asked for, is for nothing."""
    await house.door.enrols()
    window, other = await house.window(), await house.window()
    await window.posts("/panel/auth/login", {"email": EMAIL, "password": PASSWORD})

    refused = await other.posts("/panel/auth/mfa", {"code": house.door.code()})

    assert refused.verdict == (401, "MFA_EXPIRED")
    assert (await window.posts("/panel/auth/mfa", {"code": house.door.code()})).status == 200


async def test_after_five_guesses_or_five_minutes_it_begins_anew(house: House, maria):
    await house.door.enrols()
    window = await house.window()
    login = {"email": EMAIL, "password": PASSWORD}
    await window.posts("/panel/auth/login", login)
    wrong = {"code": house.door.wrong_code()}

    guesses = [(await window.posts("/panel/auth/mfa", wrong)).verdict for _ in range(6)]
    await window.posts("/panel/auth/login", login)
    house.clock.passes(301)
    late = await window.posts("/panel/auth/mfa", {"code": house.door.code()})

    assert guesses == [(401, "MFA_INVALID")] * 5 + [(401, "MFA_EXPIRED")]
    assert late.verdict == (403, "CSRF_FAILED")
    assert (await window.looks())["mfa_required"] is False


async def test_signing_in_again_ends_the_sign_in_before(house: House, maria):
    window = await house.seated()
    await window.signs_in()

    listed = await window.gets("/panel/auth/sessions")

    assert listed.document["meta"] == {"total": 1}


async def test_signing_out_twice_is_no_mistake(house: House, maria):
    window = await house.seated()
    cookie, csrf = window.cookie, window.csrf

    first = await window.posts("/panel/auth/logout")
    again = await Window(house, cookie, csrf).posts("/panel/auth/logout")

    assert (first.status, again.status) == (204, 204)
    answer = await Window(house, cookie).gets("/panel/auth/sessions")
    assert answer.verdict == (401, "SESSION_REQUIRED")


async def test_signing_out_needs_the_token_of_the_session(house: House, maria):
    window = await house.seated()

    forged = await Window(house, window.cookie, "made up").posts("/panel/auth/logout")

    assert forged.verdict == (403, "CSRF_FAILED")
    assert (await window.gets("/panel/auth/sessions")).status == 200


@pytest.mark.parametrize("how", ["disabled", "roles", "sessions ended", "password"])
async def test_what_ends_a_person_s_sessions_is_felt_with_the_next_call(
    house: House, maria, how: str
):
    window = await house.seated()
    house.clock.passes(1)
    users = house.door.services.users
    if how == "disabled":
        await users.disable("cli", maria.id)
    elif how == "roles":
        await users.set_roles("cli", maria.id, maria.roles)
    elif how == "sessions ended":
        await users.end_sessions("cli", maria.id)
    else:
        change = {"current_password": PASSWORD, "new_password": "outra frase bem comprida"}
        assert (await window.posts("/panel/auth/password/change", change)).status == 204

    seen = await Window(house, window.cookie).looks()
    answer = await window.gets("/panel/auth/sessions")

    assert seen["authenticated"] is False
    assert answer.verdict == (401, "SESSION_REQUIRED")


async def test_the_sixth_browser_ends_the_first(house: House, maria):
    first = await house.seated()
    house.clock.passes(1)
    others = [await house.seated() for _ in range(5)]

    assert (await first.gets("/panel/auth/sessions")).verdict == (401, "SESSION_REQUIRED")
    for window in others:
        assert (await window.gets("/panel/auth/sessions")).status == 200


async def test_a_browser_is_ended_from_another(house: House, maria):
    """By the id that the list shows."""
    first = await house.seated()
    house.clock.passes(1)
    second = await house.seated()
    listed = (await second.gets("/panel/auth/sessions")).document["data"]

    path = f"/panel/auth/sessions/{listed[0]['id']}"
    ended = await second.posts(path, method="DELETE")

    assert ended.status == 204
    assert (await first.gets("/panel/auth/sessions")).verdict == (401, "SESSION_REQUIRED")


async def test_a_factor_is_enrolled_from_the_panel(house: House, maria):
    """Which ends the session: the next sign-in asks for a code."""
    window = await house.seated()
    begun = await window.posts("/panel/auth/totp", {"password": PASSWORD})
    house.door.secrets[EMAIL] = begun.document["secret"]

    confirmed = await window.posts("/panel/auth/totp/confirm", {"code": house.door.code()})

    assert len(confirmed.document["recovery_codes"]) == 10
    assert window.cookie == ""
    house.clock.passes(30)
    await window.looks()
    assert (await window.signs_in())["mfa"]["enrolled"] is True


async def test_a_password_is_reset_from_the_panel(house: House, maria):
    """Nobody is signed in by it."""
    window = await house.window()
    forgot = await window.posts("/panel/auth/password/forgot", {"email": EMAIL})
    await house.wishes()
    body = {"token": await house.door.link(), "password": "outra frase bem comprida"}

    done = await window.posts("/panel/auth/password/reset", body)

    assert forgot.document == {"status": "accepted"}
    assert done.status == 204
    assert (await window.looks())["authenticated"] is False
