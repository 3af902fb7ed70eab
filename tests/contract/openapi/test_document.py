"""The OpenAPI document: valid, complete, and of the rows."""

from __future__ import annotations

import json

import pytest
import yaml
from openapi_spec_validator import OpenAPIV31SpecValidator, validate

from gateway.domain.errors import CATALOGUE, ELSEWHERE
from gateway.http.openapi import as_json, as_yaml, codes_of
from gateway.http.route import Row
from gateway.http.table import Place
from tests.contract.openapi.described import DOCUMENT, SURFACE, operation
from tests.surfaces import rows


def test_the_document_is_openapi_3_1():
    """Judged by a program that is not ours."""
    validate(DOCUMENT, cls=OpenAPIV31SpecValidator)

    assert DOCUMENT["openapi"].startswith("3.1.")
    assert DOCUMENT["info"]["version"] == "1.0.0"


def test_a_broken_document_is_found():
    """The judge can say no."""
    broken = json.loads(as_json(DOCUMENT))
    broken["paths"]["/baas/v1/info"]["get"]["responses"]["200"].pop("description")

    with pytest.raises(Exception, match="description"):
        validate(broken, cls=OpenAPIV31SpecValidator)


def test_json_and_yaml_say_the_same():
    assert json.loads(as_json(DOCUMENT)) == yaml.safe_load(as_yaml(DOCUMENT))


@pytest.mark.parametrize("place", rows.PLACES, ids=rows.name)
def test_every_row_is_described(place: Place):
    """Its method, its permission, its parameters, its body."""
    row, described = place.row, operation(place.row.method, place.template)

    named = {each["name"] for each in described["parameters"] if each["in"] == "path"}
    asked = {each["name"] for each in described["parameters"] if each["in"] == "query"}
    assert described["summary"] == row.tells
    assert described["security"] == ([{"basic": []}] if row.needs else [])
    assert str(row.needs or "") in described.get("description", "")
    assert named == {part[1:-1] for part in row.path.split("/") if part.startswith("{")}
    assert asked == {each.name for each in row.takes.parameters}
    assert ("requestBody" in described) is (row.takes.body is not None)


@pytest.mark.parametrize("place", rows.PLACES, ids=rows.name)
def test_every_code_of_a_row_is_described(place: Place):
    """Under its status, by its public code."""
    responses = operation(place.row.method, place.template)["responses"]

    for error in codes_of(place.gate, place.row):
        assert error.code in responses[str(error.status)]["description"]


def test_nothing_else_is_described():
    """Ten operations and three open ones."""
    described = {
        (method.upper(), path) for path, each in DOCUMENT["paths"].items() for method in each
    }

    assert described == {(place.row.method, place.template) for place in rows.PLACES}
    assert len(described) == 13


def test_cancelling_promises_no_success():
    """Contract 4.1: always 501."""
    path = "/baas/v1/account/{account_id}/withdraw/{reference}"

    assert "200" not in operation("DELETE", path)["responses"]


@pytest.mark.parametrize("place", rows.PARTNER, ids=rows.name)
@pytest.mark.parametrize(
    ("status", "header"),
    [("401", "WWW-Authenticate"), ("429", "Retry-After"), ("503", "Retry-After")],
)
def test_headers_are_described(place: Place, status: str, header: str):
    responses = operation(place.row.method, place.template)["responses"]

    assert header in responses[status]["headers"]
    assert all("X-Trace-ID" in each["headers"] for each in responses.values())


def test_every_code_of_the_surface_is_some_rows():
    """But for the two of the route table, which stand in front of every row."""
    told = {error for place in rows.PLACES for error in codes_of(place.gate, place.row)}
    in_front = {"route_unknown", "method_not_allowed"}

    silent = {error.name for error in set(CATALOGUE) - set(ELSEWHERE) - told}
    assert silent == in_front


def test_amounts_are_numbers_of_no_multiple():
    """``multipleOf: 0.01`` would refuse 0.07 in every reader that counts in binary."""
    assert "multipleOf" not in json.dumps(DOCUMENT)


def test_operation_ids_are_the_rows_names():
    ids = [each["operationId"] for path in DOCUMENT["paths"].values() for each in path.values()]

    names = [row.name for gate in SURFACE.gates for row in gate.rows if isinstance(row, Row)]
    assert sorted(ids) == sorted(name.replace(".", "_") for name in names)
