"""Pages before the sign-in call the same services as the API, within the same quotas."""

from __future__ import annotations

import re

import pytest

from gateway.core.company_scope import EVERY_COMPANY
from gateway.core.limits import Draw
from gateway.core.rights import Role
from gateway.identity.model import InvitationBody
from tests.surfaces.panel.pages.person import Person
from tests.surfaces.panel.roles import PASSWORD
from tests.world.gateway.world import World
from tests.world.people import CLI

pytestmark = pytest.mark.asyncio(loop_scope="module")

EMAIL = "nova@panel.example"
LINK = re.compile(r"token=(\S+)")


async def test_a_link_sets_a_password_and_an_app_is_enrolled(world: World):
    identity = world.gateway.services.identity
    order = InvitationBody(email=EMAIL, name="Nova", roles=[Role.OPERATOR])
    await identity.users.invite(CLI, order)
    mails = await identity.context.stores.mailbox.latest(5, EVERY_COMPANY)
    token = next(LINK.search(each.text) for each in mails if each.to == EMAIL)
    person = Person(world)
    assert token is not None

    await person.open(f"/panel/invitation?token={token[1]}")
    fields = {"token": token[1], "new_password": PASSWORD}
    set_ = await person.send("/panel/invitation", fields)
    again = await person.send("/panel/invitation", fields)
    await person.open(set_.location)
    came = await person.send("/panel/login", {"email": EMAIL, "password": PASSWORD})
    await person.open(came.location)
    scan = await person.send("/panel/factor", {"password": PASSWORD})

    assert (set_.status, set_.location) == (303, "/panel/login?done=invitation")
    assert again.status == 400
    assert came.location.startswith("/panel/factor")
    assert scan.status == 200
    assert "data:image/svg+xml" in scan.text


async def test_a_wrong_password_draws_from_the_quota_of_guesses(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    """A correct password gets its token back."""
    meter = world.gateway.services.user_policies.address_quota._meters["sign_in"]
    given = []
    monkeypatch.setattr(meter.buckets, "give_back", given.append)
    monkeypatch.setattr(meter.buckets, "put_back", given.append)
    person = Person(world)
    await person.open("/panel/login")
    fields = {"email": "viewer@panel.example", "password": "falsch"}

    wrong = await person.send("/panel/login", fields)
    kept = list(given)
    right = await person.send("/panel/login", {**fields, "password": PASSWORD})
    monkeypatch.setattr(meter.buckets, "draw", lambda _key: Draw(False, 0, 9.0))
    await person.open("/panel/logout")
    stranger = Person(world)
    await stranger.open("/panel/login")
    limited = await stranger.send("/panel/login", fields)

    assert (wrong.status, right.status, limited.status) == (401, 303, 429)
    assert kept == []
    assert len(given) == 1


@pytest.mark.parametrize("email", ["nobody@example.com", "viewer@panel.example"])
async def test_requesting_a_link_has_one_answer_for_all(world: World, email: str):
    person = Person(world)
    await person.open("/panel/forgotten")

    said = await person.send("/panel/forgotten", {"email": email})

    assert (said.status, said.location) == (303, "/panel/forgotten?sent=1")
    assert email not in (await person.open(said.location)).text


@pytest.mark.parametrize("path", ["/panel/reset", "/panel/invitation"])
async def test_an_invalid_link_sets_no_password(world: World, path: str):
    person = Person(world)
    await person.open(f"{path}?token=made-up")

    weak, said = [
        await person.send(path, {"token": "made-up", "new_password": each})
        for each in ("short", "uma frase que ninguém conhece")
    ]

    assert (weak.status, said.status) == (400, 400)
    assert "uma frase que" not in said.text
    assert 'value="made-up"' in said.text
