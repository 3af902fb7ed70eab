"""The back office's document: valid, of the rows, and what is served is as it says."""

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

from gateway.http.openapi.operations import codes_of
from gateway.http.table import RoutedRow
from tests.world.backoffice import matrix
from tests.world.backoffice.client import NOBODY, BackofficeClient
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
EXAMPLES = examples(4)


def described(place: RoutedRow) -> dict[str, Any]:
    """Return the description of a row."""
    found: dict[str, Any] = DOCUMENT["paths"][place.template][place.row.method.lower()]
    return found


def test_the_document_is_openapi_3_1():
    validate(DOCUMENT, cls=OpenAPIV31SpecValidator)


@pytest.mark.parametrize("place", matrix.PLACES, ids=matrix.name)
def test_every_row_is_described_with_its_scheme_and_codes(place: RoutedRow):
    shown = described(place)

    assert shown["security"] == ([{"bearer": []}] if place.row.needs else [])
    assert str(place.row.needs or "") in shown.get("description", "")
    assert ("requestBody" in shown) is (place.row.takes.body is not None)
    for error in codes_of(place.gate, place.row):
        assert error.code in shown["responses"][str(error.status)]["description"]


def test_nothing_else_is_described():
    told = {(method.upper(), path) for path, each in DOCUMENT["paths"].items() for method in each}

    assert told == {(place.row.method, place.template) for place in matrix.PLACES}


@pytest.mark.asyncio(loop_scope="module")
async def test_it_is_served_as_it_is_generated(backoffice_client: BackofficeClient):
    answer = await backoffice_client.ask("GET", "/backoffice/v1/openapi.json", by=NOBODY)

    assert answer.document == json.loads(json.dumps(DOCUMENT))


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
@pytest.mark.parametrize("label", OPERATIONS)
async def test_nothing_generated_from_the_document_surprises(
    backoffice_client: BackofficeClient,
    label: str,
    mode: GenerationMode,
):
    """Good input and bad: never a 500, always what is described."""
    await asyncio.to_thread(
        explore, backoffice_client, label, mode, await backoffice_client.token("operator")
    )


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
            headers = {"Authorization": f"Bearer {token}"}
            said = case.call(base_url=address, headers=headers, session=session)
            assert said.status_code < 500 or said.status_code in {501, 502}, said.content
            assert len(said.headers["x-trace-id"]) == 1
            # A generated step may make it another path.
            if not (said.status_code in {404, 405} and b"SVC.GTW" in said.content):
                case.validate_response(said, checks=CONFORMS)

        send()
    assert sent >= 1
