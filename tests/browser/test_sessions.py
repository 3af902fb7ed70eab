"""A browser's session from its first page to its end, whichever end that is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest
import pytest_asyncio

from gateway.core.rights import Role
from gateway.identity.model import InvitationBody, UserRecord
from tests.browser import panel_site
from tests.browser.panel_site import PanelSite
from tests.browser.people import Person
from tests.browser.walking import TOKEN, Seen, Visitor, read, visiting
from tests.world.gateway.world import now
from tests.world.people import CLI

IDLE = timedelta(minutes=15)
ACCESS = timedelta(minutes=10)
LOGIN = "/panel/login"


@dataclass
class Clock:
    """The gateway's clock, which goes on and can be moved."""

    ahead: timedelta = timedelta()

    def now(self) -> datetime:
        return now() + self.ahead


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def clock() -> Clock:
    return Clock()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def moving(
    tmp_path_factory: pytest.TempPathFactory, clock: Clock
) -> AsyncIterator[PanelSite]:
    """A gateway of this module alone, whose clock is moved."""
    settings = panel_site.settings(tmp_path_factory.mktemp("moving"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gateway.app.assembly.wall_clock", lambda *_: clock.now)
        async with panel_site.serving(settings) as made:
            yield made


@pytest_asyncio.fixture(loop_scope="session")
async def visitor(moving: PanelSite) -> AsyncIterator[Visitor]:
    async with visiting(moving, {}) as opened:
        yield opened


async def sign_in(visitor: Visitor, person: Person, to: str = "/panel") -> Seen:
    """Sign in by the pages, with a recovery code where a factor is asked for."""
    token = await visitor.token(f"{LOGIN}?next={to}")
    given = {"email": person.email, "password": person.password, "next": to}
    said = await visitor.send(LOGIN, {TOKEN: token, **given})
    if said.location.startswith("/panel/login/code"):
        token = await visitor.token(said.location)
        said = await visitor.send(
            "/panel/login/code", {TOKEN: token, "code": person.code(), "next": to}
        )
    return said


def cookies(visitor: Visitor) -> dict[str, str]:
    return {each.key: each.value for each in visitor.session.cookie_jar}


@pytest.mark.parametrize("email", ["nobody@example.com", "somebody"])
async def test_asking_for_a_link_says_the_same_of_everybody(
    moving: PanelSite, visitor: Visitor, email: str
):
    person = await moving.people.plain(Role.VIEWER)
    token = await visitor.token("/panel/forgotten")
    typed = person.email if email == "somebody" else email

    said = await visitor.send("/panel/forgotten", {TOKEN: token, "email": typed})

    assert (said.status, said.location) == (303, "/panel/forgotten?sent=1")
    assert typed not in (await visitor.open(said.location)).text


async def link_to(moving: PanelSite, person: Person) -> str:
    """Return the page that the last mail to somebody leads to."""
    identity = moving.world.gateway.services.identity
    await identity.reset_requests.answer()
    mails = await identity.context.stores.outbox.waiting(100)
    (*_, text) = (mail.text for mail in mails if mail.to == person.email and "token=" in mail.text)
    (link,) = (word for word in text.split() if "token=" in word)
    return link.removeprefix(moving.origin)


async def test_an_invitation_leads_to_a_first_password(moving: PanelSite, visitor: Visitor):
    users = moving.world.gateway.services.identity.users
    email = "invited@example.com"
    order = InvitationBody(email=email, name="Invited", roles=[Role.VIEWER])
    user = await users.invite(CLI, order)
    assert isinstance(user, UserRecord)
    person = Person(id=user.id, email=email, password="uma frase toda nova", secret="", recovery=[])
    link = await link_to(moving, person)

    fields = dict(read(await visitor.open(link)).forms[0].fields)
    said = await visitor.send("/panel/invitation", {**fields, "new_password": person.password})

    assert (said.status, said.location) == (303, "/panel/login?done=invitation")
    assert (await sign_in(visitor, person)).location == "/panel"


@pytest.mark.parametrize("path", ["/panel/reset", "/panel/invitation"])
async def test_a_link_that_is_no_link_sets_nothing(visitor: Visitor, path: str):
    token = await visitor.token(f"{path}?token=made-up")

    weak = await visitor.send(path, {TOKEN: token, "token": "made-up", "new_password": "short"})
    said = await visitor.send(
        path, {TOKEN: token, "token": "made-up", "new_password": "uma frase que ninguém conhece"}
    )

    assert (weak.status, said.status) == (400, 400)
    assert "uma frase que" not in said.text
    assert 'value="made-up"' in said.text
