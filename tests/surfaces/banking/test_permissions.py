"""Which permission opens which route, over the socket: one of each kind on every route."""

from __future__ import annotations

import pytest

from gateway.core.permissions import Action, Permission, Resource
from gateway.http.table import PlacedRoute
from tests.world.gateway import routes
from tests.world.gateway.answers import Answer
from tests.world.gateway.world import World

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("prepared")]

ACTIONS = {"read": 1, "write": 2, "manage": 3}
NEEDED = {
    "GET /balance": "balance:read",
    "GET /pix/keys": "pix_key:read",
    "GET /pix/keys/{key_id}": "pix_key:read",
    "GET /pix/qrcode/{reference}": "qrcode:read",
    "GET /pix/transactions/{reference}": "transaction:read",
    "GET /transactions": "transaction:read",
    "POST /withdraw": "withdraw:write",
    "GET /withdraw/{reference}": "withdraw:read",
    "GET /withdraws": "withdraw:read",
    "DELETE /withdraw/{reference}": "withdraw:write",
}
"""Contract 4.1 and 5.2, written down once more: a route cannot loosen itself unseen."""


def asked(place: PlacedRoute) -> str:
    """Name a route as the contract's table does."""
    return f"{place.route.method} {place.template.removeprefix('/baas/v1/account/{account_id}')}"


async def test_the_routes_match_the_contract():
    """Ten, in the contract's order; a new one is added to the list above."""
    assert sorted(map(asked, routes.PARTNER)) == sorted(NEEDED)


def held_by_callers() -> list[tuple[PlacedRoute, Permission]]:
    """
    Pair each route with the three permissions of its resource, and with all over another one.

    The whole matrix is proven where it is decided: ``Permission`` and ``RequiresPermission``.
    """
    pairs = []
    for place in routes.PARTNER:
        own = Permission.parse(NEEDED[asked(place)]).resource
        other = next(each for each in Resource if each is not own)
        held = [*(Permission(own, action) for action in Action), Permission(other, Action.MANAGE)]
        pairs += [(place, each) for each in held]
    return pairs


def covers(held: Permission, needed: str) -> bool:
    """Contract 5.2 in its own words: manage implies write, write implies read."""
    resource, action = needed.split(":")
    return held.resource == resource and ACTIONS[held.action.name.lower()] >= ACTIONS[action]


def is_served(place: PlacedRoute, answer: Answer) -> bool:
    return answer.status == (501 if place.route.method == "DELETE" else 200)


async def test_one_permission_opens_exactly_its_routes(world: World):
    wrong = {}
    for place, held in held_by_callers():
        answer = await routes.ask(world, place, by=str(held))
        if covers(held, NEEDED[asked(place)]):
            is_right = is_served(place, answer)
        else:
            is_right = answer.verdict == (403, "SVC.AUT.010")
        if not is_right:
            wrong[place.route.name, str(held)] = answer.verdict

    assert wrong == {}


async def test_a_company_credential_acts_on_every_account_of_the_company(world: World):
    """Contract 5.1."""
    answers = [(each, await routes.ask(world, each, by="company")) for each in routes.PARTNER]

    assert [place.route.name for place, said in answers if not is_served(place, said)] == []
