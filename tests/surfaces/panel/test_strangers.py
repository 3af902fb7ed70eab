"""Strangers who would shut others out of the panel, over a socket."""

from __future__ import annotations

from contextlib import suppress

import pytest

from gateway.domain.kernel.errors import ServiceError
from gateway.operations.identity.ports import ClientInfo
from tests.surfaces.answers import Answer
from tests.surfaces.house import DEVICE, HERE, House, Rate, Window, house_on
from tests.unit.door import EMAIL, PASSWORD

SCARCE = Rate(rate=0.001, burst=3)
RIGHT = {"email": EMAIL, "password": PASSWORD}
WRONG = {"email": EMAIL, "password": "wrong wrong wrong"}
FORGED = (403, "CSRF_FAILED")
FOREIGN = {"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"}


async def login(window: Window, body=RIGHT, **headers: str) -> Answer:
    return await window.posts("/panel/auth/login", body, **headers)


async def guess(house: House, times: int = 100) -> None:
    """Have strangers guess from everywhere, until the account is shut for others."""
    for number in range(times):
        stranger = ClientInfo(address=f"198.51.100.{number}")
        with suppress(ServiceError):
            await house.door.services.sign_in.login(EMAIL, "wrong", stranger)
        house.clock.passes(1)


@pytest.mark.parametrize("path", ["/panel/auth/login", "/iam/v1/auth/login"])
async def test_no_foreign_page_uses_up_the_tries_of_an_office(store, clock, path: str):
    """A page open in somebody's browser may send what it likes: it is refused uncounted."""
    async with house_on(store, clock, sign_in=SCARCE) as house:
        await house.door.person()
        blind = {**FOREIGN, "Content-Type": "text/plain"}
        sent = [await house.ask("POST", path, headers=blind, data=b"{}") for _ in range(10)]
        signed_in = await login(await house.window())

    assert {each.verdict for each in sent} == {FORGED}
    assert signed_in.status == 200


async def test_what_has_no_token_uses_up_no_tries(store, clock):
    async with house_on(store, clock, sign_in=SCARCE) as house:
        await house.door.person()
        window = await house.window()
        forged = [await login(window, **{"X-CSRF-Token": "made up"}) for _ in range(5)]
        signed_in = await login(window)

    assert {each.verdict for each in forged} == {FORGED}
    assert signed_in.status == 200


async def test_no_foreign_page_uses_up_what_our_pages_ask_first(store, clock):
    async with house_on(store, clock, anonymous=SCARCE) as house:
        path = "/iam/v1/auth/session"
        foreign = [await house.ask("GET", path, headers=FOREIGN) for _ in range(5)]
        keys = [await house.ask("GET", "/.well-known/jwks.json", headers=FOREIGN) for _ in range(3)]
        own = await house.ask("GET", path)

    assert {each.verdict for each in foreign} == {FORGED}
    assert {each.status for each in keys} == {200}
    assert own.status == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null"])
async def test_no_page_is_excused_by_saying_that_it_is_none(house: House, maria, origin: str):
    """``Sec-Fetch-Site: none`` is what a person begins: it comes from no page at all."""
    window = await house.window()
    told = {"Sec-Fetch-Site": "none", "Origin": origin}

    assert (await login(window, **told)).verdict == FORGED
    assert (await login(window, **{"Sec-Fetch-Site": "none"})).status == 200


async def test_an_office_that_signs_in_at_nine_uses_up_nothing(store, clock):
    """Right passwords and codes cost no tries; each kind of guess has its own."""
    rates = {"sign_in": SCARCE, "second_factor": SCARCE, "recovery": SCARCE}
    async with house_on(store, clock, **rates) as house:
        await house.door.person()
        await house.door.enrols()
        for _ in range(5):
            await house.seated()
            house.clock.passes(30)
        by_interface = []
        for _ in range(5):
            by_interface.append(await house.signs_in())
            house.clock.passes(30)
        wrong = [(await house.login(password="wrong")).status for _ in range(4)]
        code = {"mfa_token": "none", "code": "000000"}
        codes = [(await house.ask("POST", "/iam/v1/auth/mfa", code)).status for _ in range(4)]
        asked = {"email": EMAIL}
        links = [
            (await house.ask("POST", "/iam/v1/auth/password/forgot", asked)).status
            for _ in range(4)
        ]

    assert len(by_interface) == 5
    assert wrong == codes == [401, 401, 401, 429]
    assert links == [202, 202, 202, 429]


async def test_a_browser_that_signed_in_before_is_not_shut_out(house: House, maria):
    """However much strangers guess; others are, and are told that a reset helps."""
    mine = await house.seated()
    await mine.posts("/panel/auth/logout")
    await guess(house)
    fresh = await house.window()

    refused = await login(fresh)
    again = Window(house, device=mine.device)
    await again.looks()
    served = await login(again)

    assert refused.verdict == (429, "TOO_MANY_ATTEMPTS")
    assert "reset the password" in refused.document["message"]
    assert served.status == 200
    assert served.document["authenticated"]


async def test_who_resets_the_password_can_sign_in_before_the_next_guess(house: House, maria):
    """Or strangers would shut the account again while its owner types."""
    await guess(house)
    window = await house.window()
    await window.posts("/panel/auth/password/forgot", {"email": EMAIL})
    await house.wishes()
    body = {"token": await house.door.link(), "password": "another long password"}
    reset = await window.posts("/panel/auth/password/reset", body)
    await guess(house)

    served = await login(window, {"email": EMAIL, "password": "another long password"})

    assert reset.status == 204
    assert served.status == 200


async def test_strangers_at_the_same_address_leave_a_known_browser_its_tries(store, clock):
    async with house_on(store, clock, sign_in=SCARCE) as house:
        await house.door.person()
        mine = await house.seated()
        stranger = await house.window()
        tried = [(await login(stranger, WRONG)).status for _ in range(4)]

        again = Window(house, device=mine.device)
        await again.looks()
        served = await login(again)

    assert tried == [401, 401, 401, 429]
    assert served.status == 200


async def test_a_device_cookie_alone_opens_nothing(house: House, maria):
    """It is no session, and no token against forged requests."""
    mine = await house.seated()
    thief = Window(house, device=mine.device)

    seen = await thief.looks()
    sessions = await thief.gets("/panel/auth/sessions")
    tried = await login(thief, WRONG)
    cookie = {"Cookie": f"{DEVICE}={mine.device}"}
    blind = await house.ask("POST", "/panel/auth/login", RIGHT, headers={**cookie, **HERE})

    assert seen["authenticated"] is False
    assert "user" not in seen
    assert sessions.verdict == (401, "SESSION_REQUIRED")
    assert tried.verdict == (401, "INVALID_CREDENTIALS")
    assert blind.verdict == FORGED
