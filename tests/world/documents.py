"""The documents that are served, with the routes they are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gateway.http.openapi.document import document
from gateway.http.route import Surface
from gateway.http.table import PlacedRoute, Table
from tests.world.surfaces import surface_named


@dataclass(frozen=True, slots=True)
class Described:
    surface: Surface
    document: Mapping[str, Any]

    @property
    def places(self) -> list[PlacedRoute]:
        """Every route with its gate."""
        return Table([self.surface]).places()

    def operation(self, place: PlacedRoute) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.document["paths"][place.template][
            place.route.method.lower()
        ]
        return found

    def resolved(self, part: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what a part refers to; the part itself where it refers to nothing."""
        if "$ref" not in part:
            return part
        _, _, group, name = part["$ref"].split("/")
        found: Mapping[str, Any] = self.document["components"][group][name]
        return found

    def parameters(self, place: PlacedRoute, where: str) -> list[Mapping[str, Any]]:
        """Return the parameters of a route in ``path``, ``query`` or ``header``."""
        found = (self.resolved(each) for each in self.operation(place)["parameters"])
        return [each for each in found if each["in"] == where]


def _described(name: str) -> Described:
    surface = surface_named(name)
    return Described(surface, document(surface, name))


SURFACES: Mapping[str, Described] = {
    name: _described(name) for name in ("banking", "events", "sandbox", "identity", "backoffice")
}
PLACES: tuple[PlacedRoute, ...] = tuple(
    place for described in SURFACES.values() for place in described.places
)
"""Every route of them."""


def described(place: PlacedRoute) -> Described:
    return SURFACES[place.surface.name]


def name(place: PlacedRoute) -> str:
    return place.route.name
