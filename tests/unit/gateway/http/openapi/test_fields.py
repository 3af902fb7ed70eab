"""What fields mean: every one says it, and nothing is said of a field that is gone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gateway.http.openapi.document import document
from gateway.http.openapi.fields import FIELDS, explained
from tests.world.surfaces import usual_surfaces

PAGES = {"panel_pages", "callbacks"}
"""Surfaces without JSON of ours."""


def fields() -> Iterator[tuple[str, str, Any]]:
    """Return every field of every document, with its component."""
    for surface in usual_surfaces():
        if surface.name not in PAGES:
            schemas = document(surface, surface.name)["components"]["schemas"]
            for name, component in schemas.items():
                for field, schema in component.get("properties", {}).items():
                    yield name, field, schema


def test_every_field_says_what_it_means():
    silent = {
        f"{name}.{field}"
        for name, field, schema in fields()
        if not {"description", "$ref"} & schema.keys()
    }

    assert silent == set()


def test_every_parameter_says_what_it_means():
    silent = {
        (path, each["name"])
        for surface in usual_surfaces()
        if surface.name not in PAGES
        for path, methods in document(surface, surface.name)["paths"].items()
        for described in methods.values()
        for each in described["parameters"]
        if not each.get("description", each.get("$ref"))
    }

    assert silent == set()


def test_every_line_is_of_a_field():
    known = {key for name, field, _ in fields() for key in (field, f"{name}.{field}")}

    assert FIELDS.keys() - known == set()


def test_what_a_field_says_by_itself_stays_unless_its_schema_says_it():
    own = {"properties": {"id": {"type": "string", "description": "A UUID."}, "page": {}}}

    assert explained("Note", own)["properties"] == {
        "id": {"type": "string", "description": "A UUID."},
        "page": {"description": FIELDS["page"]},
    }
    assert explained("Note", {"type": "string"}) == {"type": "string"}
    blocked = {"properties": {"blocked": {"description": "Reais."}}}
    assert explained("Balance", blocked)["properties"]["blocked"] == {
        "description": FIELDS["Balance.blocked"]
    }
