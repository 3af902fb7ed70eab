"""Every route of the back office that asks for a right, and the roles it is tried with."""

from __future__ import annotations

import uuid
from collections.abc import Collection
from typing import Any

from gateway.core.permissions import Action
from gateway.core.rights import RIGHTS, Area, Right, Role
from gateway.http.openapi.document import document
from gateway.http.route import Surface
from gateway.http.table import PlacedRoute, Table
from tests.world.gateway.answers import JSON
from tests.world.surfaces import surface_named

NAME = "backoffice"

SURFACE: Surface = surface_named(NAME)

DOCUMENT: dict[str, Any] = document(SURFACE, "pixgate back office")

TABLE = Table([SURFACE])

PLACES: tuple[PlacedRoute, ...] = tuple(TABLE.places())
"""Every route with what stands in front of it."""

GUARDED: tuple[PlacedRoute, ...] = tuple(place for place in PLACES if place.route.needs is not None)
"""The routes behind a right."""

OF_AN_ACCOUNT: tuple[PlacedRoute, ...] = tuple(
    place for place in GUARDED if "{account_id}" in place.template
)

OF_EACH_GATE: tuple[PlacedRoute, ...] = tuple(
    next(place for place in GUARDED if place.gate is gate) for gate in SURFACE.gates[:-1]
)
"""One route of each gate with a credential; the open gate is the last."""

NOTHING = "nothing-of-this-name"


def name(place: PlacedRoute) -> str:
    return place.route.name


def kind(place: PlacedRoute) -> str:
    """Return the media type of a route's answer without an Accept header."""
    first = place.route.media[0]
    return JSON if first == "application/json" or len(place.route.media) > 1 else first


def may(role: Role, place: PlacedRoute) -> bool:
    """Say whether a role covers what a route needs, by the one table."""
    needed = place.route.needs
    return isinstance(needed, Right) and any(right.covers(needed) for right in RIGHTS[role])


def outcomes() -> list[tuple[PlacedRoute, Role]]:
    """
    Pair each route with one role that covers what it needs and one that does not, in turns.

    Each role against each right is proven where it is decided: ``RequiresRight``.
    """
    pairs = []
    for number, place in enumerate(GUARDED):
        for outcome in (True, False):
            roles = [role for role in Role if may(role, place) is outcome]
            pairs += [(place, roles[number % len(roles)])] if roles else []
    return pairs


def listed(permissions: Collection[str], place: PlacedRoute) -> bool:
    """Say whether permissions, as a session's document lists them, cover what a route needs."""
    needed = place.route.needs
    if not isinstance(needed, Right):
        return False
    words = [each.rpartition(":") for each in permissions]
    held = [Right(Area(area), Action[action.upper()]) for area, _, action in words]
    return any(right.covers(needed) for right in held)


def path(place: PlacedRoute, **known: str) -> str:
    """Return a path of the route; unknown parameters name nothing that exists."""

    def step(text: str) -> str:
        if not text.startswith("{"):
            return text
        parameter = text[1:-1]
        absent = NOTHING if parameter == "reference" else str(uuid.uuid4())
        return known.get(parameter, absent)

    return "/".join(step(each) for each in place.template.split("/"))
