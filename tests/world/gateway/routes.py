"""The routes as they are declared, and an address for each at which it may be asked."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from gateway.http.table import PlacedRoute, Table
from tests.world.gateway.answers import Answer
from tests.world.gateway.world import Details, World, order
from tests.world.surfaces import usual_surfaces

PLACES: tuple[PlacedRoute, ...] = tuple(Table(usual_surfaces()[:1]).places())
"""Every route of the banking surface with what stands in front of it."""

PARTNER: tuple[PlacedRoute, ...] = tuple(place for place in PLACES if place.route.needs)
"""The routes behind a credential."""

OPEN: tuple[PlacedRoute, ...] = tuple(place for place in PLACES if place.route.needs is None)

BANKED: tuple[PlacedRoute, ...] = tuple(
    place
    for place in PARTNER
    if place.route.method == "GET"
    and any(error.status == 502 for error in place.route.fails.values())
)
"""Reads that ask the provider."""


def name(place: PlacedRoute) -> str:
    """Name a route in a test's id."""
    return place.route.name


def path(world: World, place: PlacedRoute, account: str = "main", **steps: str) -> str:
    """Return a path under which the route finds what it looks for on account main."""
    known = {
        "account_id": world.demo["accounts"][account]["id"],
        "key_id": world.demo["pix_keys"]["main"][0],
        "reference": reference(world, place),
        **steps,
    }
    segments = [
        quote(known[step[1:-1]], safe="") if step.startswith("{") else step
        for step in place.template.split("/")
    ]
    return "/".join(segments) + (window(world) if place.route.takes.parameters else "")


def reference(world: World, place: PlacedRoute) -> str:
    """Return a reference for a role: a paid charge, or a payout."""
    return world.demo["charges"]["paid"] if "/pix/" in place.template else PAID


def window(world: World) -> str:
    """Return the query of today."""
    return f"?init={world.today()}&ends={world.today()}"


PAID = "paid-before"
"""The reference of a payout that ``prepared`` makes."""


async def prepared(world: World) -> None:
    """Make what the routes read: one payout on account main; repeatable."""
    answer = await world.pay(order(PAID, world.today()))
    assert answer.status == 200, answer.body


async def ask(world: World, place: PlacedRoute, account: str = "main", **how: Any) -> Answer:
    """Ask a route; ``steps`` replace parts of its path, everything else is as in ``World.ask``."""
    details: Details = how  # type: ignore[assignment]
    steps: dict[str, str] = how.pop("steps", {})
    if place.route.takes.body is not None:
        details.setdefault("document", order(PAID, world.today()))
    return await world.ask(place.route.method, path(world, place, account, **steps), **details)
