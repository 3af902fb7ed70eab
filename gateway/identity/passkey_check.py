"""Passkeys as they are used: asked for, checked and counted, each challenge once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gateway.core.browsers import ClientInfo
from gateway.core.errors import ServiceError
from gateway.core.sessions import SignedInUser
from gateway.core.user import User
from gateway.core.user_errors import NOT_POSSIBLE, PASSKEY_INVALID
from gateway.identity.context import IdentityContext
from gateway.identity.mail import Mailer
from gateway.identity.model import Challenge, Passkey
from gateway.identity.passkey_challenges import digest_of
from gateway.identity.throttling import Throttle
from gateway.identity.webauthn import Assertion, AssertionOptions, Registration, challenge_of

_NO_PLACE = "browsers use passkeys of https://host and http://localhost alone: identity.origin"

_COPIED_PORTUGUESE = (
    "O contador de uma das suas chaves de acesso (passkeys) voltou atrás: pode existir uma cópia"
    " dela. Ela foi recusada. Remova-a na sua conta."
)
_COPIED_ENGLISH = (
    "The counter of one of your passkeys stepped back: there may be a copy of it. It was refused."
    " Remove it on the page of your account."
)


class Use(StrEnum):
    """What the answer to a challenge is for."""

    SIGN_IN = "sign_in"
    PROOF = "proof"
    REGISTRATION = "registration"


@dataclass(frozen=True, slots=True)
class Answered:
    """A challenge of ours that an answer names, for the session that sent it."""

    content: bytes
    ends_at: datetime


@dataclass(frozen=True, slots=True)
class PasskeyCheck:
    """Asks for passkeys and checks them; every fault gets the same refusal."""

    context: IdentityContext

    def challenge(self, use: Use, bound_to: str) -> bytes:
        """
        Make a challenge for a session.

        Raises:
            ServiceError: NOT_POSSIBLE where browsers use no passkeys of this panel.
        """
        if not self.context.relying_party.id:
            raise ServiceError(NOT_POSSIBLE, "no_passkeys_here", detail=_NO_PLACE)
        ends_at = self.context.now() + self.context.settings.challenge
        return self.context.crypto.challenges.make(use, bound_to, ends_at)

    def options(self, use: Use, bound_to: str, known: Sequence[Passkey]) -> AssertionOptions:
        """Return the options that ask for one of some passkeys; raises as ``challenge``."""
        challenge = self.challenge(use, bound_to)
        return self.context.relying_party.assertion_options(challenge, known)

    async def at_sign_in(self, answer: Assertion, client: ClientInfo) -> User:
        """
        Return the user whose passkey it is.

        A refused one counts against the client's address, as a wrong password does.

        Raises:
            ServiceError: PASSKEY_INVALID; TOO_MANY_ATTEMPTS.
        """
        throttle = Throttle(self.context)
        await throttle.passkey(client.address)
        passkey = await self.context.stores.passkeys.find(answer.id)
        user = await self._accept(answer, Use.SIGN_IN, client.bound_to, passkey)
        await throttle.passkey_accepted(client.address)
        return user

    async def of_caller(self, caller: SignedInUser, answer: Assertion) -> User:
        """
        Return the signed-in user as stored, if it is a passkey of theirs.

        A refused one counts against the session alone.

        Raises:
            ServiceError: PASSKEY_INVALID; TOO_MANY_ATTEMPTS.
        """
        throttle, counted = Throttle(self.context, caller.user_id), f"passkey {caller.session_id}"
        await throttle.factor(counted)
        passkey = await self.context.stores.passkeys.find(answer.id)
        if passkey is not None and passkey.user_id != caller.user_id:
            passkey = None
        user = await self._accept(answer, Use.PROOF, caller.session_id, passkey)
        await throttle.code_accepted(counted)
        return user

    def answered(self, answer: Assertion | Registration, use: Use, bound_to: str) -> Answered:
        """
        Return the challenge that an answer names.

        Raises:
            ServiceError: PASSKEY_INVALID for one that is over, or was made for another session
                or use.
        """
        content = challenge_of(answer)
        ends_at = self.context.crypto.challenges.end_of(content, use, bound_to)
        if ends_at is None or self.context.now() >= ends_at:
            raise _refused()
        return Answered(content, ends_at)

    async def use_up(self, answered: Answered, user_id: str) -> None:
        """
        Use a challenge up.

        Raises:
            ServiceError: PASSKEY_INVALID when it was used before.
        """
        now = self.context.now()
        used = Challenge(
            digest=digest_of(answered.content),
            user_id=user_id,
            created_at=now,
            ends_at=answered.ends_at,
            tries=1,
            used_at=now,
        )
        if not await self.context.stores.challenges.add_used(used):
            raise _refused()

    async def _accept(
        self, answer: Assertion, use: Use, bound_to: str, passkey: Passkey | None
    ) -> User:
        """Check an answer of a known passkey, use its challenge up and store the use."""
        try:
            return await self._accepted(answer, use, bound_to, passkey)
        except ServiceError:
            word = "authn_login_fail" if use is Use.SIGN_IN else "authn_factor_fail"
            self.context.events.on_security_event(word, passkey.user_id if passkey else "")
            raise

    async def _accepted(
        self, answer: Assertion, use: Use, bound_to: str, passkey: Passkey | None
    ) -> User:
        answered = self.answered(answer, use, bound_to)
        if passkey is None:
            raise _refused()
        party = self.context.relying_party
        sign_count = party.verify(answer, answered.content, passkey)
        user = await self.context.stores.users.find(passkey.user_id)
        if user is None or not user.active:
            raise _refused()
        await self.use_up(answered, user.id)
        now = self.context.now()
        if not await self.context.stores.passkeys.count_use(passkey.id, sign_count, now):
            await self._report_copy(user, passkey)
            raise _refused()
        return user

    async def _report_copy(self, user: User, passkey: Passkey) -> None:
        """Record and mail that a counter did not rise: there may be a copy of the passkey."""
        await self.context.audit.append(
            self.context.own_audit_event(
                user, "passkey.count_fell", passkey=passkey.id, name=passkey.name
            )
        )
        self.context.events.on_security_event("authn_passkey_reuse", user.id)
        await Mailer(self.context).notify(
            user,
            ("Uma chave de acesso foi recusada", "A passkey was refused"),
            (_COPIED_PORTUGUESE, _COPIED_ENGLISH),
        )


def _refused() -> ServiceError:
    return ServiceError(PASSKEY_INVALID, "passkey")
