"""Forged requests: every layer once, on every route behind the cookie."""

from __future__ import annotations

import re

from gateway.http.table import PlacedRoute, Table
from tests.world.gateway.answers import Answer
from tests.world.gateway.identity_api import COOKIE, ORIGIN, ApiClient
from tests.world.surfaces import usual_surfaces

REFUSED = (403, "CSRF_FAILED")
PLACES = [
    place
    for place in Table(usual_surfaces()).places()
    # pages and their forms have tests of their own: their refusals are pages too
    if place.gate.scheme == "session" and place.surface.name != "panel_pages"
]
WRITES = [place for place in PLACES if place.route.method != "GET"]
READS = [place for place in PLACES if place.route.method == "GET"]


def name(place: PlacedRoute) -> str:
    return f"{place.route.method} {place.template}"


def path(place: PlacedRoute) -> str:
    """Fill in something that exists nowhere: nothing is looked for."""
    return re.sub(r"\{\w+\}", "0f1e2d3c4b5a", place.template)


async def write(api_client: ApiClient, place: PlacedRoute, headers: dict[str, str]) -> Answer:
    """Send an empty document, or none where none is taken."""
    body = {} if place.route.takes.body else None
    return await api_client.ask(place.route.method, path(place), body, headers=headers)


async def test_a_cross_site_write_is_refused(api_client: ApiClient, maria):
    """On all routes, although cookie and token are sent."""
    browser = await api_client.signed_in_browser()
    ours = {"Cookie": f"{COOKIE}={browser.cookie}", "X-CSRF-Token": browser.csrf}

    for place in WRITES:
        answer = await write(api_client, place, {**ours, "Origin": "https://evil.example"})
        assert answer.verdict == REFUSED, name(place)
    assert (await browser.get("/panel/auth/sessions")).status == 200


async def test_a_write_with_another_session_s_csrf_token_is_refused(api_client: ApiClient, maria):
    """On all routes."""
    browser, other = await api_client.signed_in_browser(), await api_client.open_browser()
    ours = {"Cookie": f"{COOKIE}={browser.cookie}", "Origin": ORIGIN, "X-CSRF-Token": other.csrf}

    for place in WRITES:
        answer = await write(api_client, place, ours)
        assert answer.verdict == REFUSED, name(place)
    assert (await browser.get("/panel/auth/sessions")).status == 200


async def test_a_write_without_a_json_body_is_refused(api_client: ApiClient, maria):
    """Media types that a foreign page may send without a preflight are refused, on every route."""
    browser = await api_client.signed_in_browser()
    headers = {
        "Cookie": f"{COOKIE}={browser.cookie}",
        "Origin": ORIGIN,
        "X-CSRF-Token": browser.csrf,
        "Content-Type": "text/plain",
    }

    for place in WRITES:
        answer = await api_client.ask(place.route.method, path(place), headers=headers, data=b"a=b")
        assert answer.verdict == REFUSED, name(place)


async def test_a_cross_site_read_is_refused(api_client: ApiClient, maria):
    """On all routes; there is no CORS."""
    browser = await api_client.signed_in_browser()
    headers = {
        "Cookie": f"{COOKIE}={browser.cookie}",
        "X-Requested-With": "panel",
        "Sec-Fetch-Site": "cross-site",
    }

    for place in READS:
        answer = await api_client.ask("GET", path(place), headers=headers)
        assert answer.verdict == REFUSED, name(place)
        assert not [each for each in answer.headers if each.startswith("Access-Control")]


def test_the_csrf_tests_cover_every_route_of_the_panel():
    assert {"panel", "identity"} == {place.surface.name for place in PLACES}
    assert len(WRITES) > 10
    assert READS


async def test_a_same_origin_or_direct_page_may_read_its_session(api_client: ApiClient):
    """An address typed by the user has no origin."""
    for headers in ({}, {"Sec-Fetch-Site": "none"}, {"Sec-Fetch-Site": "same-origin"}):
        assert (await api_client.ask("GET", "/iam/v1/auth/session", headers=headers)).status == 200


async def test_a_sign_in_without_a_csrf_token_is_refused(api_client: ApiClient, maria):
    """Otherwise a foreign page could sign a browser in as another user."""
    body = {"email": "maria@example.com", "password": "uma frase bem comprida"}

    without = await api_client.ask("POST", "/panel/auth/login", body, headers={"Origin": ORIGIN})

    assert without.verdict == REFUSED


async def test_the_reason_of_a_refusal_is_only_in_the_log(api_client: ApiClient, maria):
    """All have one body; log and metrics have the reason."""
    browser = await api_client.signed_in_browser()
    for headers in (
        {"Sec-Fetch-Site": "cross-site"},
        {"Origin": "https://evil.example"},
        {"X-CSRF-Token": "made up"},
        {"Content-Type": "text/plain"},
    ):
        await browser.post("/panel/auth/logout", **headers)

    told = [each.reason for each in api_client.witness.records if each.code == "CSRF_FAILED"]

    assert told == ["fetch_site", "origin", "token", "content_type"]
