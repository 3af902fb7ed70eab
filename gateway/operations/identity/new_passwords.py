"""New passwords: what they must be, and what ends when one is set."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gateway.domain.errors import ServiceError
from gateway.domain.identity import Purpose
from gateway.domain.identity_errors import NOT_POSSIBLE
from gateway.domain.people import User
from gateway.domain.stores import AuditEvent
from gateway.domain.strict import Malformed, plain_text
from gateway.operations.identity.acts import change, own_act
from gateway.operations.identity.answers import Visitor
from gateway.operations.identity.mailing import Mailing
from gateway.operations.identity.ports import Parts
from gateway.operations.identity.throttling import Throttle

SHORTEST = 12
LONGEST = 128
"""Code points of a password; there is no rule of composition, and no expiry."""

_WORDS = {Purpose.RESET: "password.reset", Purpose.INVITATION: "invitation.accepted"}
_LINK_OVER = "the link is not valid any more; ask for a new one"


@dataclass(frozen=True, slots=True)
class NewPasswords:
    """Sets passwords."""

    parts: Parts

    def refuse_weak(self, password: str) -> None:
        """
        Refuse a password that is too short or long, or that everybody tries first.

        Raises:
            ServiceError: NOT_POSSIBLE; ``detail`` says which rule.
        """
        try:
            plain_text(password, LONGEST)
        except Malformed as problem:
            detail = f"a password has at most {LONGEST} characters and no control character"
            raise ServiceError(NOT_POSSIBLE, "password_form", detail=detail) from problem
        if len(password) < SHORTEST:
            detail = f"a password has at least {SHORTEST} characters"
            raise ServiceError(NOT_POSSIBLE, "password_short", detail=detail)
        if self.parts.crafts.hashing.is_common(password):
            detail = "this password is among those that everybody tries first"
            raise ServiceError(NOT_POSSIBLE, "password_common", detail=detail)

    async def by_link(self, token: str, purpose: Purpose, password: str, visitor: Visitor) -> User:
        """
        Use a link of a mail up and set a password.

        Raises:
            ServiceError: NOT_POSSIBLE for a weak password, or a link that is
                unknown, used or over; TOO_MANY_ATTEMPTS.
        """
        self.refuse_weak(password)
        await Throttle(self.parts).link(visitor.address)
        # before the link is used up: who finds us too busy may come again with it
        digest = await self.parts.crafts.hashing.make(password)
        key, now = self.parts.crafts.opaque.mail_digest(token), self.parts.now()
        row = await self.parts.stored.challenges.use_mail_token(key, purpose, now)
        if row is None:
            raise ServiceError(NOT_POSSIBLE, "link_over", detail=_LINK_OVER)
        user = await self._store(row.user_id, digest, _WORDS[purpose])
        await Throttle(self.parts).link_right(visitor.address)
        return user

    async def set(self, user_id: str, password: str, word: str) -> User:
        """Set a password; every session of the person ends. ``word`` is for the audit log."""
        return await self._store(user_id, await self.parts.crafts.hashing.make(password), word)

    async def _store(self, user_id: str, digest: str, word: str) -> User:
        """Store a digest, end every session and tell the owner."""

        def changed(user: User) -> User:
            """Refuse for whom was disabled meanwhile."""
            if not user.active:
                raise ServiceError(NOT_POSSIBLE, "link_over", detail=_LINK_OVER)
            return replace(user, password=digest)

        def told(user: User) -> AuditEvent:
            """Describe it."""
            return own_act(self.parts, user, word)

        user = await change(self.parts, user_id, changed, told)
        if user is None:
            raise ServiceError(NOT_POSSIBLE, "link_over", detail=_LINK_OVER)
        event = own_act(self.parts, user, "sessions.ended", why=word)
        now = self.parts.now()
        await self.parts.stored.sessions.end_all(user.id, now, "password", "", event)
        await Mailing(self.parts).notice(user, "Senha alterada", "A senha da sua conta mudou.")
        self.parts.notice("authn_password_change", user.id)
        return user
