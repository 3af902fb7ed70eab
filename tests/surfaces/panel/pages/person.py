"""A person in a browser without script: opens pages, fills in forms."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import uuid4

import pyotp
from aiohttp import ClientResponse, FormData
from sqlalchemy import update
from yarl import URL

from gateway.core.browsers import ClientInfo
from gateway.core.rights import Role
from gateway.identity.model import InvitationBody
from gateway.identity.reauthentication import Proof
from gateway.identity.sessions import SignedIn
from gateway.store.tables.identity import panel_sessions, sessions
from tests.surfaces.panel.roles import PASSWORD
from tests.world.gateway.identity_api import ORIGIN
from tests.world.gateway.world import World
from tests.world.people import CLI

TOKEN = re.compile(r'name="csrf_token" value="([^"]+)"')


@dataclass(slots=True)
class Seen:
    status: int
    headers: dict[str, str]
    text: str

    @property
    def location(self) -> str:
        """Where it goes next; empty for nowhere."""
        return self.headers.get("Location", "")


@dataclass(slots=True)
class Person:
    """
    A person in a browser.

    Attributes:
        token: Of the page that was opened last.
        secret: Of the authenticator app, once there is one.
        recovery: Codes to sign in with, once there is an app.
    """

    world: World
    cookies: dict[str, str] = field(default_factory=dict)
    token: str = ""
    secret: str = ""
    recovery: list[str] = field(default_factory=list)
    step: int = 0

    async def open(self, path: str, **headers: str) -> Seen:
        """Open a page as a navigation; headers given here win, empty ones are left out."""
        ours = {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Accept": "text/html"}
        return await self._ask("GET", path, None, {**ours, **headers})

    async def send(self, path: str, fields: dict[str, str] | None = None, **headers: str) -> Seen:
        """Send a form of the page that was opened last; follows nothing."""
        ours = {"Sec-Fetch-Site": "same-origin", "Origin": ORIGIN, "Accept": "text/html"}
        form = {"csrf_token": self.token, **(fields or {})}
        return await self._ask("POST", path, form, {**ours, **headers})

    async def send_file(self, path: str, fields: dict[str, str], name: str, content: bytes) -> Seen:
        """Send a form with a file of the page that was opened last; follows nothing."""
        form = FormData(quote_fields=False)
        for each, text in {"csrf_token": self.token, **fields}.items():
            form.add_field(each, text)
        form.add_field("file", content, filename=name, content_type="text/csv")
        ours = {"Sec-Fetch-Site": "same-origin", "Origin": ORIGIN, "Accept": "text/html"}
        return await self._ask("POST", path, form, ours)

    async def sign_in(self, email: str) -> None:
        await self.open("/panel/login")
        seen = await self.send("/panel/login", {"email": email, "password": PASSWORD})
        if seen.location.startswith("/panel/login/code"):
            await self.open(seen.location)
            seen = await self.send("/panel/login/code", {"code": self.recovery.pop()})
        assert seen.status == 303, seen.text
        await self.open("/panel")

    def code(self) -> str:
        """Read the app: each step once; the second one is the next step's, which is taken too."""
        app = pyotp.TOTP(self.secret)
        self.step = max(self.step + 1, app.timecode(self.world.gateway.kernel.now()))
        return app.generate_otp(self.step)

    async def _ask(
        self,
        method: str,
        path: str,
        form: dict[str, str] | FormData | None,
        headers: dict[str, str],
    ) -> Seen:
        """Send a request with the cookies, keep those that come back."""
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        sent = {name: each for name, each in {"Cookie": cookies, **headers}.items() if each}
        url = URL(f"http://127.0.0.1:{self.world.port}{path}", encoded=True)
        session = self.world.session
        async with session.request(
            method, url, headers=sent, data=form, allow_redirects=False
        ) as said:
            return await self._seen(said)

    async def _seen(self, said: ClientResponse) -> Seen:
        text = (await said.read()).decode(errors="replace")  # a file may be no text
        for line in said.headers.getall("Set-Cookie", []):
            name, _, rest = line.partition("=")
            self.cookies[name] = rest.partition(";")[0]
        found = TOKEN.search(text)
        if found:
            self.token = found[1]
        return Seen(said.status, dict(said.headers), text)


async def signed_in(
    world: World,
    *roles: Role,
    companies: frozenset[str] = frozenset(),
    fresh: bool = True,
    name: str = "",
) -> Person:
    """Create a user with a second factor and sign them in; ``fresh`` gives it again."""
    identity = world.gateway.services.identity
    email = f"{'-'.join(sorted(roles))}-{uuid4().hex[:8]}@panel.example"
    order = InvitationBody(
        email=email, name=name or email, roles=list(roles), companies=list(companies)
    )
    await identity.users.create(CLI, order, PASSWORD)
    here = ClientInfo(address="127.0.0.1", user_agent="tests")
    begun = await identity.sign_in.login(email, PASSWORD, here)
    assert isinstance(begun, SignedIn)
    enrolment = await identity.second_factors.begin(begun.person, Proof(PASSWORD), here)
    person = Person(world, secret=enrolment.secret)
    codes = await identity.second_factors.confirm(begun.person, person.code())
    person.recovery = list(codes)
    await person.sign_in(email)
    if not fresh:
        await age_factors(world, timedelta(hours=1))
    return person


async def age_factors(world: World, age: timedelta) -> None:
    """Let every second factor that was given have been given so long ago, in its browser."""
    database = world.gateway.kernel.store.database
    given = sessions.c.factor_at.is_not(None)
    async with database.writing() as connection:
        at = world.gateway.kernel.now() - age
        await connection.execute(update(sessions).where(given).values(factor_at=at))
        await connection.execute(update(panel_sessions).values(proven_at=at))
