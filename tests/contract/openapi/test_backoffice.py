"""The back office's document: valid, of the routes, and what is served is as it says."""

from __future__ import annotations

import asyncio
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

from gateway.http.openapi.operations import codes_of
from gateway.http.table import PlacedRoute
from tests.world.backoffice import matrix
from tests.world.backoffice.client import BackofficeClient
from tests.world.backoffice.fixtures import backoffice_client
from tests.world.backoffice.matrix import DOCUMENT
from tests.world.generated import examples

__all__ = ["backoffice_client"]

BANKING = "/backoffice/v1/accounts/{account_id}/"
CONFORMS = [
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
]
OPERATIONS = {
    each.ok().label: each.ok()
    for each in schemathesis.openapi.from_dict(DOCUMENT).get_all_operations()
    if each.ok().path.startswith(BANKING)
}
EXAMPLES = examples(3)


def described(place: PlacedRoute) -> dict[str, Any]:
    """Return the description of a route."""
    found: dict[str, Any] = DOCUMENT["paths"][place.template][place.route.method.lower()]
    return found


def test_every_route_is_described_with_its_scheme_and_codes():
    wrong = {
        place.route.name: found
        for place in matrix.PLACES
        if (found := list(undescribed(place, described(place))))
    }

    assert wrong == {}


def undescribed(place: PlacedRoute, shown: Mapping[str, Any]) -> Iterator[str]:
    """Name the parts of a route that its description lacks."""
    if shown["security"] != ([{"bearer": []}] if place.route.needs else []):
        yield "scheme"
    if str(place.route.needs or "") not in shown.get("description", ""):
        yield "permission"
    if ("requestBody" in shown) is not (place.route.takes.body is not None):
        yield "body"
    for error in codes_of(place.gate, place.route):
        if error.code not in shown["responses"][str(error.status)]["description"]:
            yield error.code


def test_nothing_else_is_described():
    told = {(method.upper(), path) for path, each in DOCUMENT["paths"].items() for method in each}

    assert told == {(place.route.method, place.template) for place in matrix.PLACES}


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("label", OPERATIONS)
async def test_generated_requests_get_described_answers(
    backoffice_client: BackofficeClient, label: str
):
    """Good input and bad: never a 500, always what is described."""
    token = await backoffice_client.token("operator")

    for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
        await asyncio.to_thread(explore, backoffice_client, label, mode, token)


def explore(
    backoffice_client: BackofficeClient, label: str, mode: GenerationMode, token: str
) -> None:
    """Send what schemathesis thinks of; every second request goes to an account that exists."""
    address = f"http://127.0.0.1:{backoffice_client.world.port}"
    accounts = [each["id"] for each in backoffice_client.world.demo["accounts"].values()]
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
            if sent % 2:
                case.path_parameters["account_id"] = accounts[sent // 2 % len(accounts)]
            # A wrong Host is refused below every surface, with the contract's three fields alone.
            if case.headers is not None:
                case.headers.pop("Host", None)
            headers = {"Authorization": f"Bearer {token}"}
            said = case.call(base_url=address, headers=headers, session=session)
            assert said.status_code < 500 or said.status_code in {501, 502}, said.content
            assert len(said.headers["x-trace-id"]) == 1
            # A generated step may make it another path.
            if not (said.status_code in {404, 405} and b"SVC.GTW" in said.content):
                case.validate_response(said, checks=CONFORMS)

        send()
    assert sent >= 1
