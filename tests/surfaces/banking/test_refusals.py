"""Refusals of the partners' gate, which every route is behind."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from gateway.http.table import PlacedRoute
from tests.world.gateway import routes
from tests.world.gateway.answers import Answer
from tests.world.gateway.world import NOBODY, World

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("prepared")]

Attempt = Callable[[World, PlacedRoute], Awaitable[Answer]]


def by(role: str, account: str = "main") -> Attempt:
    return lambda world, place: routes.ask(world, place, account, by=role)


REFUSALS: dict[str, tuple[Attempt, int, str]] = {
    "no credential": (by(NOBODY), 401, "SVC.AUT.001"),
    "no permission": (by("none"), 403, "SVC.AUT.010"),
    "other company": (by("other_company"), 404, "SVC.ACC.001"),
    "sister account": (by("full", "sister"), 403, "SVC.AUT.010"),
    "inactive": (by("company", "inactive"), 400, "SVC.ACC.002"),
}
"""
One refusal of each of the gate's policies.

Every code is answered once in ``tests/contract/errors``, every reason where its policy is proven.
"""


async def test_every_route_is_behind_the_gate(world: World):
    """Contract 5.1 to 5.3; every 401 has the challenge."""
    wrong = {}
    for place in routes.PARTNER:
        for case, (attempt, status, code) in REFUSALS.items():
            answer = await attempt(world, place)
            challenge = 'Basic realm="baas", charset="UTF-8"' if status == 401 else None
            told = answer.verdict, answer.headers.get("WWW-Authenticate")
            if told != ((status, code), challenge):
                wrong[place.route.name, case] = told

    assert wrong == {}


async def test_a_payout_refused_before_the_operation_is_neither_stored_nor_sent(world: World):
    today = world.gateway.kernel.now().date().isoformat()
    window = f"/withdraws?init={today}&ends={today}"

    for account in ("sister", "inactive", "unverified", "inactive_unverified"):
        found = await world.gateway.kernel.store.payouts.find(
            world.demo["accounts"][account]["id"], routes.PAID
        )
        assert found is None
        assert await world.executions(routes.PAID, account) == []
    listed = await world.ask("GET", world.at(window, "sister"), by="company")
    assert listed.document["meta"]["total"] == 0
