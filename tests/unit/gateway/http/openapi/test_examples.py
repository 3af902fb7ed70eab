"""Examples made of schemas."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.http.openapi.examples import BY_NAME, UNKNOWN, example_of

THING = {
    "type": "object",
    "required": ["reference", "data"],
    "properties": {
        "reference": {"type": "string"},
        "data": {"type": "array", "items": {"$ref": "#/components/schemas/Part"}},
        "left_out": {"type": "string"},
        "shown": {"type": "string", "examples": ["seen"]},
    },
}
PART = {"type": "object", "required": ["at"], "properties": {"at": {"type": "integer"}}}


def made(schema: dict[str, Any], name: str = "") -> Any:
    return example_of(schema, {"Part": PART}, name)


@pytest.mark.parametrize(
    ("schema", "name", "example"),
    [
        ({"type": "string", "examples": ["a", "b"]}, "reference", "a"),
        ({"type": "boolean", "const": False}, "", False),
        ({"type": "string", "enum": ["credit", "debit"]}, "", "credit"),
        ({"type": "string", "enum": ["failed", "paid"]}, "status", "paid"),
        ({"type": "string", "enum": ["done", "void"]}, "status", "done"),
        ({"type": "string"}, "reference", BY_NAME["reference"]),
        ({"type": "string", "format": "date"}, "until", "2026-11-20"),
        ({"type": "integer", "minimum": 3}, "", 3),
        ({"type": "boolean"}, "", True),
        ({"type": "array", "items": {"type": "integer"}}, "", [1]),
        ({"type": "object", "additionalProperties": {"type": "string"}}, "", {}),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "", 1),
        ({"oneOf": [{"$ref": "#/components/schemas/Part"}]}, "", {"at": 1}),
        ({"type": "string"}, "something new", UNKNOWN),
    ],
)
def test_a_schema_has_an_example(schema: dict[str, Any], name: str, example: object):
    assert made(schema, name) == example


def test_an_object_shows_what_is_always_there_and_what_says_how():
    assert made(THING) == {"reference": "order-1042", "data": [{"at": 1}], "shown": "seen"}


@pytest.mark.parametrize(
    ("name", "example"),
    [
        ("expires_at", 1_790_085_011),
        ("status", 200),
        ("http_status", 200),
        ("count", 1),
    ],
)
def test_a_whole_number_that_counts_nothing_has_one_of_its_kind(name: str, example: int):
    assert made({"type": "integer", "minimum": 0}, name) == example


def test_what_a_field_stands_for_in_its_schema_always_counts():
    """Also where the field has an example of its own; elsewhere its name counts."""
    named = {"properties": {"name": {"type": "string", "examples": ["Maria"]}}}
    components = {"Info": named, "User": named}

    assert [
        example_of({"$ref": f"#/components/schemas/{schema}"}, components)["name"]
        for schema in components
    ] == ["pixgate", "Maria"]
