"""The document as it is generated from the routes, without anything behind them."""

from __future__ import annotations

from typing import Any

from gateway.http.openapi.document import document
from tests.world.surfaces import usual_surfaces

SURFACE = usual_surfaces()[0]
DOCUMENT: dict[str, Any] = document(SURFACE, "pixgate banking")
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def operation(method: str, path: str) -> dict[str, Any]:
    found: dict[str, Any] = DOCUMENT["paths"][path][method.lower()]
    return found


def schema_of(method: str, path: str, status: int) -> dict[str, Any]:
    """Return the schema of one answer, with everything it refers to."""
    answer = operation(method, path)["responses"][str(status)]
    shown = answer["content"]["application/json"]["schema"]
    return {"$schema": DIALECT, **shown, "components": DOCUMENT["components"]}


def resolved(part: dict[str, Any]) -> dict[str, Any]:
    """Return what a part of the document refers to; the part itself where it refers to nothing."""
    if "$ref" not in part:
        return part
    _, _, group, name = part["$ref"].split("/")
    found: dict[str, Any] = DOCUMENT["components"][group][name]
    return found
