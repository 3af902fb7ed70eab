"""Identity's document: valid, of the routes, and what is served is as it says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import Case, GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from gateway.http.openapi.document import document
from gateway.http.openapi.operations import codes_of
from gateway.http.table import PlacedRoute, Table
from tests.world.gateway.identity_api import ApiClient
from tests.world.gateway.identity_api_fixtures import api_client, clock, kind, maria, store, url
from tests.world.generated import examples
from tests.world.surfaces import surface_named

__all__ = ["api_client", "clock", "kind", "maria", "store", "url"]

SURFACE = surface_named("identity")
DOCUMENT: dict[str, Any] = document(SURFACE, "pixgate identity")
PLACES = Table([SURFACE]).places()
CONFORMS = [
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
]
OPERATIONS = {
    each.ok().label: each.ok()
    for each in schemathesis.openapi.from_dict(DOCUMENT).get_all_operations()
}
EXAMPLES = examples(3)


def described(place: PlacedRoute) -> dict[str, Any]:
    """Return the description of a route."""
    found: dict[str, Any] = DOCUMENT["paths"][place.template][place.route.method.lower()]
    return found


def test_every_route_is_described_with_its_scheme_and_codes():
    wrong = {
        place.route.name: found
        for place in PLACES
        if (found := list(undescribed(place, described(place))))
    }

    assert wrong == {}


def undescribed(place: PlacedRoute, shown: Mapping[str, Any]) -> Iterator[str]:
    """Name the parts of a route that its description lacks."""
    scheme = place.gate.scheme
    if shown["security"] != ([{scheme: []}] if scheme else []):
        yield "scheme"
    if ("requestBody" in shown) is not (place.route.takes.body is not None):
        yield "body"
    if str(place.route.status) not in shown["responses"]:
        yield "status"
    for error in codes_of(place.gate, place.route):
        if error.code not in shown["responses"][str(error.status)]["description"]:
            yield error.code


def test_the_schemes_are_told():
    schemes = DOCUMENT["components"]["securitySchemes"]

    assert set(schemes) == {"bearer", "session"}
    assert schemes["session"]["name"] == "__Host-pixgate"


def test_nothing_else_is_described():
    told = {(method.upper(), path) for path, each in DOCUMENT["paths"].items() for method in each}

    assert told == {(place.route.method, place.template) for place in PLACES}


async def test_it_is_served_as_it_is_generated(api_client: ApiClient):
    answer = await api_client.ask("GET", "/iam/v1/openapi.json")

    assert answer.document == json.loads(json.dumps(DOCUMENT))


@pytest.mark.parametrize("label", OPERATIONS)
async def test_generated_requests_get_described_answers(api_client: ApiClient, maria, label: str):
    """Good input and bad, with a token and without: never a 500, always what is described."""
    token = (await api_client.sign_in())["access_token"]

    for mode in modes(label):
        await asyncio.to_thread(explore, api_client.port, label, mode, token)


def modes(label: str) -> list[GenerationMode]:
    """Where nothing is taken but a trace, nothing can be wrong."""
    operation = OPERATIONS[label]
    raw = DOCUMENT["paths"][operation.path][operation.method]
    takes = "requestBody" in raw or any("$ref" not in each for each in raw["parameters"])
    return [GenerationMode.POSITIVE, *([GenerationMode.NEGATIVE] if takes else [])]


def explore(port: int, label: str, mode: GenerationMode, token: str) -> None:
    """Send what schemathesis thinks of, every second time with a token."""
    sent = 0

    with requests.Session() as session:

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=OPERATIONS[label].as_strategy(generation_mode=mode))
        def send(case: Case) -> None:
            nonlocal sent
            sent += 1
            headers = {"Authorization": f"Bearer {token}"} if sent % 2 else {}
            said = case.call(base_url=f"http://127.0.0.1:{port}", headers=headers, session=session)
            assert said.status_code < 500, said.content
            assert len(said.headers["x-trace-id"]) == 1
            # A generated step may make it another path.
            if not (said.status_code in {404, 405} and b"SVC.GTW" in said.content):
                case.validate_response(said, checks=CONFORMS)

        send()
    assert sent >= 1
