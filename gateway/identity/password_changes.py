"""Passwords: forgotten, reset and changed; each change ends every session."""

from __future__ import annotations

import logging
from collections import deque
from dataclasses import dataclass, replace

from gateway.core.audit import AuditEvent
from gateway.core.browsers import ClientInfo
from gateway.core.errors import ServiceError
from gateway.core.sessions import SignedInUser
from gateway.core.storage import StoreUnavailable
from gateway.core.strict import Malformed, plain_text
from gateway.core.trace import current_trace_id
from gateway.core.user import User
from gateway.core.user_errors import NOT_POSSIBLE, VALIDATION_FAILED
from gateway.identity.context import IdentityContext
from gateway.identity.mail import Mailer
from gateway.identity.model import Purpose
from gateway.identity.password_check import normalized_email
from gateway.identity.reauthentication import Proof, Reauthentication
from gateway.identity.throttling import Throttle
from gateway.identity.webauthn import Assertion

_log = logging.getLogger(__name__)

SHORTEST = 12
LONGEST = 128
"""Code points of a password. There is no rule of composition, and no expiry (NIST 800-63B)."""

_WORDS = {Purpose.RESET: "password.reset", Purpose.INVITATION: "invitation.accepted"}
_LINK_OVER = "the link is not valid any more; ask for a new one"

# more than the quotas let through while the store is away for minutes
_MOST_WAITING = 1_000


