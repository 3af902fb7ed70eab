"""The rows as they are declared, and an address for each at which it may be asked."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from gateway.http.table import RoutedRow, Table
from tests.world.gateway.answers import Answer
from tests.world.gateway.world import Details, World, order
from tests.world.surfaces import usual_surfaces

PLACES: tuple[RoutedRow, ...] = tuple(Table(usual_surfaces()[:1]).places())
"""Every row of the banking surface with what stands in front of it."""

PARTNER: tuple[RoutedRow, ...] = tuple(place for place in PLACES if place.row.needs)
"""The rows behind a credential."""

OPEN: tuple[RoutedRow, ...] = tuple(place for place in PLACES if place.row.needs is None)

BANKED: tuple[RoutedRow, ...] = tuple(
    place
    for place in PARTNER
    if place.row.method == "GET" and any(error.status == 502 for error in place.row.fails.values())
)
"""Reads that ask the provider."""


def name(place: RoutedRow) -> str:
    """Name a row in a test's id."""
    return place.row.name


def path(world: World, place: RoutedRow, account: str = "main", **steps: str) -> str:
    """Return a path under which the row finds what it looks for on account main."""
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
    return "/".join(segments) + (window(world) if place.row.takes.parameters else "")


def reference(world: World, place: RoutedRow) -> str:
    """Return a reference that stands for something: a paid charge, or a payout."""
    return world.demo["charges"]["paid"] if "/pix/" in place.template else PAID


def window(world: World) -> str:
    """Return the query of today."""
    return f"?init={world.today()}&ends={world.today()}"


PAID = "paid-before"
"""The reference of a payout that ``prepared`` makes."""


async def prepared(world: World) -> None:
    """Make what the rows read: one payout on account main; repeatable."""
    answer = await world.pay(order(PAID, world.today()))
    assert answer.status == 200, answer.body


async def ask(world: World, place: RoutedRow, account: str = "main", **how: Any) -> Answer:
    """Ask a row; ``steps`` replace parts of its path, everything else is as in ``World.ask``."""
    details: Details = how  # type: ignore[assignment]
    steps: dict[str, str] = how.pop("steps", {})
    if place.row.takes.body is not None:
        details.setdefault("document", order(PAID, world.today()))
    return await world.ask(place.row.method, path(world, place, account, **steps), **details)
