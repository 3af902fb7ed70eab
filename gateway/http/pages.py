"""Documents that are served as they stand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from gateway.http.openapi.document import as_json, as_yaml, document
from gateway.http.route import Surface

_DESCRIBED: Final = {
    "banking": ("", "pixgate banking"),
    "identity": ("/iam/v1", "pixgate identity"),
    "backoffice": ("/backoffice/v1", "pixgate back office"),
}
"""Where the document of a surface stands, and its title; the banking one is YAML too."""

_IN_YAML: Final = "banking"

PAGES: Final = (
    *(f"{surface}.openapi_json" for surface in _DESCRIBED),
    f"{_IN_YAML}.openapi_yaml",
)
"""The names of all pages, for logs and metrics."""


@dataclass(frozen=True)
class Page:
    """One document, open to everybody."""

    name: str
    content_type: str
    write: Callable[[], bytes]

    @cached_property
    def body(self) -> bytes:
        """Its content, written when somebody first asks: a start need not wait for it."""
        return self.write()


def openapi_pages(surfaces: Iterable[Surface]) -> Mapping[str, Page]:
    """Return the OpenAPI documents by path, of the surfaces that have one."""
    return {
        path: page
        for surface in surfaces
        if surface.name in _DESCRIBED
        for path, page in _pages(surface)
    }


def _pages(surface: Surface) -> Iterator[tuple[str, Page]]:
    """Make the pages of one surface."""
    prefix, title = _DESCRIBED[surface.name]
    name, kind = f"{surface.name}.openapi_json", "application/json; charset=utf-8"
    yield f"{prefix}/openapi.json", Page(name, kind, lambda: as_json(document(surface, title)))
    if surface.name == _IN_YAML:
        name, kind = f"{surface.name}.openapi_yaml", "application/yaml; charset=utf-8"
        yield f"{prefix}/openapi.yaml", Page(name, kind, lambda: as_yaml(document(surface, title)))
