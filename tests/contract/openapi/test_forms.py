"""The forms that readers of all three documents count on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator, validate

from gateway.http.openapi.operations import codes_of
from gateway.http.table import PlacedRoute
from tests.world.documents import PLACES, SURFACES, Described, described

CANCELS = frozenset({"banking.payout_cancel", "backoffice.withdraw_cancel"})
"""Always refused (contract 4.1): they promise no success."""

EVERY = pytest.mark.parametrize("about", SURFACES.values(), ids=list(SURFACES))


def parts(part: Any, at: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Walk every object of a document but its examples, each with its place."""
    if isinstance(part, dict):
        yield at, part
        for key, each in part.items():
            if key not in {"example", "examples"}:
                yield from parts(each, f"{at}/{key}")
    elif isinstance(part, list):
        for number, each in enumerate(part):
            yield from parts(each, f"{at}/{number}")


@EVERY
def test_the_document_is_openapi_3_1(about: Described):
    validate(dict(about.document), cls=OpenAPIV31SpecValidator)


@EVERY
def test_every_enumeration_has_a_type_and_several_values(about: Described):
    """Generators drop a schema whose enumeration has no type."""
    wrong = [
        at
        for at, part in parts(about.document)
        if isinstance(part.get("enum"), list) and ("type" not in part or len(part["enum"]) < 2)
    ]

    assert wrong == []
    assert [
        at for at, part in parts(about.document) if "const" in part and "type" not in part
    ] == []


@EVERY
def test_amounts_are_numbers_above_zero_with_a_maximum(about: Described):
    """Contract 2.1: a number of reais; decisions 4: above zero, two decimals, with a maximum."""
    sent = [part for _, part in parts(about.document) if part.get("minimum") == 0.01]

    assert "centavos" not in str(about.document)
    assert all((part["type"], part["maximum"]) == ("number", 9_999_999_999_999.99) for part in sent)
    assert bool(sent) is (about.surface.name not in {"identity", "events"})


@EVERY
def test_ambiguous_json_schema_keywords_are_not_used(about: Described):
    """0.07 is no multiple of 0.01 in binary, and generators make fields with defaults required."""
    assert [at for at, part in parts(about.document) if "multipleOf" in part] == []
    shown = parts(about.document["components"]["schemas"])
    assert [at for at, part in shown if "/properties/" in at and "default" in part] == []


@EVERY
def test_a_schema_is_named_by_a_word_without_suffix(about: Described):
    schemas = about.document["components"]["schemas"]

    assert [each for each in schemas if not each.isalnum() or each[0].islower()] == []
    assert [each for each in schemas if each.endswith(("Document", "Body"))] == []


@EVERY
def test_the_document_has_a_description_and_a_contact(about: Described):
    info = about.document["info"]

    assert info["description"].endswith(".")
    assert info["contact"]["name"]
    assert [each["name"] for each in about.document["tags"]]


@EVERY
def test_the_limit_parameter_declares_no_maximum(about: Described):
    """More than 100 counts as 100 (contract part 8)."""
    in_queries = [
        part["schema"]
        for _, part in parts(about.document)
        if part.get("name") == "limit" and "schema" in part
    ]
    in_bodies = [
        part["properties"]["limit"]
        for at, part in parts(about.document)
        if at.endswith("Request") and "limit" in part.get("properties", {})
    ]

    assert all(each["default"] == 25 for each in in_queries)
    assert all(each["description"].endswith("Default: `25`.") for each in in_bodies)
    assert all(each["minimum"] == 1 for each in in_queries + in_bodies)
    assert not any("maximum" in each for each in in_queries + in_bodies)


@EVERY
def test_no_header_has_an_example(about: Described):
    """Swagger UI and Postman send examples, so all requests would share one trace."""
    sent = about.document["components"]["parameters"].values()

    assert [each["name"] for each in sent if "example" in each or "examples" in each] == []


@EVERY
def test_each_refusal_is_documented_with_its_meaning(about: Described):
    for place in about.places:
        described = about.operation(place)["responses"]
        for error in codes_of(place.gate, place.route):
            line = f"- `{error.code}`: {error.message}"
            assert line in described[str(error.status)]["description"].splitlines(), (
                place.route.name
            )


@EVERY
def test_exactly_the_routes_are_described(about: Described):
    shown = {
        (method.upper(), path) for path, each in about.document["paths"].items() for method in each
    }

    assert shown == {(place.route.method, place.template) for place in about.places}


def test_every_operation_is_described_completely():
    """With all that its route declares, the headers of a trace, and the quota where it has one."""
    wrong = {place.route.name: found for place in PLACES if (found := list(lacking(place)))}

    assert wrong == {}


def lacking(place: PlacedRoute) -> Iterator[str]:
    """Name what an operation lacks, or has without a reason."""
    about = described(place)
    operation, route = about.operation(place), place.route
    found = {
        where: {each["name"] for each in about.parameters(place, where)}
        for where in ("header", "path", "query")
    }
    scheme = place.gate.scheme
    counted = "429" in operation["responses"]
    wanted = {
        "a summary": operation["summary"] == route.summary,
        "a description": operation["description"].endswith("."),
        "its scheme": operation["security"] == ([{scheme: []}] if scheme else []),
        "its permission": str(route.needs or "") in operation["description"],
        "the headers of a trace": found["header"] >= {"X-Trace-ID", "traceparent"},
        "its path": found["path"] == set(re.findall(r"{(\w+)}", place.template)),
        "its query": found["query"] >= {each.name for each in route.takes.parameters},
        "its body": ("requestBody" in operation) is (route.takes.body is not None),
        "its status": route.name in CANCELS or str(route.status) in operation["responses"],
    }
    yield from (part for part, is_there in wanted.items() if not is_there)
    for status, answer in operation["responses"].items():
        promised = {
            "X-Trace-ID": True,
            "WWW-Authenticate": status == "401",
            "RateLimit": counted,
            "RateLimit-Policy": counted,
            "X-Credential-Expires": scheme == "basic" and status != "401",
            "Retry-After": status in {"429", "502", "503"},
        }
        for header, is_there in promised.items():
            if (header in answer["headers"]) is not is_there:
                yield f"{status}: {header}"
