"""The OpenAPI document: valid, complete, and of the routes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator, validate

from gateway.core.errors import CATALOGUE, ELSEWHERE
from gateway.http.openapi.document import as_json
from gateway.http.openapi.operations import codes_of
from gateway.http.route import Route
from gateway.http.table import PlacedRoute
from tests.contract.openapi.conformity import problems
from tests.contract.openapi.described import DOCUMENT, SURFACE, operation, resolved
from tests.world.gateway import routes


def test_a_broken_document_is_found():
    """The judge can say no."""
    broken = json.loads(as_json(DOCUMENT))
    broken["paths"]["/baas/v1/info"]["get"]["responses"]["200"].pop("description")

    with pytest.raises(Exception, match="description"):
        validate(broken, cls=OpenAPIV31SpecValidator)


def test_every_route_is_described():
    """Its method, its permission, its parameters, its body, and every code under its status."""
    wrong = {
        place.route.name: found
        for place in routes.PLACES
        if (found := list(undescribed(place, operation(place.route.method, place.template))))
    }

    assert wrong == {}


def undescribed(place: PlacedRoute, described: Mapping[str, Any]) -> Iterator[str]:
    """Name the parts of a route that its description lacks."""
    route = place.route
    steps = {part[1:-1] for part in route.path.split("/") if part.startswith("{")}
    pairs = {
        "summary": (described["summary"], route.summary),
        "scheme": (described["security"], [{"basic": []}] if route.needs else []),
        "permission": (str(route.needs or "") in described.get("description", ""), True),
        "path": (parameters(described, "path"), steps),
        "headers": (parameters(described, "header"), {"X-Trace-ID", "traceparent"}),
        "query": (parameters(described, "query"), {each.name for each in route.takes.parameters}),
        "body": ("requestBody" in described, route.takes.body is not None),
    }
    yield from (name for name, (found, wanted) in pairs.items() if found != wanted)
    for error in codes_of(place.gate, route):
        if error.code not in described["responses"][str(error.status)]["description"]:
            yield error.code


def parameters(described: Mapping[str, Any], where: str) -> set[str]:
    """Name the parameters that stand in ``path``, ``query`` or ``header``."""
    found = (resolved(each) for each in described["parameters"])
    return {each["name"] for each in found if each["in"] == where}


def test_nothing_else_is_described():
    """Ten operations and three open ones."""
    described = {
        (method.upper(), path) for path, each in DOCUMENT["paths"].items() for method in each
    }

    assert described == {(place.route.method, place.template) for place in routes.PLACES}
    assert len(described) == 13


def test_cancelling_promises_no_success():
    """Contract 4.1: always 501."""
    described = operation("DELETE", "/baas/v1/account/{account_id}/withdraw/{reference}")

    assert not [status for status in described["responses"] if status.startswith("2")]
    assert "Always answers 501 `SVC.PIX.018`" in described["description"]


HEADERS = {
    "401": {"WWW-Authenticate"},
    "429": {"Retry-After", "RateLimit", "RateLimit-Policy"},
    "503": {"Retry-After"},
}


def test_headers_are_described():
    lacking = [
        (place.route.name, status)
        for place in routes.PARTNER
        for status, each in operation(place.route.method, place.template)["responses"].items()
        if not {"X-Trace-ID", *HEADERS.get(status, ())} <= each["headers"].keys()
    ]
    described = {
        place.route.name: operation(place.route.method, place.template)["responses"].keys()
        for place in routes.PARTNER
    }

    assert lacking == []
    assert {name for name, statuses in described.items() if not HEADERS.keys() <= statuses} == set()


def test_every_code_of_the_surface_is_some_routes():
    """But for the two of the route table, which stand in front of every route."""
    told = {error for place in routes.PLACES for error in codes_of(place.gate, place.route)}
    in_front = {"route_unknown", "method_not_allowed"}

    silent = {error.name for error in set(CATALOGUE) - set(ELSEWHERE) - told}
    assert silent == in_front


def test_an_amount_that_is_sent_is_a_number_of_reais():
    """Contract 2.1: never minor units."""
    for name in ("PixPayoutRequest", "BankAccountPayoutRequest"):
        value = DOCUMENT["components"]["schemas"][name]["properties"]["value"]
        assert value["type"] == "number"
        assert (value["minimum"], value["maximum"]) == (0.01, 9_999_999_999_999.99)


def test_a_validator_lets_every_valid_order_through():
    """The guide's own order, and amounts that are no multiples of 0.01 in binary."""
    guide = (Path(__file__).parents[3] / "docs/partner-guide.md").read_text("utf-8")
    orders = [json.loads(each) for each in re.findall(r"```json\n(.*?)```", guide, re.DOTALL)]
    amounts = [*(centavos / 100 for centavos in range(1, 1000)), 9_999_999_999_999.99]
    wanted = [*orders, *({**orders[0], "value": amount} for amount in amounts)]

    schema = {"$ref": "#/components/schemas/PayoutRequest"}
    refused = {
        each["value"]: found for each in wanted if (found := problems("banking", schema, each))
    }

    assert refused == {}
    assert problems("banking", schema, {**orders[0], "value": 0})


