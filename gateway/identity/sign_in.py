"""
Signing in: a password, then a second factor where the user has one (contract 4.2); or a passkey.

A passkey is both factors: the authenticator, and what it verifies its user by.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from gateway.core.browsers import ClientInfo
from gateway.core.errors import ServiceError
from gateway.core.sessions import IssuerSession
from gateway.core.user import User
from gateway.core.user_errors import (
    MFA_EXPIRED,
    MFA_INVALID,
    PASSWORD_WRONG,
    SIGN_IN_REFUSED,
    TOO_MANY_ATTEMPTS,
)
from gateway.identity.context import IdentityContext
from gateway.identity.model import Challenge, Passkey
from gateway.identity.passkey_check import PasskeyCheck, Use
from gateway.identity.password_check import PasswordCheck
from gateway.identity.reauthentication import Reauthentication
from gateway.identity.second_factor_codes import SecondFactorCodes
from gateway.identity.sessions import SignedIn, TokenIssuer
from gateway.identity.webauthn import Assertion, AssertionOptions
from gateway.telemetry.ports import Event

_LOGIN_LABELS: Final = {PASSWORD_WRONG.name: "bad_credentials", SIGN_IN_REFUSED.name: "elsewhere"}
_CODE_LABELS: Final = {MFA_INVALID.name: "wrong", MFA_EXPIRED.name: "expired"}
"""Labels of refusals by error; any other is ``locked``."""


@dataclass(frozen=True, slots=True)
class SecondFactorRequired:
    """The password was right; a code is required. It does not name the user (contract 2.9)."""

    mfa_token: str = field(repr=False)
    ends_at: datetime


@dataclass(frozen=True, slots=True)
class SignIn:
    """Signs users in, and counts every outcome."""

    context: IdentityContext

    async def login(
        self, email: str, password: str, client: ClientInfo
    ) -> SignedIn | SecondFactorRequired:
        """
        Sign in by password; a second factor is asked for where the user has one.

        A user who does not exist, is disabled or never accepted the invitation gets
        the same error after the same work.

        Raises:
            ServiceError: PASSWORD_WRONG; TOO_MANY_ATTEMPTS with ``Retry-After``; SIGN_IN_REFUSED
                for a user who signs in at their company's identity provider.
        """
        try:
            outcome = await self._login(email, password, client)
        except ServiceError as refusal:
            self.context.events.on_outcome(
                Event.LOGIN, _LOGIN_LABELS.get(refusal.error.name, "locked")
            )
            raise
        needs_code = isinstance(outcome, SecondFactorRequired)
        self.context.events.on_outcome(Event.LOGIN, "mfa_required" if needs_code else "ok")
        return outcome

    async def submit_code(self, mfa_token: str, code: str, client: ClientInfo) -> SignedIn:
        """
        Finish a sign-in with the challenge and a code of the app, or a recovery code.

        Raises:
            ServiceError: MFA_INVALID for a wrong code. MFA_EXPIRED for a challenge
                that is unknown, over, used, tried five times, of another browser, or
                older than the latest change of the user. TOO_MANY_ATTEMPTS.
        """
        is_of_app = "".join(code.replace("-", " ").split()).isdigit()
        factor = "totp" if is_of_app else "recovery"
        try:
            outcome = await self._submit_code(mfa_token, code, client)
        except ServiceError as refusal:
            label = _CODE_LABELS.get(refusal.error.name, "locked")
            self.context.events.on_outcome(Event.MFA, f"{factor}.{label}")
            raise
        self.context.events.on_outcome(Event.MFA, f"{factor}.ok")
        return outcome

    async def passkey_options(self, mfa_token: str, bound_to: str = "") -> AssertionOptions:
        """
        Ask for a passkey to sign in by: the answer works once, for five minutes.

        After a right password, of which there is an ``mfa_token``, the user's passkeys are named:
        some authenticators find theirs only so. Without one the options are the same for all.

        Raises:
            ServiceError: NOT_POSSIBLE where browsers use no passkeys of this panel.
        """
        now = self.context.now()
        known: Sequence[Passkey] = ()
        digest = self.context.crypto.opaque.digest(mfa_token)
        challenge = await self.context.stores.challenges.find(digest) if mfa_token else None
        is_open = challenge is not None and challenge.is_open(now, self.context.settings.tries)
        if challenge is not None and is_open and challenge.bound_to == bound_to:
            known = await self.context.stores.passkeys.of(challenge.user_id)
        return PasskeyCheck(self.context).options(Use.SIGN_IN, bound_to, known)

    async def by_passkey(
        self, passkey: Assertion, client: ClientInfo, mfa_token: str = ""
    ) -> SignedIn:
        """
        Sign in by a passkey alone, or after the company's provider has named its user.

        The ``mfa_token`` is that of the challenge which followed the provider. A passkey that is
        unknown, refused, or of a disabled user gets the same error.

        Raises:
            ServiceError: PASSKEY_INVALID; TOO_MANY_ATTEMPTS with ``Retry-After``.
        """
        try:
            user = await PasskeyCheck(self.context).at_sign_in(passkey, client)
            by = await self._issuer_of(mfa_token, user, client)
            self.context.events.on_security_event("authn_login_success", user.id)
            outcome = await TokenIssuer(self.context).begin(user, client, self.context.now(), by)
        except ServiceError as refusal:
            label = "locked" if refusal.error is TOO_MANY_ATTEMPTS else "wrong"
            self.context.events.on_outcome(Event.MFA, f"passkey.{label}")
            raise
        self.context.events.on_outcome(Event.MFA, "passkey.ok")
        return outcome

    async def by_issuer(
        self,
        user: User,
        by: IssuerSession,
        client: ClientInfo,
        *,
        is_factor_proven: bool,
        signed_in_at: datetime | None,
    ) -> SignedIn | SecondFactorRequired:
        """
        Sign in a user whom their company's identity provider has just named.

        Our second factor is asked for where the user has one, unless the provider has proven one
        that the company trusts. A trusted one lets in, and never counts as given just now.

        Raises:
            ServiceError: PASSWORD_WRONG when the user was changed meanwhile.
        """
        if user.has_factor and not is_factor_proven:
            return await self._challenge(user, client, by)
        self.context.events.on_security_event("authn_login_success", user.id)
        came = await TokenIssuer(self.context).begin(user, client, None, by)
        if signed_in_at is not None:
            await Reauthentication(self.context).note_sign_in(came.person, signed_in_at)
        return came

    async def tries_left(self, mfa_token: str) -> int:
        """Return how many codes may still be tried; 0 for a challenge that is unknown."""
        digest = self.context.crypto.opaque.digest(mfa_token)
        challenge = await self.context.stores.challenges.find(digest)
        return max(0, self.context.settings.tries - challenge.tries) if challenge else 0

    async def _login(
        self, email: str, password: str, client: ClientInfo
    ) -> SignedIn | SecondFactorRequired:
        """Check the password; start a session or a challenge."""
        user = await PasswordCheck(self.context).by_email(email, password, client)
        if user is None:
            raise ServiceError(PASSWORD_WRONG, "password")
        user = await self._rehashed(user, password)
        await TokenIssuer(self.context).refuse_elsewhere(user)
        if user.has_factor:
            return await self._challenge(user, client)
        self.context.events.on_security_event("authn_login_success", user.id)
        return await TokenIssuer(self.context).begin(user, client, None)

    async def _submit_code(self, mfa_token: str, code: str, client: ClientInfo) -> SignedIn:
        """Use up the challenge and the code; start a session."""
        now, stores = self.context.now(), self.context.stores
        digest = self.context.crypto.opaque.digest(mfa_token)
        challenge = await stores.challenges.find(digest)
        challenge, user = await self._challenged(challenge, client)
        if not await stores.challenges.try_once(digest, self.context.settings.tries, now):
            raise ServiceError(MFA_EXPIRED, "challenge_over")
        if not await SecondFactorCodes(self.context).accept(user, code):
            raise ServiceError(MFA_INVALID, "code")
        if not await stores.challenges.use(digest, now):
            raise ServiceError(MFA_EXPIRED, "challenge_used")
        self.context.events.on_security_event("authn_login_success", user.id)
        return await TokenIssuer(self.context).begin(user, client, now, challenge.by)

    async def _issuer_of(
        self, mfa_token: str, user: User, client: ClientInfo
    ) -> IssuerSession | None:
        """Use up the challenge of a user that followed their provider, and return the session."""
        now, stores = self.context.now(), self.context.stores
        digest = self.context.crypto.opaque.digest(mfa_token)
        challenge = await stores.challenges.find(digest) if mfa_token else None
        if challenge is None or challenge.by is None or challenge.user_id != user.id:
            return None
        await self._challenged(challenge, client)
        return challenge.by if await stores.challenges.use(digest, now) else None

    async def _challenged(
        self, challenge: Challenge | None, client: ClientInfo
    ) -> tuple[Challenge, User]:
        """Return an open challenge and its user; any change of the user voids it."""
        if challenge is None or challenge.bound_to != client.bound_to:
            raise ServiceError(MFA_EXPIRED, "challenge_unknown")
        # before any look-up, as for an unknown challenge: the duration must tell nothing
        if not challenge.is_open(self.context.now(), self.context.settings.tries):
            raise ServiceError(MFA_EXPIRED, "challenge_over")
        user = await self.context.stores.users.find(challenge.user_id)
        changed = user is not None and user.updated_at > challenge.created_at
        if user is None or not user.active or changed:
            raise ServiceError(MFA_EXPIRED, "person_changed")
        return challenge, user

    async def _challenge(
        self, user: User, client: ClientInfo, by: IssuerSession | None = None
    ) -> SecondFactorRequired:
        now, token = self.context.now(), self.context.crypto.opaque.make()
        challenge = Challenge(
            digest=self.context.crypto.opaque.digest(token),
            user_id=user.id,
            created_at=now,
            ends_at=now + self.context.settings.challenge,
            bound_to=client.bound_to,
            issuer_company=by.company_id if by else "",
            issuer_sid=by.sid if by else "",
        )
        await self.context.stores.challenges.add(challenge)
        return SecondFactorRequired(token, challenge.ends_at)

    async def _rehashed(self, user: User, password: str) -> User:
        """Recompute the digest of the password when today's settings ask for more."""
        hashing = self.context.crypto.hashing
        if not hashing.is_outdated(user.password):
            return user
        renewed = replace(user, password=await hashing.make(password))
        # a change of the user made meanwhile wins; the next sign-in tries again
        done = await self.context.stores.users.replace(renewed, None, user.updated_at)
        return renewed if done else user