@dataclass(frozen=True, slots=True)
class NewPasswords:
    """Sets passwords."""

    context: IdentityContext

    def refuse_weak(self, password: str) -> None:
        """
        Refuse a password that is too short, too long, or tried first by attackers.

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
        if self.context.crypto.hashing.is_common(password):
            detail = "this password is among those that everybody tries first"
            raise ServiceError(NOT_POSSIBLE, "password_common", detail=detail)

    async def by_link(
        self, token: str, purpose: Purpose, password: str, client: ClientInfo
    ) -> User:
        """
        Use up a link from a mail, and set a password.

        Raises:
            ServiceError: NOT_POSSIBLE for a weak password, or a link that is
                unknown, used or over; TOO_MANY_ATTEMPTS.
        """
        self.refuse_weak(password)
        await Throttle(self.context).link(client.address)
        # before the link is used up, so that it still works when we are too busy now
        digest = await self.context.crypto.hashing.make(password)
        key, now = self.context.crypto.opaque.mail_digest(token), self.context.now()
        row = await self.context.stores.challenges.use_mail_token(key, purpose, now)
        if row is None:
            raise ServiceError(NOT_POSSIBLE, "link_over", detail=_LINK_OVER)
        user = await self._store(row.user_id, digest, _WORDS[purpose])
        await Throttle(self.context).link_accepted(client.address)
        return user

    async def set(self, user_id: str, password: str, word: str) -> User:
        """Set a password and end every session of the user; ``word`` names the audit event."""
        digest = await self.context.crypto.hashing.make(password)
        return await self._store(user_id, digest, word)

    async def _store(self, user_id: str, digest: str, word: str) -> User:
        """Store a digest, end every session and notify the owner."""

        def update(user: User) -> User:
            """Refuse a user who was disabled meanwhile."""
            if not user.active:
                raise ServiceError(NOT_POSSIBLE, "link_over", detail=_LINK_OVER)
            return replace(user, password=digest)

        def event_of(user: User) -> AuditEvent:
            return self.context.own_audit_event(user, word)

        user = await self.context.change_user(user_id, update, event_of)
        if user is None:
            raise ServiceError(NOT_POSSIBLE, "link_over", detail=_LINK_OVER)
        event = self.context.own_audit_event(user, "sessions.ended", why=word)
        now = self.context.now()
        await self.context.stores.sessions.end_all(user.id, now, "password", "", event)
        await Mailer(self.context).notify(
            user,
            ("Senha alterada", "Password changed"),
            ("A senha da sua conta mudou.", "The password of your account has changed."),
        )
        self.context.events.on_security_event("authn_password_change", user.id)
        return user


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetRequest:
    """
    A request for a reset link.

    Attributes:
        email: As typed, in lower case; perhaps without a user.
        address: The client address of the request.
    """

    email: str
    address: str
    trace_id: str


class ResetRequests:
    """
    The reset requests that wait in this process.

    Whether the user exists is looked up after the answer was sent, so the duration
    reveals nothing. Waiting requests are lost when the process dies; the user then retries.
    """

    def __init__(self, context: IdentityContext) -> None:
        """Start with none; links are made from ``context``."""
        self.context = context
        self._waiting: deque[ResetRequest] = deque()

    def add(self, email: str, address: str) -> None:
        """Queue a request; takes the same time for every address."""
        if len(self._waiting) >= _MOST_WAITING:
            _log.warning("a wish for a reset link was dropped: too many wait")
            return
        request = ResetRequest(email=email, address=address, trace_id=current_trace_id())
        self._waiting.append(request)

    async def answer(self) -> int:
        """
        Send a link for every request of an existing user; return how many were sent.

        Raises:
            StoreUnavailable: the store does not answer; the rest waits for the next run.
        """
        count = 0
        while self._waiting:
            request = self._waiting.popleft()
            try:
                count += await self._send(request)
            except StoreUnavailable:
                self._waiting.appendleft(request)
                raise
        return count

    async def _send(self, request: ResetRequest) -> bool:
        """Send one link; False for an unknown user, and for one with enough valid links."""
        user = await self.context.stores.users.find_by_email(request.email)
        if user is None or not user.active or not user.password:
            return False
        if not await Mailer(self.context).send_reset_link(user):
            return False
        event = self.context.own_audit_event(user, "password.forgotten", address=request.address)
        await self.context.audit.append(replace(event, trace_id=request.trace_id))
        return True


@dataclass(frozen=True, slots=True)
class Passwords:
    """Users' acts on their passwords."""

    context: IdentityContext
    reset_requests: ResetRequests

    async def forgot(self, email: str, client: ClientInfo) -> None:
        """
        Request a reset link by mail; the answer does not reveal whether the user exists.

        No user is looked up before the caller is answered, so that the duration of the answer
        does not reveal it either.

        Raises:
            ServiceError: TOO_MANY_ATTEMPTS, counted for the caller's address alone.
        """
        await Throttle(self.context).reset(client.address)
        self.reset_requests.add(normalized_email(email), client.address)

    async def reset(self, token: str, password: str, client: ClientInfo) -> str:
        """
        Set a new password with the token of a reset link; every session ends.

        Returns:
            The user's id.

        Raises:
            ServiceError: NOT_POSSIBLE for a password that is too weak, or a
                link that is unknown, used or over; TOO_MANY_ATTEMPTS.
        """
        user = await NewPasswords(self.context).by_link(token, Purpose.RESET, password, client)
        await Throttle(self.context).password_reset(user.email, client.address)
        return user.id

    async def accept_invitation(self, token: str, password: str, client: ClientInfo) -> str:
        """
        Set the first password with the token of an invitation link.

        Returns:
            The user's id.

        Raises:
            ServiceError: NOT_POSSIBLE for a weak password, or a link that is
                unknown, used or over; TOO_MANY_ATTEMPTS.
        """
        passwords = NewPasswords(self.context)
        return (await passwords.by_link(token, Purpose.INVITATION, password, client)).id

    async def change(  # noqa: PLR0913, PLR0917 - the fields of its body
        self,
        caller: SignedInUser,
        current_password: str,
        new_password: str,
        code: str,
        client: ClientInfo,
        passkey: Assertion | None = None,
    ) -> None:
        """
        Set a new password, given the current one and, with an app, its newest code; or a passkey.

        Every session ends, this one included.

        Raises:
            ServiceError: NOT_POSSIBLE for a new password that is too weak; as
                ``Reauthentication.prove``.
        """
        passwords = NewPasswords(self.context)
        passwords.refuse_weak(new_password)
        if not current_password and passkey is None:
            raise ServiceError(VALIDATION_FAILED, "missing", field="current_password")
        proof = Proof(password=current_password, code=code, passkey=passkey)
        await Reauthentication(self.context).prove(caller, proof, client)
        await passwords.set(caller.user_id, new_password, "password.changed")
