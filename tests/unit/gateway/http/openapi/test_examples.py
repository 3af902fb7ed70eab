"""Examples made of schemas."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.http.openapi.examples import UNKNOWN, example_of, without_example

THING = {
    "type": "object",
    "required": ["reference", "data"],
    "properties": {
        "reference": {"type": "string", "example": "order-1042"},
        "data": {"type": "array", "items": {"$ref": "#/components/schemas/Part"}},
        "left_out": {"type": "string", "example": "never"},
        "shown": {"type": "string", "examples": ["seen"]},
    },
}
PART = {"type": "object", "required": ["at"], "properties": {"at": {"type": "integer"}}}


def made(schema: dict[str, Any]) -> Any:
    return example_of(schema, {"Part": PART})


@pytest.mark.parametrize(
    ("schema", "example"),
    [
        ({"type": "string", "examples": ["a", "b"]}, "a"),
        ({"type": "string", "examples": ["a"], "example": "own"}, "own"),
        ({"type": "string", "enum": ["failed", "paid"], "example": "paid"}, "paid"),
        ({"type": "boolean", "const": False}, False),
        ({"type": "string", "enum": ["credit", "debit"]}, "credit"),
        ({"type": "string", "format": "date"}, "2026-11-20"),
        ({"type": "integer", "minimum": 3}, 3),
        ({"type": "integer", "minimum": 0}, 1),
        ({"type": "boolean"}, True),
        ({"type": "array", "items": {"type": "integer"}}, [1]),
        ({"type": "object", "additionalProperties": {"type": "string"}}, {}),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, 1),
        ({"oneOf": [{"$ref": "#/components/schemas/Part"}]}, {"at": 1}),
        ({"type": "string"}, UNKNOWN),
    ],
)
def test_a_schema_has_an_example(schema: dict[str, Any], example: object):
    assert made(schema) == example


def test_an_object_shows_required_fields_and_those_with_examples():
    assert made(THING) == {"reference": "order-1042", "data": [{"at": 1}], "shown": "seen"}


def test_an_operation_s_example_is_left_out_of_the_field():
    """Also of a field that is itself called ``example``."""
    named = {"properties": {"example": {"type": "string", "example": "a", "examples": ["b"]}}}

    assert without_example(named) == {
        "properties": {"example": {"type": "string", "examples": ["b"]}}
    }
    assert without_example({"type": "string"}) == {"type": "string"}