def test_the_names_of_the_shapes_are_kept():
    """A generated client is built on them: a change of one breaks its users."""
    assert set(DOCUMENT["components"]["schemas"]) == {
        *("Account", "Balance", "BankAccountDestination", "BankAccountDestinationRequest"),
        *("BankAccountPayout", "BankAccountPayoutRequest", "Charge", "Error", "ErrorCode"),
        *("ErrorCodeList", "Failure", "Health", "Info", "ListMeta", "Location", "PageMeta"),
        *("Party", "Payer", "Payout", "PayoutList", "PayoutRequest", "PixDestination"),
        *("PixDestinationRequest", "PixKey", "PixKeyList", "PixPayout", "PixPayoutRequest"),
        *("PixTransaction", "QrCode", "Statement", "StatementEntry"),
    }


@pytest.mark.parametrize("name", ["Payout", "PayoutRequest"])
def test_a_payout_is_told_by_its_method(name: str):
    shape = DOCUMENT["components"]["schemas"][name]

    mapping = shape["discriminator"]["mapping"]
    assert shape["discriminator"]["propertyName"] == "method"
    assert list(mapping) == ["pix", "bank_account"]
    assert [each["$ref"] for each in shape["oneOf"]] == list(mapping.values())
    for word, reference in mapping.items():
        form = resolved({"$ref": reference})
        assert form["properties"]["method"]["const"] == word
        assert "method" in form["required"]


def test_a_payout_shows_an_order_of_each_method():
    body = operation("POST", "/baas/v1/account/{account_id}/withdraw")["requestBody"]
    shown = body["content"]["application/json"]["examples"]

    assert [(word, each["value"]["method"]) for word, each in shown.items()] == [
        ("pix", "pix"),
        ("bank_account", "bank_account"),
    ]


@pytest.mark.parametrize("name", ["banking.statement", "banking.payouts"])
def test_a_limit_has_no_maximum(name: str):
    """More counts as 100, which the description says (contract part 8)."""
    place = next(each for each in routes.PLACES if each.route.name == name)
    parameters = operation("GET", place.template)["parameters"]

    limit = next(each for each in parameters if each.get("name") == "limit")
    assert limit["schema"] == {"type": "integer", "format": "int64", "minimum": 1, "default": 25}
    assert limit["description"] == "Per page; more than 100 counts as 100."


def test_operation_ids_are_the_routes_names():
    ids = [each["operationId"] for path in DOCUMENT["paths"].values() for each in path.values()]

    names = [
        route.name for gate in SURFACE.gates for route in gate.routes if isinstance(route, Route)
    ]
    assert sorted(ids) == sorted(name.replace(".", "_") for name in names)
