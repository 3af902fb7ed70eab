"""Numbers of the three documents: generated clients keep every centavo and every digit."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from gateway.http.openapi.document import as_json, document
from tests.world.documents import SURFACES
from tests.world.surfaces import surface_named

LARGEST_INT32 = 2**31 - 1
NUMBERS = {"integer", "number"}
EXAMPLES = {"example", "examples"}


def numbers(part: Any, place: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Name the place of every number in a document, and describe it."""
    if isinstance(part, list):
        for index, each in enumerate(part):
            yield from numbers(each, f"{place}/{index}")
    if isinstance(part, dict):
        kinds = part.get("type")
        if not NUMBERS.isdisjoint([kinds] if isinstance(kinds, str) else kinds or ()):
            yield place, part
        for name, each in part.items():
            if name not in EXAMPLES:
                yield from numbers(each, f"{place}/{name}")


def format_of(schema: Mapping[str, Any]) -> str:
    """Return the format without which Go reads float32, and Go, Java, C# and Rust 32 bits."""
    if schema["type"] == "number":
        return "double"
    return "int32" if schema.get("maximum", LARGEST_INT32 + 1) <= LARGEST_INT32 else "int64"


@pytest.mark.parametrize("name", SURFACES)
def test_every_number_has_the_format_of_its_range(name: str):
    """Amounts, sums and durations are doubles; a number without a bound of 31 bits has 64."""
    described = json.loads(as_json(document(surface_named(name), name)))
    found = list(numbers(described))
    wanted = {"integer"} if name == "identity" else NUMBERS

    assert {kind["type"] for _, kind in found} >= wanted
    assert [place for place, each in found if each.get("format") != format_of(each)] == []
