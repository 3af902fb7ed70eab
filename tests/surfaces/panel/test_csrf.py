"""Forged requests: every layer on its own, on every route behind the cookie."""

from __future__ import annotations

import re

import pytest

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
FOREIGN = {
    "another origin": {"Origin": "https://evil.example"},
    "ours as a prefix": {"Origin": ORIGIN + ".evil.example"},
    "ours over http": {"Origin": ORIGIN.replace("https", "http")},
    "no origin": {"Origin": "null"},
    "cross-site": {"Sec-Fetch-Site": "cross-site", "Origin": ORIGIN},
    "same-site": {"Sec-Fetch-Site": "same-site", "Origin": ORIGIN},
    "a word nobody knows": {"Sec-Fetch-Site": "Same-Origin"},
    "nothing at all": {},
}


def name(place: PlacedRoute) -> str:
    return f"{place.route.method} {place.template}"


def path(place: PlacedRoute) -> str:
    """Fill in something that exists nowhere: nothing is looked for."""
    return re.sub(r"\{\w+\}", "0f1e2d3c4b5a", place.template)


async def write(api_client: ApiClient, place: PlacedRoute, headers: dict[str, str]) -> Answer:
    """Send an empty document, or none where none is taken."""
    body = {} if place.route.takes.body else None
    return await api_client.ask(place.route.method, path(place), body, headers=headers)


@pytest.mark.parametrize("headers", FOREIGN.values(), ids=FOREIGN)
async def test_a_foreign_page_writes_nothing(api_client: ApiClient, maria, headers: dict[str, str]):
    """On no route, though it had cookie and token."""
    browser = await api_client.signed_in_browser()
    ours = {"Cookie": f"{COOKIE}={browser.cookie}", "X-CSRF-Token": browser.csrf}

    for place in WRITES:
        answer = await write(api_client, place, {**ours, **headers})
        assert answer.verdict == REFUSED, name(place)
    assert (await browser.get("/panel/auth/sessions")).status == 200


@pytest.mark.parametrize("kind_of", ["none", "empty", "made up", "of another", "cut", "longer"])
async def test_without_its_token_nothing_is_written(api_client: ApiClient, maria, kind_of: str):
    """On no route."""
    browser, other = await api_client.signed_in_browser(), await api_client.open_browser()
    tokens = {
        "none": [],
        "empty": [""],
        "made up": ["é"],
        "of another": [other.csrf],
        "cut": [browser.csrf[:-1]],
        "longer": [browser.csrf + "A"],
    }
    ours = {"Cookie": f"{COOKIE}={browser.cookie}", "Origin": ORIGIN}
    token = [("X-CSRF-Token", each) for each in tokens[kind_of]]

    for place in WRITES:
        answer = await write(api_client, place, {**ours, **dict(token)})
        assert answer.verdict == REFUSED, name(place)
    assert (await browser.get("/panel/auth/sessions")).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://evil.example"},
    ],
    ids=str,
)
async def test_a_foreign_page_reads_nothing(api_client: ApiClient, maria, headers: dict[str, str]):
    """On no route; and no CORS is spoken."""
    browser = await api_client.signed_in_browser()
    ours = {"Cookie": f"{COOKIE}={browser.cookie}", "X-Requested-With": "panel"}

    for place in READS:
        answer = await api_client.ask("GET", path(place), headers={**ours, **headers})
        assert answer.verdict == REFUSED, name(place)
        assert not [each for each in answer.headers if each.startswith("Access-Control")]


def test_every_route_of_the_panel_is_attacked():
    assert {"panel", "identity"} == {place.surface.name for place in PLACES}
    assert len(WRITES) > 10
    assert READS


async def test_signing_in_is_guarded_before_anybody_is_known(api_client: ApiClient, maria):
    """Else a foreign page signs a browser in as somebody else."""
    body = {"email": "maria@example.com", "password": "uma frase bem comprida"}

    without = await api_client.ask("POST", "/panel/auth/login", body, headers={"Origin": ORIGIN})

    assert without.verdict == REFUSED


async def test_what_was_refused_says_why_to_us_alone(api_client: ApiClient, maria):
    """One body; the reason is for the log and the metrics."""
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
