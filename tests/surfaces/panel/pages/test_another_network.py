"""A session that turns up at another network: asked for a code before anything else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import aiohttp
import pytest
import pytest_asyncio

from gateway.core.rights import Role
from gateway.identity.model import InvitationBody
from tests.surfaces.panel.pages.person import Person, signed_in
from tests.surfaces.panel.roles import PASSWORD
from tests.world.gateway.world import World
from tests.world.people import CLI

pytestmark = pytest.mark.asyncio(loop_scope="module")

ELSEWHERE, NEIGHBOUR = "127.0.1.1", "127.0.0.77"
"""Of another /24 than 127.0.0.1, and of the same."""


@pytest_asyncio.fixture(loop_scope="module")
async def away(world: World) -> AsyncIterator[World]:
    """The same gateway, reached from another network."""
    async with session_from(ELSEWHERE) as session:
        yield replace(world, session=session)


def session_from(address: str) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(local_addr=(address, 0)))


def carried(person: Person, world: World) -> Person:
    """The cookies of a person, used from another network."""
    return replace(person, world=world, cookies=dict(person.cookies))


async def test_a_neighbouring_address_counts_as_the_same_network(world: World):
    person = await signed_in(world, Role.VIEWER)

    async with session_from(NEIGHBOUR) as session:
        seen = await carried(person, replace(world, session=session)).open("/panel/accounts")

    assert seen.status == 200


async def test_every_page_from_another_network_requires_one_code(world: World, away: World):
    """Pages, fragments and forms; typed text is kept."""
    person = await signed_in(world, Role.OPERATOR, fresh=False)
    moved = carried(person, away)

    seen = await moved.open("/panel/payouts?days=7")
    at_door = await moved.open(seen.location)
    part = await moved.open(
        "/panel/payouts", **{"HX-Request": "true", "HX-Request-Type": "partial"}
    )
    sent = await moved.send("/panel/payouts/new", {"value": "10,00"})
    page = await moved.open(at_door.location)
    wrong = await moved.send("/panel/login/network", {"code": "000000", "next": "/panel/payouts"})
    right = await moved.send(
        "/panel/login/network", {"code": person.recovery.pop(), "next": "/panel/payouts?days=7"}
    )
    after = await moved.open(right.location)

    assert (seen.status, seen.location) == (303, "/panel/login?next=%2Fpanel%2Fpayouts%3Fdays%3D7")
    assert at_door.location == "/panel/login/network?next=%2Fpanel%2Fpayouts%3Fdays%3D7"
    assert (part.status, part.headers["HX-Redirect"][:18]) == (401, "/panel/login?next=")
    assert sent.location.startswith("/panel/login?next=")
    assert (page.status, ELSEWHERE in page.text) == (200, True)
    assert "@panel.example" not in page.text
    assert (wrong.status, right.status) == (401, 303)
    assert right.location == "/panel/payouts?days=7"
    assert after.status == 200
    assert (await moved.open("/panel/accounts")).status == 200


async def test_failed_attempts_elsewhere_do_not_end_the_original_session(world: World, away: World):
    person = await signed_in(world, Role.VIEWER)
    thief = carried(person, away)

    await thief.open("/panel/accounts")
    await thief.open("/panel/login/network")
    for _ in range(11):
        last = await thief.send("/panel/login/network", {"code": "000000"})

    assert last.status == 429
    assert (await thief.open("/panel/accounts")).status == 303
    assert (await person.open("/panel/accounts")).status == 200
    again = Person(world, recovery=person.recovery)
    await again.sign_in(await email_of(world, person))


async def email_of(world: World, person: Person) -> str:
    text = (await person.open("/panel/me")).text
    return text.partition("@panel.example")[0].rpartition(">")[2] + "@panel.example"


async def ask(at: World, token: str) -> tuple[int, str, str]:
    """Read accounts by token; the status, the code and the reason."""
    url = f"http://127.0.0.1:{at.port}/backoffice/v1/accounts"
    async with at.session.get(url, headers={"Authorization": token}) as said:
        found = await said.json()
    return said.status, found.get("code", ""), found.get("reason", "")


async def post(at: World, name: str, body: dict[str, str], token: str = "") -> dict[str, str]:
    """Call identity, and read its answer."""
    url, headers = f"http://127.0.0.1:{at.port}/iam/v1/auth/{name}", {"Authorization": token}
    async with at.session.post(url, json=body, headers=headers if token else {}) as said:
        assert said.status == 200, await said.text()
        found: dict[str, str] = await said.json()
    return found


async def test_a_token_requires_a_code_and_the_refresh_continues(world: World, away: World):
    """A refresh elsewhere returns tokens that are of no use there before the code."""
    person = await signed_in(world, Role.VIEWER)
    login = {"email": await email_of(world, person), "password": PASSWORD}
    asked = await post(world, "login", login)
    code = {"mfa_token": asked["mfa_token"], "code": person.recovery.pop()}
    tokens = await post(world, "mfa", code)
    bearer, refused = f"Bearer {tokens['access_token']}", (403, "STEP_UP_REQUIRED", "network_new")

    assert await ask(world, bearer) == (200, "", "")
    assert await ask(away, bearer) == refused
    renewed = await post(away, "refresh", {"refresh_token": tokens["refresh_token"]})
    newer = f"Bearer {renewed['access_token']}"
    assert await ask(away, newer) == refused
    await post(away, "step-up", {"code": person.recovery.pop()}, newer)

    assert await ask(away, newer) == await ask(world, newer) == (200, "", "")


async def test_a_user_without_a_factor_signs_in_again_on_another_network(world: World, away: World):
    """By page and by token; the original session continues."""
    identity, email = world.gateway.services.identity, "plain@network.example"
    order = InvitationBody(email=email, name="Plain", roles=[Role.VIEWER])
    await identity.users.create(CLI, order, PASSWORD)
    person = Person(world)
    await person.sign_in(email)
    moved = carried(person, away)

    seen = await moved.open("/panel/accounts")
    door = await moved.open(seen.location)

    assert seen.location.startswith("/panel/login?next=")
    assert (door.status, 'name="password"' in door.text) == (200, True)
    await moved.sign_in(email)
    assert (await moved.open("/panel/accounts")).status == 200
    assert (await person.open("/panel/accounts")).status == 200
