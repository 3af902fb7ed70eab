"""Documents that are served as they stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gateway.http.openapi import as_json, as_yaml, document
from gateway.http.route import Surface

_JSON, _YAML = "banking.openapi_json", "banking.openapi_yaml"

PAGES = (_JSON, _YAML)
"""The names of all pages, for logs and metrics."""


@dataclass(frozen=True, slots=True)
class Page:
    """One ready-made document, open to everybody."""

    name: str
    content_type: str
    body: bytes


def openapi_pages(banking: Surface) -> Mapping[str, Page]:
    """Return the banking surface's OpenAPI document by path, as JSON and as YAML."""
    description = document(banking, "pixgate banking")
    return {
        "/openapi.json": Page(_JSON, "application/json; charset=utf-8", as_json(description)),
        "/openapi.yaml": Page(_YAML, "application/yaml; charset=utf-8", as_yaml(description)),
    }
