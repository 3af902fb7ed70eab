"""Refusals of the partners' gate: each once, and each route behind the gate."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest
from sqlalchemy import update

from gateway.http.table import PlacedRoute
from gateway.security.secrets import new_client_id, new_client_secret
from gateway.store.tables import core
from provider_adapters.testing.demo.ensure import Pair
from tests.world.gateway import routes
from tests.world.gateway.answers import Answer
from tests.world.gateway.world import NOBODY, World, basic, other_secret

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("prepared")]

Attempt = Callable[[World, PlacedRoute], Awaitable[Answer]]


def by(role: str, account: str = "main") -> Attempt:
    """Ask with a credential of the demo."""
    return lambda world, place: routes.ask(world, place, account, by=role)


def showing(authorization: str) -> Attempt:
    """Ask with this Authorization header."""
    return lambda world, place: routes.ask(
        world, place, by=NOBODY, headers={"Authorization": authorization}
    )


async def wrong_secret(world: World, place: PlacedRoute) -> Answer:
    return await routes.ask(world, place, pair=other_secret(world.pair("full")))


async def mistyped_secret(world: World, place: PlacedRoute) -> Answer:
    pair = world.pair("full")
    cut = Pair(client_id=pair["client_id"], client_secret=pair["client_secret"][:-1])
    return await routes.ask(world, place, pair=cut)


async def unknown_id(world: World, place: PlacedRoute) -> Answer:
    stranger = Pair(
        client_id=new_client_id(lambda size: b"s" * size),
        client_secret=new_client_secret(lambda size: b"s" * size),
    )
    return await routes.ask(world, place, pair=stranger)


async def expired(world: World, place: PlacedRoute) -> Answer:
    issued = await world.issue(expires_at=world.gateway.kernel.now() + timedelta(hours=1))
    pair = Pair(client_id=issued.credential.client_id, client_secret=issued.client_secret)
    past = world.gateway.kernel.now() - timedelta(seconds=1)
    async with world.gateway.kernel.store.database.writing() as connection:
        mine = core.credentials.c.client_id == pair["client_id"]
        await connection.execute(update(core.credentials).where(mine).values(expires_at=past))
    return await routes.ask(world, place, pair=pair)


async def bearer(world: World, place: PlacedRoute) -> Answer:
    header = basic(world.pair("full")).replace("Basic", "Bearer")
    return await routes.ask(world, place, by=NOBODY, headers={"Authorization": header})


async def absent_account(world: World, place: PlacedRoute) -> Answer:
    return await routes.ask(world, place, by="company", steps={"account_id": str(uuid.uuid4())})


async def not_a_uuid(world: World, place: PlacedRoute) -> Answer:
    return await routes.ask(world, place, steps={"account_id": "42"})


NO_COLON = base64.b64encode(b"no colon here").decode()

REFUSALS: dict[str, tuple[Attempt, int, str]] = {
    "no credential": (by(NOBODY), 401, "SVC.AUT.001"),
    "bearer": (bearer, 401, "SVC.AUT.009"),
    "a scheme alone": (showing("Digest"), 401, "SVC.AUT.009"),
    "empty": (showing(""), 401, "SVC.AUT.002"),
    "not base64": (showing("Basic %%%"), 401, "SVC.AUT.002"),
    "no colon": (showing(f"Basic {NO_COLON}"), 401, "SVC.AUT.002"),
    "wrong secret": (wrong_secret, 401, "SVC.AUT.010"),
    "mistyped secret": (mistyped_secret, 401, "SVC.AUT.010"),
    "unknown id": (unknown_id, 401, "SVC.AUT.010"),
    "revoked": (by("revoked"), 401, "SVC.AUT.010"),
    "expired": (expired, 401, "SVC.AUT.010"),
    "no permission": (by("none"), 403, "SVC.AUT.010"),
    "other company": (by("other_company"), 404, "SVC.ACC.001"),
    "absent account": (absent_account, 404, "SVC.ACC.001"),
    "sister account": (by("full", "sister"), 403, "SVC.AUT.010"),
    "inactive": (by("company", "inactive"), 400, "SVC.ACC.002"),
    "unverified": (by("company", "unverified"), 400, "SVC.ACC.003"),
    "inactive and unverified": (by("company", "inactive_unverified"), 400, "SVC.ACC.002"),
    "not a UUID": (not_a_uuid, 400, "SVC.VAL.006"),
}


BALANCE = next(each for each in routes.PARTNER if each.route.name == "banking.balance")
BY_GATE = ("no credential", "no permission", "other company", "sister account", "inactive")
"""One refusal of each of the gate's policies."""


@pytest.mark.parametrize("case", list(REFUSALS))
async def test_each_refusal_has_its_code(world: World, case: str):
    """Contract 5.1 to 5.3; every 401 carries the challenge."""
    attempt, status, code = REFUSALS[case]

    answer = await attempt(world, BALANCE)

    assert answer.verdict == (status, code)
    challenge = 'Basic realm="baas", charset="UTF-8"' if status == 401 else None
    assert answer.headers.get("WWW-Authenticate") == challenge


async def test_every_route_stands_behind_the_gate(world: World):
    wrong = {}
    for place in routes.PARTNER:
        for case in BY_GATE:
            attempt, *verdict = REFUSALS[case]
            answer = await attempt(world, place)
            if answer.verdict != tuple(verdict):
                wrong[place.route.name, case] = answer.verdict

    assert wrong == {}


async def test_no_refused_payout_left_a_trace(world: World):
    """What is refused in front of the operation is neither stored nor sent."""
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


NOT_UUIDS = [
    "42",
    "{00000000-0000-4000-8000-000000000000}",
    "urn:uuid:00000000-0000-4000-8000-000000000000",
    "00000000000040008000000000000000",
    "00000000-0000-4000-8000-00000000000",
    "00000000-0000-4000-8000-0000000000000",
    "٠0000000-0000-4000-8000-000000000000",
    "00000000-0000-4000-8000-000000000000\n",
    "g0000000-0000-4000-8000-000000000000",
    "\x00",
]
"""Other spellings that lenient readers take."""


@pytest.mark.parametrize("step", ["account_id", "key_id"])
async def test_only_a_hyphenated_uuid_is_an_identifier(world: World, step: str):
    """Contract part 7, ``SVC.VAL.006``."""
    place = next(each for each in routes.PARTNER if "{key_id}" in each.template)

    verdicts = {
        text: (await routes.ask(world, place, steps={step: text})).verdict for text in NOT_UUIDS
    }

    assert verdicts == dict.fromkeys(NOT_UUIDS, (400, "SVC.VAL.006"))


async def test_an_identifier_may_be_written_in_capitals(world: World):
    account = world.demo["accounts"]["main"]["id"].upper()
    place = next(each for each in routes.PARTNER if "{key_id}" in each.template)

    answer = await routes.ask(world, place, steps={"account_id": account})

    assert answer.status == 200
