"""Signing in: a password, then a second factor where the user has one (contract 4.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, Protocol

from gateway.domain.identity.challenges import Challenge
from gateway.domain.identity.errors import MFA_EXPIRED, MFA_INVALID, PASSWORD_WRONG, REFRESH_INVALID
from gateway.domain.identity.users import User
from gateway.domain.kernel.errors import ServiceError
from gateway.operations.identity.passwords import PasswordCheck
from gateway.operations.identity.ports import ClientInfo, IdentityContext
from gateway.operations.identity.second_factors import SecondFactorCodes
from gateway.operations.identity.tokens import SignedIn, TokenIssuer, TokenPair


@dataclass(frozen=True, slots=True)
class SecondFactorRequired:
    """The password was right; a code is asked for. It names nobody (contract 2.9)."""

    mfa_token: str = field(repr=False)
    ends_at: datetime


class WayIn(Protocol):
    """Signing in, as ``SignIn`` does it."""

    async def login(
        self, email: str, password: str, client: ClientInfo
    ) -> SignedIn | SecondFactorRequired:
        """Take a password."""
        ...

    async def submit_code(self, mfa_token: str, code: str, client: ClientInfo) -> SignedIn:
        """Take a code."""
        ...


class Tokens(Protocol):
    """Refreshing, as ``Refreshing`` does it."""

    async def refresh(self, refresh_token: str) -> TokenPair:
        """Exchange a refresh token for a new pair."""
        ...


@dataclass(frozen=True, slots=True)
class SignIn:
    """The way in."""

    context: IdentityContext

    async def login(
        self, email: str, password: str, client: ClientInfo
    ) -> SignedIn | SecondFactorRequired:
        """
        Take a password.

        Whether a person exists, is disabled or never accepted their invitation
        shows in nothing: one error, after the same work.

        Raises:
            ServiceError: PASSWORD_WRONG; TOO_MANY_ATTEMPTS with ``Retry-After``.
        """
        user = await PasswordCheck(self.context).by_email(email, password, client)
        if user is None:
            raise ServiceError(PASSWORD_WRONG, "password")
        user = await self._rehashed(user, password)
        if user.has_factor:
            return await self._ask(user, client)
        self.context.on_security_event("authn_login_success", user.id)
        return await TokenIssuer(self.context).begin(user, client, None)

    async def submit_code(self, mfa_token: str, code: str, client: ClientInfo) -> SignedIn:
        """
        Take a code of the app or a recovery code for the challenge it was asked by.

        Raises:
            ServiceError: MFA_INVALID for a wrong code; MFA_EXPIRED for a
                challenge that is unknown, over, used, tried five times, of
                another browser, or older than the latest change of the person;
                TOO_MANY_ATTEMPTS.
        """
        now, stores = self.context.now(), self.context.stores
        digest = self.context.crypto.opaque.digest(mfa_token)
        challenge = await stores.challenges.find(digest)
        user = await self._challenged(challenge, client)
        if not await stores.challenges.try_once(digest, self.context.settings.tries, now):
            raise ServiceError(MFA_EXPIRED, "challenge_over")
        if not await SecondFactorCodes(self.context).accept(user, code):
            raise ServiceError(MFA_INVALID, "code")
        if not await stores.challenges.use(digest, now):
            raise ServiceError(MFA_EXPIRED, "challenge_used")
        self.context.on_security_event("authn_login_success", user.id)
        return await TokenIssuer(self.context).begin(user, client, now)

    async def _challenged(self, challenge: Challenge | None, client: ClientInfo) -> User:
        """Return who was asked; a change of theirs since then voids the challenge."""
        if challenge is None or challenge.bound_to != client.bound_to:
            raise ServiceError(MFA_EXPIRED, "challenge_unknown")
        # at once, as for one that never was: how long it takes tells nothing either
        if not challenge.is_open(self.context.now(), self.context.settings.tries):
            raise ServiceError(MFA_EXPIRED, "challenge_over")
        user = await self.context.stores.users.find(challenge.user_id)
        changed = user is not None and user.updated_at > challenge.created_at
        if user is None or not user.active or changed:
            raise ServiceError(MFA_EXPIRED, "person_changed")
        return user

    async def _ask(self, user: User, client: ClientInfo) -> SecondFactorRequired:
        """Store a challenge."""
        now, token = self.context.now(), self.context.crypto.opaque.make()
        challenge = Challenge(
            digest=self.context.crypto.opaque.digest(token),
            user_id=user.id,
            created_at=now,
            ends_at=now + self.context.settings.challenge,
            bound_to=client.bound_to,
        )
        await self.context.stores.challenges.add(challenge)
        return SecondFactorRequired(token, challenge.ends_at)

    async def _rehashed(self, user: User, password: str) -> User:
        """Make the digest of the password anew when today's rules ask for more."""
        hashing = self.context.crypto.hashing
        if not hashing.is_outdated(user.password):
            return user
        renewed = replace(user, password=await hashing.make(password))
        # somebody who changed the person meanwhile wins; the next sign-in makes it again
        done = await self.context.stores.users.replace(renewed, None, user.updated_at)
        return renewed if done else user


Seen = Callable[[str, str], None]
"""Count: a fixed word, and one of its labels."""

_LOGINS: Final = {PASSWORD_WRONG.name: "bad_credentials"}
_CODES: Final = {MFA_INVALID.name: "wrong", MFA_EXPIRED.name: "expired"}
_REFRESHED: Final = {"used": "reuse_race"}


@dataclass(frozen=True, slots=True)
class CountedSigningIn:
    """``SignIn``, counted."""

    inner: WayIn
    seen: Seen

    async def login(
        self, email: str, password: str, client: ClientInfo
    ) -> SignedIn | SecondFactorRequired:
        """Take a password; raises as ``SignIn.login``."""
        try:
            outcome = await self.inner.login(email, password, client)
        except ServiceError as refusal:
            self.seen("login", _LOGINS.get(refusal.error.name, "locked"))
            raise
        self.seen("login", "mfa_required" if isinstance(outcome, SecondFactorRequired) else "ok")
        return outcome

    async def submit_code(self, mfa_token: str, code: str, client: ClientInfo) -> SignedIn:
        """Take a code; raises as ``SignIn.submit_code``."""
        factor = "totp" if code.strip().isdigit() else "recovery"
        try:
            outcome = await self.inner.submit_code(mfa_token, code, client)
        except ServiceError as refusal:
            self.seen("mfa", f"{factor}.{_CODES.get(refusal.error.name, 'locked')}")
            raise
        self.seen("mfa", f"{factor}.ok")
        return outcome


@dataclass(frozen=True, slots=True)
class CountedRefreshing:
    """``Refreshing``, counted."""

    inner: Tokens
    seen: Seen

    async def refresh(self, refresh_token: str) -> TokenPair:
        """Exchange a refresh token; raises as ``Refreshing.refresh``."""
        try:
            pair = await self.inner.refresh(refresh_token)
        except ServiceError as refusal:
            if refusal.error is REFRESH_INVALID:
                word = _REFRESHED.get(refusal.reason, "invalid_grant")
                self.seen("token_refresh", word)
            raise
        self.seen("token_refresh", "ok")
        return pair
