"""Identity's document: valid, of the rows, and what is served is as it says."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from openapi_spec_validator import OpenAPIV31SpecValidator, validate
from schemathesis import Case, GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from gateway.http.openapi.document import document
from gateway.http.openapi.operations import codes_of
from gateway.http.table import RoutedRow, Table
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
EXAMPLES = examples(6)


def described(place: RoutedRow) -> dict[str, Any]:
    """Return the description of a row."""
    found: dict[str, Any] = DOCUMENT["paths"][place.template][place.row.method.lower()]
    return found


def test_the_document_is_openapi_3_1():
    validate(DOCUMENT, cls=OpenAPIV31SpecValidator)


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.row.name)
def test_every_row_is_described_with_its_scheme_and_codes(place: RoutedRow):
    shown = described(place)

    scheme = place.gate.scheme
    assert shown["security"] == ([{scheme: []}] if scheme else [])
    assert ("requestBody" in shown) is (place.row.takes.body is not None)
    assert str(place.row.status) in shown["responses"]
    for error in codes_of(place.gate, place.row):
        assert error.code in shown["responses"][str(error.status)]["description"]


def test_the_schemes_are_told():
    schemes = DOCUMENT["components"]["securitySchemes"]

    assert set(schemes) == {"bearer", "session"}
    assert schemes["session"]["name"] == "__Host-pixgate"


def test_nothing_else_is_described():
    told = {(method.upper(), path) for path, each in DOCUMENT["paths"].items() for method in each}

    assert told == {(place.row.method, place.template) for place in PLACES}


async def test_it_is_served_as_it_is_generated(api_client: ApiClient):
    answer = await api_client.ask("GET", "/iam/v1/openapi.json")

    assert answer.document == json.loads(json.dumps(DOCUMENT))


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
@pytest.mark.parametrize("label", OPERATIONS)
async def test_nothing_generated_from_the_document_surprises(
    api_client: ApiClient, maria, label: str, mode: GenerationMode
):
    """Good input and bad, with a token and without: never a 500, always what is described."""
    operation = OPERATIONS[label]
    raw = DOCUMENT["paths"][operation.path][operation.method]
    own = [each for each in raw["parameters"] if "$ref" not in each]
    if mode is GenerationMode.NEGATIVE and not (own or "requestBody" in raw):
        pytest.skip("where nothing is taken but a trace, nothing can be wrong")
    token = (await api_client.sign_in())["access_token"]

    await asyncio.to_thread(explore, api_client.port, label, mode, token)


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
