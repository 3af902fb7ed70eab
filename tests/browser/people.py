"""Who sits at a browser: people of each role, signed in once, with the cookie their browser got."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import aiohttp
import pyotp
from sqlalchemy import update

from gateway.core.browsers import ClientInfo
from gateway.core.rights import Role
from gateway.identity.model import InvitationBody
from gateway.identity.reauthentication import Proof
from gateway.identity.sessions import SignedIn
from gateway.store.tables.identity import sessions
from tests.world.gateway.world import World
from tests.world.people import CLI

NOBODY = ""
PENDING = "pending"
"""Has given a password, and no code yet."""

MOVED = "moved"
"""Has a session that was used at another network until now."""

PLAIN = "plain"
"""Reads, and has no second factor."""

KEPT = timedelta(minutes=10)
"""A session that nobody uses ends after fifteen minutes; a run of every screen takes longer."""

PASSWORD = "uma frase bem comprida"
_HERE = ClientInfo(address="127.0.0.1", user_agent="tests")


@dataclass(slots=True, kw_only=True)
class Person:
    """
    A user who can sign in.

    Attributes:
        id: Of the user.
        secret: Of their authenticator app, whose codes work once in half a minute.
        recovery: Codes that work once each, at any time.
    """

    id: str
    email: str
    password: str
    secret: str
    recovery: list[str]

    def code(self) -> str:
        return self.recovery.pop()


@dataclass(slots=True, kw_only=True)
class People:
    """
    Creates users, and signs them in.

    Attributes:
        cookies: What browsers of those who signed in hold, by who they are.
        signed_in_at: When they signed in, by who they are, on the gateway's clock.
    """

    world: World
    cookies: dict[str, Mapping[str, str]] = field(default_factory=dict)
    signed_in_at: dict[str, datetime] = field(default_factory=dict)

    @property
    def origin(self) -> str:
        """Where the pages are, without a slash at the end."""
        return f"http://127.0.0.1:{self.world.port}"

    async def cookies_of(self, who: str, company: str = "") -> Mapping[str, str]:
        """
        Return the cookies of a user of one company or, without one, of all.

        Args:
            who: A role, ``NOBODY``, ``PENDING``, ``MOVED`` or ``PLAIN``.
            company: Its id.
        """
        if who == NOBODY:
            return {}
        name = f"{who} {company}"
        now = self.world.gateway.kernel.now()
        if name not in self.cookies or now - self.signed_in_at[name] >= KEPT:
            companies = frozenset({company} - {""})
            role = Role.VIEWER if who in {PENDING, MOVED, PLAIN} else Role(who)
            person = await (self.plain if who == PLAIN else self.make)(role, companies=companies)
            self.cookies[name] = await self.sign_in(person, is_pending=who == PENDING)
            if who == MOVED:
                await self._move(person)
            self.signed_in_at[name] = now
        return self.cookies[name]

    async def fresh(self, role: Role) -> Mapping[str, str]:
        """Return the cookies of a user with a fresh code, so that writing requires none."""
        return await self.sign_in(await self.make(role))

    async def age_factor(self, person: Person) -> None:
        """Let the code of a person's sign-ins be an hour old: the next act asks for another."""
        kernel = self.world.gateway.kernel
        theirs = update(sessions).where(sessions.c.user_id == person.id)
        async with kernel.store.database.writing() as connection:
            await connection.execute(theirs.values(factor_at=kernel.now() - timedelta(hours=1)))

    async def _move(self, person: Person) -> None:
        """Let a person's sign-ins have been at another network."""
        theirs = update(sessions).where(sessions.c.user_id == person.id)
        async with self.world.gateway.kernel.store.database.writing() as connection:
            await connection.execute(theirs.values(networks=("192.0.2.0/24",)))

    async def plain(self, *roles: Role, companies: frozenset[str] = frozenset()) -> Person:
        """Create a user without a second factor, as an operator's command does."""
        identity = self.world.gateway.services.identity
        email = f"{'-'.join(sorted(roles))}-{uuid.uuid4().hex[:8]}@example.com"
        name = " ".join(each.value.capitalize() for each in roles)
        order = InvitationBody(email=email, name=name, roles=list(roles), companies=list(companies))
        user = await identity.users.create(CLI, order, PASSWORD)
        return Person(id=user.id, email=email, password=PASSWORD, secret="", recovery=[])

    async def make(self, *roles: Role, companies: frozenset[str] = frozenset()) -> Person:
        """Create a user with a second factor."""
        identity = self.world.gateway.services.identity
        person = await self.plain(*roles, companies=companies)
        signed_in = await identity.sign_in.login(person.email, PASSWORD, _HERE)
        assert isinstance(signed_in, SignedIn)
        begun = await identity.second_factors.begin(signed_in.person, Proof(PASSWORD), _HERE)
        person.secret = begun.secret
        code = pyotp.TOTP(begun.secret).at(self.world.gateway.kernel.now())
        person.recovery += await identity.second_factors.confirm(signed_in.person, code)
        return person

    async def sign_in(self, person: Person, *, is_pending: bool = False) -> Mapping[str, str]:
        """Sign a browser in by the calls its scripts would make; return its cookies."""
        jar = aiohttp.CookieJar(unsafe=True)
        async with aiohttp.ClientSession(self.origin, cookie_jar=jar) as browser:
            token = await self._token(browser)
            given = {"email": person.email, "password": person.password}
            token = await self._post(browser, "/panel/auth/login", given, token)
            if person.secret and not is_pending:
                await self._post(browser, "/panel/auth/mfa", {"code": person.code()}, token)
            return {each.key: each.value for each in jar}

    async def _token(self, browser: aiohttp.ClientSession) -> str:
        """Let the browser have a session, and return its token against foreign pages."""
        async with browser.get("/iam/v1/auth/session") as said:
            return str((await said.json())["csrf_token"])

    async def _post(
        self, browser: aiohttp.ClientSession, path: str, document: object, token: str
    ) -> str:
        headers = {"Origin": self.origin, "X-CSRF-Token": token}
        async with browser.post(path, json=document, headers=headers) as said:
            assert said.status == 200, await said.text()
            return str((await said.json())["csrf_token"])
