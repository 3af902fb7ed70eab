"""The three documents that are served, with the rows they are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gateway.http.openapi.document import document
from gateway.http.route import Surface
from gateway.http.table import RoutedRow, Table
from tests.world.surfaces import surface_named


@dataclass(frozen=True, slots=True)
class Described:
    """A surface and its document."""

    surface: Surface
    document: Mapping[str, Any]

    @property
    def places(self) -> list[RoutedRow]:
        """Every row with what stands in front of it."""
        return Table([self.surface]).places()

    def operation(self, place: RoutedRow) -> Mapping[str, Any]:
        """Return the description of a row."""
        found: Mapping[str, Any] = self.document["paths"][place.template][place.row.method.lower()]
        return found

    def resolved(self, part: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what a part refers to; the part itself where it refers to nothing."""
        if "$ref" not in part:
            return part
        _, _, group, name = part["$ref"].split("/")
        found: Mapping[str, Any] = self.document["components"][group][name]
        return found

    def parameters(self, place: RoutedRow, where: str) -> list[Mapping[str, Any]]:
        """Return the parameters of a row that stand in ``path``, ``query`` or ``header``."""
        found = (self.resolved(each) for each in self.operation(place)["parameters"])
        return [each for each in found if each["in"] == where]


def _described(name: str) -> Described:
    surface = surface_named(name)
    return Described(surface, document(surface, name))


SURFACES: Mapping[str, Described] = {
    name: _described(name) for name in ("banking", "identity", "backoffice")
}
PLACES: tuple[RoutedRow, ...] = tuple(
    place for described in SURFACES.values() for place in described.places
)
"""Every row of the three."""


def described(place: RoutedRow) -> Described:
    """Return the surface that a row belongs to."""
    return SURFACES[place.surface.name]


def name(place: RoutedRow) -> str:
    """Name a row in a test's id."""
    return place.row.name
