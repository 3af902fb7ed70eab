"""Passwords: checked, forgotten, reset and changed; each change ends every session."""

from __future__ import annotations

import logging
from collections import deque
from dataclasses import dataclass, replace

from gateway.domain.identity.browsers import KnownBrowser
from gateway.domain.identity.challenges import Purpose
from gateway.domain.identity.errors import NOT_POSSIBLE, PASSWORD_WRONG
from gateway.domain.identity.sessions import SignedInUser
from gateway.domain.identity.users import User
from gateway.domain.kernel.audit import AuditEvent
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.kernel.storage import StoreUnavailable
from gateway.domain.kernel.strict import Malformed, plain_text
from gateway.operations.identity.mail import Mailing
from gateway.operations.identity.ports import Parts, Visitor
from gateway.operations.identity.throttling import Attempt, Throttle
from gateway.operations.identity.user_changes import change, own_act
from gateway.telemetry.trace import current_trace_id


def as_typed(text: str) -> str:
    """Read what somebody signs in with: a text that is no address is nobody's."""
    return text.strip().lower()


@dataclass(frozen=True, slots=True)
class Proving:
    """Finds out whether a person knows their password."""

    parts: Parts

    async def by_email(self, email: str, password: str, visitor: Visitor) -> User | None:
        """
        Return whose address and password these are; None for nobody's.

        Raises:
            ServiceError: TOO_MANY_ATTEMPTS.
        """
        key = as_typed(email)
        user = await self.parts.stored.users.find_by_email(key)
        meant = "" if user is None else user.id
        throttle = Throttle(self.parts, meant)
        attempt = await throttle.password(
            Attempt(email=key, address=visitor.address, browser=_browser(user, visitor))
        )
        stored = user.password if user is not None and user.active else ""
        try:
            right = await self.parts.crafts.hashing.matches(password, stored)
        except ServiceError:
            await throttle.password_unseen(attempt)
            raise
        if user is None or not right:
            self.parts.notice("authn_login_fail", meant)
            return None
        await throttle.password_right(attempt)
        return user

    async def by_caller(self, caller: SignedInUser, password: str, visitor: Visitor) -> User | None:
        """
        Return who is signed in, if this is their password; None if not.

        Their session is known for them: what strangers guess elsewhere does not count here.

        Raises:
            ServiceError: TOO_MANY_ATTEMPTS.
        """
        here = KnownBrowser(user_id=caller.user_id, id=caller.session_id)
        return await self.by_email(caller.email, password, replace(visitor, known=here))


def _browser(user: User | None, visitor: Visitor) -> str:
    """Name the browser if it is known for this very person; empty for any other."""
    known = visitor.known
    return known.id if user is not None and known is not None and known.user_id == user.id else ""


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


_log = logging.getLogger(__name__)

_MOST = 1_000
"""More than the quotas let through while a store is away for minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """
    Somebody wants to reset a password.

    Attributes:
        email: As typed, in lower case; perhaps nobody's.
        address: Where the wish came from.
    """

    email: str
    address: str
    trace_id: str


class ResetWishes:
    """
    What waits to be answered in this process.

    Attributes:
        parts: What links are made from.
    """

    def __init__(self, parts: Parts) -> None:
        """Begin with nothing."""
        self.parts = parts
        self._waiting: deque[Wish] = deque()

    def add(self, email: str, address: str) -> None:
        """Note a wish; costs the same whoever is asked for."""
        if len(self._waiting) >= _MOST:
            _log.warning("a wish for a reset link was dropped: too many wait")
            return
        self._waiting.append(Wish(email=email, address=address, trace_id=current_trace_id()))

    async def answer(self) -> int:
        """
        Send a link to everybody who exists and asked; return how many were sent.

        Raises:
            StoreUnavailable: the store does not answer; what is left waits for the next turn.
        """
        count = 0
        while self._waiting:
            wish = self._waiting.popleft()
            try:
                count += await self._send(wish)
            except StoreUnavailable:
                self._waiting.appendleft(wish)
                raise
        return count

    async def _send(self, wish: Wish) -> bool:
        """Send one link; False for nobody, and for who has enough of them."""
        user = await self.parts.stored.users.find_by_email(wish.email)
        if user is None or not user.active or not user.password:
            return False
        if not await Mailing(self.parts).reset(user):
            return False
        event = own_act(self.parts, user, "password.forgotten", address=wish.address)
        await self.parts.stored.audit.append(replace(event, trace_id=wish.trace_id))
        return True


@dataclass(frozen=True, slots=True)
class PasswordRecords:
    """What people do about their passwords."""

    parts: Parts
    wishes: ResetWishes

    async def forgot(self, email: str, visitor: Visitor) -> None:
        """
        Have a link sent to set a new password, if anybody has that address.

        Nobody is looked up before the caller is answered: neither what is said nor
        how long it takes tells whether there is such a person.

        Raises:
            ServiceError: TOO_MANY_ATTEMPTS, for the caller's address alone.
        """
        await Throttle(self.parts).reset(visitor.address)
        self.wishes.add(as_typed(email), visitor.address)

    async def reset(self, token: str, password: str, visitor: Visitor) -> str:
        """
        Set a new password by the link of a mail, and return whose; nobody is signed in by that.

        Raises:
            ServiceError: NOT_POSSIBLE for a password that is too weak, or a
                link that is unknown, used or over; TOO_MANY_ATTEMPTS.
        """
        user = await NewPasswords(self.parts).by_link(token, Purpose.RESET, password, visitor)
        await Throttle(self.parts).password_reset(user.email, visitor.address)
        return user.id

    async def change(self, caller: SignedInUser, current: str, new: str, visitor: Visitor) -> None:
        """
        Set a new password by the current one; every session ends, this one too.

        Raises:
            ServiceError: PASSWORD_WRONG; NOT_POSSIBLE for a new one that is too
                weak; TOO_MANY_ATTEMPTS.
        """
        passwords = NewPasswords(self.parts)
        passwords.refuse_weak(new)
        if await Proving(self.parts).by_caller(caller, current, visitor) is None:
            raise ServiceError(PASSWORD_WRONG, "password")
        await passwords.set(caller.user_id, new, "password.changed")
