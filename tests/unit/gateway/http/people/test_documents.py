"""The shapes of what people are told, as OpenAPI shows them."""

from __future__ import annotations

import typing

import msgspec
import pytest

from gateway.http.identity import documents as identity
from gateway.http.panel import documents as panel
from gateway.http.people import documents

SHAPES = [
    each
    for module in (documents, identity, panel)
    for each in vars(module).values()
    if typing.is_typeddict(each) and each.__module__ == module.__name__
]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_a_shape_can_be_described(shape: type):
    """Every field has a schema."""
    described = msgspec.json.schema(shape)["$defs"][shape.__name__]

    assert set(described["properties"]) == set(shape.__annotations__)
    assert described["description"]
