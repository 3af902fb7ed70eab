"""What fields mean: every field and every parameter has a description."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gateway.http.openapi.document import document
from tests.world.surfaces import usual_surfaces

PAGES = {"panel_pages", "callbacks"}
"""Surfaces without JSON of ours."""


def fields() -> Iterator[tuple[str, str, Any]]:
    for surface in usual_surfaces():
        if surface.name not in PAGES:
            schemas = document(surface, surface.name)["components"]["schemas"]
            for name, component in schemas.items():
                for field, schema in component.get("properties", {}).items():
                    yield name, field, schema


def test_every_field_has_a_description():
    silent = {
        f"{name}.{field}"
        for name, field, schema in fields()
        if not {"description", "$ref"} & schema.keys()
    }

    assert silent == set()


def test_every_parameter_has_a_description():
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
