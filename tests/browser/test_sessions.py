"""A browser's session from its first page to its end, whichever end that is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest
import pytest_asyncio

from gateway.app.services import Services
from gateway.core.access import Staff
from gateway.core.audit_context import AuditContext
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
    """Return what the browser holds."""
    return {each.key: each.value for each in visitor.session.cookie_jar}


async def test_a_cookie_known_before_the_sign_in_opens_nothing_after_it(
    moving: PanelSite, visitor: Visitor
):
    """Whoever planted it, or read it, stays outside: each gain of privilege gives another one."""
    person = await moving.people.make(Role.ADMIN)
    await visitor.open(LOGIN)
    planted = cookies(visitor)

    said = await sign_in(visitor, person)

    async with visiting(moving, planted) as thief:
        seen = await thief.open("/panel")
    assert (said.status, said.location) == (303, "/panel")
    assert (await visitor.open("/panel")).status == 200
    assert seen.location.startswith(LOGIN)


async def test_tabs_go_on_while_the_access_token_turns(
    moving: PanelSite, clock: Clock, visitor: Visitor
):
    """One of them refreshes, the others wait for it; none is sent to the sign-in."""
    await sign_in(visitor, await moving.people.make(Role.ADMIN))

    for _ in range(3):
        clock.ahead += ACCESS + timedelta(minutes=1)
        seen = await asyncio.gather(*(visitor.open("/panel") for _ in range(6)))
        assert [each.status for each in seen] == [200] * 6


async def test_an_idle_end_in_the_middle_of_a_form_changes_nothing(
    moving: PanelSite, clock: Clock, visitor: Visitor
):
    await sign_in(visitor, await moving.people.plain(Role.VIEWER))
    token = await visitor.token("/panel/factor")
    clock.ahead += IDLE + timedelta(seconds=1)

    said = await visitor.send("/panel/factor", {TOKEN: token, "password": "x"})
    seen = await visitor.open("/panel")

    assert (said.status, said.location) == (303, f"{LOGIN}?next=%2Fpanel%2Ffactor&done=kept")
    assert (seen.status, seen.location) == (303, f"{LOGIN}?next=%2Fpanel")


async def test_each_page_slides_the_idle_end(moving: PanelSite, clock: Clock, visitor: Visitor):
    """And says when it is: a page that was opened late would else warn too early."""
    await sign_in(visitor, await moving.people.make(Role.VIEWER))
    clock.ahead += IDLE - timedelta(minutes=1)

    before = clock.now() + IDLE
    seen = await visitor.open("/panel/stay")
    after = clock.now() + IDLE

    (ends,) = (each for each in seen.text.split('"') if each.isdigit() and len(each) == 13)
    assert int(before.timestamp()) <= int(ends) / 1000 <= after.timestamp() + 1


async def test_a_session_that_was_ended_elsewhere_is_over_at_once(
    moving: PanelSite, visitor: Visitor
):
    person = await moving.people.make(Role.ADMIN)
    await sign_in(visitor, person)
    assert (await visitor.open("/panel")).status == 200

    await moving.world.gateway.services.identity.services.users.end_sessions(CLI, person.id)

    assert (await visitor.open("/panel")).location.startswith(LOGIN)


async def test_a_form_of_a_session_that_was_ended_elsewhere_changes_nothing(
    moving: PanelSite, visitor: Visitor
):
    person = await moving.people.make(Role.ADMIN)
    await sign_in(visitor, person)
    token = await visitor.token("/panel/companies")
    kernel = moving.world.gateway.kernel
    companies = Services(kernel).companies
    who = Staff(AuditContext("cli:test", kernel.now))
    before = await companies.every(who)

    await moving.world.gateway.services.identity.services.users.end_sessions(CLI, person.id)
    said = await visitor.send("/panel/companies", {TOKEN: token, "name": "Nova Ltda"})

    assert (said.status, said.location) == (303, f"{LOGIN}?next=%2Fpanel%2Fcompanies&done=kept")
    assert await companies.every(who) == before


async def test_signing_in_never_leads_elsewhere(moving: PanelSite):
    person, found = await moving.people.plain(Role.VIEWER), {}
    for path in ("//evil.example", "https://evil.example", "/panel/../../x", "/\\x"):
        async with visiting(moving, {}) as visitor:
            said = await sign_in(visitor, person, path)
        found[path] = (said.status, said.location)

    assert {path: led for path, led in found.items() if led != (303, "/panel")} == {}


async def test_who_must_have_a_factor_is_led_to_it(moving: PanelSite, visitor: Visitor):
    """Password, scan, first code, recovery codes; then the sign-in wants a code."""
    person = await moving.people.plain(Role.VIEWER)
    await sign_in(visitor, person)
    token = await visitor.token("/panel/factor")

    wrong = await visitor.send("/panel/factor", {TOKEN: token, "password": "no"})
    begun = await visitor.send("/panel/factor", {TOKEN: token, "password": person.password})
    refused = await visitor.send("/panel/factor/code", {TOKEN: token, "app_code": "000000"})

    assert (wrong.status, begun.status, refused.status) == (401, 200, 401)
    assert "data:image/svg+xml" in begun.text
    assert "data:image/svg+xml" not in refused.text
    assert [form.action for form in read(refused).forms][-1] == "/panel/factor/code"


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
    await identity.services.reset_requests.answer()
    mails = await identity.context.stores.outbox.waiting(100)
    (*_, text) = (mail.text for mail in mails if mail.to == person.email and "token=" in mail.text)
    (link,) = (word for word in text.split() if "token=" in word)
    return link.removeprefix(moving.origin)


async def test_a_link_of_a_mail_sets_a_new_password_once(moving: PanelSite, visitor: Visitor):
    """Whoever comes from their mail has no cookie: a link of ours is offered first."""
    person = await moving.people.plain(Role.VIEWER)
    token = await visitor.token("/panel/forgotten")
    await visitor.send("/panel/forgotten", {TOKEN: token, "email": person.email})
    link = await link_to(moving, person)

    arrived = await visitor.open(
        link, **{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document"}
    )
    assert link in read(arrived).links
    fields = dict(read(await visitor.open(link)).forms[0].fields)
    fields["new_password"] = person.password = "outra frase bem comprida"
    said = await visitor.send("/panel/reset", fields)
    again = await visitor.send("/panel/reset", fields)

    assert (said.status, said.location) == (303, "/panel/login?done=reset")
    assert again.status == 400
    assert (await sign_in(visitor, person)).location == "/panel"


async def test_an_invitation_leads_to_a_first_password(moving: PanelSite, visitor: Visitor):
    users = moving.world.gateway.services.identity.services.users
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
