"""The shapes of the back office's own answers."""

from __future__ import annotations

import typing
from typing import Any

import msgspec
import pytest

from gateway.http.backoffice import documents
from gateway.http.json import Amount

SHAPES = [
    each
    for each in vars(documents).values()
    if typing.is_typeddict(each) and each.__module__ == documents.__name__
]


def described(shape: type) -> dict[str, Any]:
    """Return the schema of a shape."""

    def custom(kind: type) -> dict[str, str]:
        assert kind is Amount
        return {"type": "number"}

    found: dict[str, Any] = msgspec.json.schema(shape, schema_hook=custom)["$defs"][shape.__name__]
    return found


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_a_shape_can_be_described(shape: type):
    """Every field has a schema; no field is ever null."""
    properties = described(shape)["properties"]

    assert set(properties) == set(shape.__annotations__)
    assert "null" not in str(properties)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_only_a_payer_and_a_failure_may_be_absent(shape: type):
    found = described(shape)

    assert set(found["properties"]) - set(found["required"]) <= {"payer", "failure"}
