"""Attempts by strangers to lock users out of the panel, over a socket."""

from __future__ import annotations

from contextlib import suppress

import pytest
from sqlalchemy import select

from gateway.core.browsers import ClientInfo
from gateway.core.errors import ServiceError
from gateway.store.tables.identity import panel_sessions
from tests.world.gateway.answers import Answer
from tests.world.gateway.identity_api import (
    DEVICE,
    HERE,
    ApiClient,
    BrowserClient,
    CallRate,
    api_client_on,
)
from tests.world.identity import EMAIL, PASSWORD

SCARCE = CallRate(rate=0.001, burst=3)
RIGHT = {"email": EMAIL, "password": PASSWORD}
WRONG = {"email": EMAIL, "password": "wrong wrong wrong"}
FORGED = (403, "CSRF_FAILED")
FOREIGN = {"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"}


async def login(browser: BrowserClient, body=RIGHT, **headers: str) -> Answer:
    return await browser.post("/panel/auth/login", body, **headers)


async def guess(api_client: ApiClient, times: int = 100) -> None:
    """Have strangers guess from everywhere, until the account is shut for others."""
    for number in range(times):
        stranger = ClientInfo(address=f"198.51.100.{number}")
        with suppress(ServiceError):
            await api_client.identity_world.services.sign_in.login(EMAIL, "wrong", stranger)
        api_client.clock.passes(1)


@pytest.mark.parametrize("path", ["/panel/auth/login", "/iam/v1/auth/login"])
async def test_cross_site_sign_ins_do_not_use_up_tries(store, clock, path: str):
    """Requests sent by a foreign page in a user's browser are refused without being counted."""
    async with api_client_on(store, clock, sign_in=SCARCE) as api_client:
        await api_client.identity_world.person()
        blind = {**FOREIGN, "Content-Type": "text/plain"}
        sent = [await api_client.ask("POST", path, headers=blind, data=b"{}") for _ in range(10)]
        signed_in = await login(await api_client.open_browser())

    assert {each.verdict for each in sent} == {FORGED}
    assert signed_in.status == 200


async def test_a_form_with_a_forged_token_uses_up_no_attempts(store, clock):
    async with api_client_on(store, clock, sign_in=SCARCE) as api_client:
        await api_client.identity_world.person()
        browser = await api_client.open_browser()
        forged = [await login(browser, **{"X-CSRF-Token": "made up"}) for _ in range(5)]
        signed_in = await login(browser)

    assert {each.verdict for each in forged} == {FORGED}
    assert signed_in.status == 200


async def test_cross_site_reads_do_not_use_up_the_anonymous_quota(store, clock):
    async with api_client_on(store, clock, anonymous=SCARCE) as api_client:
        path = "/iam/v1/auth/session"
        foreign = [await api_client.ask("GET", path, headers=FOREIGN) for _ in range(5)]
        keys = [
            await api_client.ask("GET", "/.well-known/jwks.json", headers=FOREIGN) for _ in range(3)
        ]
        own = await api_client.ask("GET", path)

    assert {each.verdict for each in foreign} == {FORGED}
    assert {each.status for each in keys} == {200}
    assert own.status == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null"])
async def test_a_foreign_origin_is_refused_with_sec_fetch_site_none(
    api_client: ApiClient, maria, origin: str
):
    """``Sec-Fetch-Site: none`` is for navigation by the user, not from a page."""
    browser = await api_client.open_browser()
    told = {"Sec-Fetch-Site": "none", "Origin": origin}

    assert (await login(browser, **told)).verdict == FORGED
    assert (await login(browser, **{"Sec-Fetch-Site": "none"})).status == 200


async def test_right_passwords_and_codes_use_up_no_tries(store, clock):
    """Each kind of guess has its own count."""
    rates = {"sign_in": SCARCE, "second_factor": SCARCE, "recovery": SCARCE}
    async with api_client_on(store, clock, **rates) as api_client:
        await api_client.identity_world.person()
        await api_client.identity_world.enrol()
        for _ in range(5):
            await api_client.signed_in_browser()
            api_client.clock.passes(30)
        by_interface = []
        for _ in range(5):
            by_interface.append(await api_client.sign_in())
            api_client.clock.passes(30)
        wrong = [(await api_client.login(password="wrong")).status for _ in range(4)]
        code = {"mfa_token": "none", "code": "000000"}
        codes = [(await api_client.ask("POST", "/iam/v1/auth/mfa", code)).status for _ in range(4)]
        asked = {"email": EMAIL}
        links = [
            (await api_client.ask("POST", "/iam/v1/auth/password/forgot", asked)).status
            for _ in range(4)
        ]

    assert len(by_interface) == 5
    assert wrong == codes == [401, 401, 401, 429]
    assert links == [202, 202, 202, 429]


async def test_an_anonymous_read_of_the_session_stores_no_row(store, clock):
    async with api_client_on(store, clock) as api_client:
        looked = await api_client.ask("GET", "/iam/v1/auth/session")
    async with store.database.reading() as connection:
        rows = (await connection.execute(select(panel_sessions))).all()

    assert "Set-Cookie" in looked.headers
    assert rows == []


async def test_a_known_browser_can_sign_in_while_strangers_guess(api_client: ApiClient, maria):
    """However many guesses are made; other browsers are throttled, and pointed to the reset."""
    mine = await api_client.signed_in_browser()
    await mine.post("/panel/auth/logout")
    await guess(api_client)
    fresh = await api_client.open_browser()

    refused = await login(fresh)
    again = BrowserClient(api_client, device=mine.device)
    await again.load_session()
    served = await login(again)

    assert refused.verdict == (429, "TOO_MANY_ATTEMPTS")
    assert "reset the password" in refused.document["message"]
    assert served.status == 200
    assert served.document["authenticated"]


async def test_a_device_cookie_alone_gives_no_access(api_client: ApiClient, maria):
    """It is neither a session nor a token against request forgery."""
    mine = await api_client.signed_in_browser()
    thief = BrowserClient(api_client, device=mine.device)

    seen = await thief.load_session()
    sessions = await thief.get("/panel/auth/sessions")
    tried = await login(thief, WRONG)
    cookie = {"Cookie": f"{DEVICE}={mine.device}"}
    blind = await api_client.ask("POST", "/panel/auth/login", RIGHT, headers={**cookie, **HERE})

    assert seen["authenticated"] is False
    assert "user" not in seen
    assert sessions.verdict == (401, "SESSION_REQUIRED")
    assert tried.verdict == (401, "INVALID_CREDENTIALS")
    assert blind.verdict == FORGED
