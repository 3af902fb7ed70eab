"""Identity over a real store, with cheap digests of passwords."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass, field

import pyotp
import pytest

from gateway.app.build_identity import build_identity
from gateway.app.kernel import Kernel
from gateway.app.store import Store
from gateway.config.identity import Identity
from gateway.config.settings import Settings
from gateway.core.browsers import ClientInfo
from gateway.core.company_scope import EVERY_COMPANY
from gateway.core.errors import ServiceError
from gateway.core.rights import Role
from gateway.core.sessions import SignedInUser
from gateway.core.user import User
from gateway.identity.context import IdentityContext
from gateway.identity.model import InvitationBody
from gateway.identity.passwords import Cost, PasswordHasher, PoolSize
from gateway.identity.reauthentication import Proof
from gateway.identity.services import IdentityServices
from gateway.identity.sessions import SignedIn
from gateway.identity.sign_in import SecondFactorRequired
from gateway.identity.signing_keys import Keyring
from gateway.identity.tokens import Audience
from gateway.security.sealing import Sealer
from tests.world.kernel import KEYS, Witness, kernel_on
from tests.world.people import CLI
from tests.world.standing import Clock

EMAIL = "maria@example.com"
PASSWORD = "uma frase bem comprida"
HOME = ClientInfo(address="203.0.113.7", user_agent="curl")
ELSEWHERE = ClientInfo(address="198.51.100.9")
LITTLE = Cost(kib=64, passes=1)
"""Of digests that nobody measures."""

AUDIENCE = Audience("pixgate", "pixgate")
SETTINGS = Settings(identity=Identity(origin="https://pix.example"))


@dataclass(slots=True, kw_only=True)
class IdentityWorld:
    """
    Identity, and the events it reported.

    Attributes:
        noticed: Words for the security log, with whom they were about.
        paused: Seconds that tries were held for; nobody waits them here.
    """

    kernel: Kernel
    store: Store
    clock: Clock
    context: IdentityContext
    services: IdentityServices
    keyring: Keyring
    sealer: Sealer
    hasher: PasswordHasher
    security_events: list[tuple[str, str]]
    counted: list[tuple[str, str]]
    pauses: list[float]
    secrets: dict[str, str] = field(default_factory=dict)

    async def person(self, email: str = EMAIL, *roles: Role) -> User:
        order = InvitationBody(email=email, name="Maria", roles=list(roles or {Role.ADMIN}))
        return await self.services.users.create(CLI, order, PASSWORD)

    async def sign_in(self, email: str = EMAIL, client: ClientInfo = HOME) -> SignedIn:
        """Sign in, with a code where one is asked for."""
        answer = await self.services.sign_in.login(email, PASSWORD, client)
        if isinstance(answer, SecondFactorRequired):
            code = self.code(email)
            return await self.services.sign_in.submit_code(answer.mfa_token, code, client)
        return answer

    async def enrol(self, email: str = EMAIL) -> list[str]:
        """Enrol an app; return the recovery codes. The next code is half a minute later."""
        caller = (await self.sign_in(email)).person
        begun = await self.services.second_factors.begin(caller, Proof(PASSWORD), HOME)
        self.secrets[email] = begun.secret
        codes = await self.services.second_factors.confirm(caller, self.code(email))
        self.clock.passes(30)
        return list(codes)

    def code(self, email: str = EMAIL, *, off: int = 0) -> str:
        now = int(self.clock.now().timestamp())
        return pyotp.TOTP(self.secrets[email]).at(now + 30 * off)

    def wrong_code(self, email: str = EMAIL) -> str:
        near = {self.code(email, off=each) for each in (-1, 0, 1)}
        return next(f"{number:06}" for number in range(1000) if f"{number:06}" not in near)

    async def who(self, signed_in: SignedIn) -> SignedInUser:
        return await self.services.sessions.authenticate(signed_in.tokens.access_token)

    async def mails(self, to: str = EMAIL) -> list[str]:
        """Read the mail to a user, newest first."""
        return [
            each.text
            for each in await self.context.stores.mailbox.latest(50, EVERY_COMPANY)
            if each.to == to
        ]

    async def request_reset(self, email: str = EMAIL, client: ClientInfo = HOME) -> None:
        """Ask for a link, and have it sent."""
        await self.services.passwords.forgot(email, client)
        await self.services.reset_requests.answer()

    async def link(self, to: str = EMAIL) -> str:
        """Take the token of the newest link sent to a user."""
        linked = next(text for text in await self.mails(to) if "?token=" in text)
        return linked.partition("?token=")[2].split()[0]


def identity_world_on(
    store: Store, clock: Clock, settings: Settings = SETTINGS, *, cost: Cost = LITTLE
) -> IdentityWorld:
    """Build identity on a store; close it by closing its hasher."""
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    witness = Witness()
    kernel = kernel_on(
        store, clock, settings=settings, observer=witness, events=witness.events, sleep=pause
    )
    hasher = PasswordHasher(KEYS.password_peppers, cost, PoolSize(waiting=500, strangers=500))
    services = build_identity(kernel, hasher)
    return IdentityWorld(
        kernel=kernel,
        store=store,
        clock=clock,
        context=services.context,
        services=services,
        keyring=services.keyring,
        sealer=KEYS.sealer,
        hasher=hasher,
        security_events=witness.security_events,
        counted=witness.counted,
        pauses=pauses,
    )


def refusal(problem: BaseException) -> tuple[str, str]:
    assert isinstance(problem, ServiceError)
    return problem.error.name, problem.reason


async def refusal_of(deed: Awaitable[object]) -> tuple[str, str]:
    """Name the refusal of a call, by its code and its reason."""
    with pytest.raises(ServiceError) as refused:
        await deed
    return refusal(refused.value)
