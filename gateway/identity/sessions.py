"""Sessions: how they begin, who calls, how tokens are refreshed, and how a session ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from gateway.core.browsers import ClientInfo
from gateway.core.errors import ServiceError
from gateway.core.networks import pool
from gateway.core.sessions import (
    AccessClaims,
    IssuerSession,
    RefreshToken,
    Session,
    SignedInUser,
    person,
)
from gateway.core.user import User
from gateway.core.user_errors import (
    NOT_FOUND,
    PASSWORD_WRONG,
    REFRESH_INVALID,
    SIGN_IN_REFUSED,
    TOKEN_INVALID,
)
from gateway.core.windows import LOCAL
from gateway.identity.context import IdentityContext, LocalSignIn, is_valid
from gateway.identity.mail import Mailer
from gateway.identity.user_notices import UserNotices
from gateway.telemetry.ports import Event, SignOnOutcome

_ELSEWHERE: Final = "Your company has its own sign-in: choose it on the page of the sign-in."


@dataclass(frozen=True, slots=True)
class OwnSessions:
    """Users' acts on their own sessions."""

    context: IdentityContext

    async def authenticate(self, access_token: str) -> SignedInUser:
        """
        Return the caller of a token. Each call reads the session, so its end counts at once.

        Raises:
            ServiceError: TOKEN_INVALID, for any fault.
        """
        claims = await self.context.crypto.access.verify(access_token)
        now = self.context.now()
        found = await self.context.stores.sessions.find(claims.session_id)
        if found is None:
            raise ServiceError(TOKEN_INVALID, "session_unknown")
        session, user = found
        if not session.is_live(now):
            raise ServiceError(TOKEN_INVALID, "session_over")
        if user.id != claims.user_id or not is_valid(session, user):
            raise ServiceError(TOKEN_INVALID, "person_changed")
        if now - session.seen_at >= self.context.settings.touch:
            await self.context.stores.sessions.touch(session.id, now)
        return person(user, session)

    async def list(self, caller: SignedInUser) -> Sequence[Session]:
        """List your own sessions, oldest first."""
        return await self.context.stores.sessions.of(caller.user_id, self.context.now())

    async def end(self, caller: SignedInUser, session_id: str) -> None:
        """
        End one of your own sessions, with all of its tokens.

        Args:
            caller: Whose session it is.
            session_id: Its public id, or its own id.

        Raises:
            ServiceError: NOT_FOUND for a session that has ended or is another user's.
        """
        if not await self.end_of(caller.actor, caller.user_id, session_id, "by_owner"):
            raise ServiceError(NOT_FOUND, "session")

    async def end_of(
        self, by: str, user_id: str, session_id: str, why: str = "by_administrator"
    ) -> bool:
        """
        End a session of a user; False if it has ended or is another user's.

        Args:
            by: The administrator, as the audit log names them.
            user_id: Whose session it is.
            session_id: Its public id, or its own id.
            why: As it is on record.
        """
        for each in await self.context.stores.sessions.of(user_id, self.context.now()):
            if session_id in {each.id, each.public_id}:
                return await self._end(by, user_id, each.id, why)
        return False

    async def end_others(self, caller: SignedInUser) -> int:
        """End all of your own sessions except this one; return how many."""
        event = self.context.audit_event(
            caller.actor,
            "sessions.ended",
            f"user:{caller.user_id}",
            why="by_owner",
        )
        return await self.context.stores.sessions.end_all(
            caller.user_id, self.context.now(), "by_owner", caller.session_id, event
        )

    async def logout(self, caller: SignedInUser) -> None:
        """Sign out: the session and all of its tokens end at once; safe to repeat."""
        await self._end(caller.actor, caller.user_id, caller.session_id, "logout")

    async def _end(self, by: str, user_id: str, session_id: str, why: str) -> bool:
        """End a session; a failing store raises, so it never looks like success."""
        subject = f"user:{user_id}"
        event = self.context.audit_event(by, "session.ended", subject, session=session_id, why=why)
        ended = await self.context.stores.sessions.end(session_id, self.context.now(), why, event)
        self.context.crypto.access.forget(session_id)
        return ended


# enough to recognize a browser in the list of sessions; a header may hold kilobytes
_LONGEST_AGENT: Final = 256
_REFUSED: Final = {"used": "reuse_race"}
"""Labels of refused refreshes by reason; all others are ``invalid_grant``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenPair:
    """The tokens of one session. They are shown once and stored nowhere."""

    session_id: str
    access_token: str = field(repr=False)
    expires_at: datetime
    refresh_token: str = field(repr=False)
    refresh_expires_at: datetime


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A sign-in that succeeded: the user, and the tokens of the new session."""

    tokens: TokenPair
    person: SignedInUser


@dataclass(frozen=True, slots=True)
class TokenIssuer:
    """Starts sessions and issues their tokens."""

    context: IdentityContext

    async def begin(
        self,
        user: User,
        client: ClientInfo,
        factor_at: datetime | None,
        by: IssuerSession | None = None,
    ) -> SignedIn:
        """
        Start a session. If the user has too many, the oldest ends.

        Args:
            user: Who has proven to be this user.
            client: From where.
            factor_at: When a second factor of ours was given; None without one.
            by: The session at their company's identity provider; None for a local sign-in.

        Raises:
            ServiceError: PASSWORD_WRONG when the user was changed since ``user``
                was read: their proof may no longer hold; as ``refuse_elsewhere``.
        """
        session = self._session(user, client, factor_at, by)
        if by is None and await self.refuse_elsewhere(user) is LocalSignIn.BREAK_GLASS:
            await self._tell_of_break_glass(user, session)
        is_known = await self._is_known(user, session, client)
        pair, row = await self._pair(session, 1)
        event = self.context.own_audit_event(
            user,
            "session.began",
            session=session.id,
            address=session.address,
            factor="yes" if factor_at else "no",
            **({"issuer": "yes"} if by else {}),
        )
        await self.context.stores.sessions.begin(session, row, event)
        await self._refuse_changed(user, session)
        await self._end_surplus(user)
        if not is_known:
            await self._tell_of_new_browser(user, session)
        return SignedIn(pair, person(user, session))

    async def refuse_elsewhere(self, user: User) -> LocalSignIn:
        """
        Refuse a local sign-in of a user whose company has an identity provider.

        Returns:
            Whether the user is free to sign in here, or named for outages.

        Raises:
            ServiceError: SIGN_IN_REFUSED.
        """
        may = await self.context.local_sign_in(user)
        if may is LocalSignIn.REFUSED:
            self.context.events.on_security_event("authn_login_elsewhere", user.id)
            raise ServiceError(SIGN_IN_REFUSED, "single_sign_on", detail=_ELSEWHERE)
        return may

    async def _tell_of_break_glass(self, user: User, session: Session) -> None:
        """Record, count and mail that a named person signs in without the company's provider."""
        event = self.context.own_audit_event(
            user, "user.break_glass", session=session.id, address=session.address
        )
        await self.context.audit.append(event)
        self.context.events.on_outcome(Event.SINGLE_SIGN_ON, SignOnOutcome.BREAK_GLASS)
        self.context.events.on_security_event("authn_break_glass", user.id)
        await UserNotices(Mailer(self.context)).tell_of_break_glass(user, session.address)

    async def _is_known(self, user: User, session: Session, client: ClientInfo) -> bool:
        """
        Return whether the user has signed in before in this browser, or by this program.

        A browser has the device cookie. A program has none: the same User-Agent at the same
        network is the same program.
        """
        if client.panel:
            return client.known is not None and client.known.user_id == user.id
        return await self.context.stores.sessions.has_program(session)

    async def _tell_of_new_browser(self, user: User, session: Session) -> None:
        """Mail the user; the User-Agent is left out, since it may be any text."""
        at = session.created_at.astimezone(LOCAL)
        where = session.address or "-"
        portuguese = (
            f"Sua conta entrou {'no painel' if session.panel else 'por um programa'} em um"
            f" navegador ou lugar novo: {at:%d/%m/%Y %H:%M} (Brasília), endereço {where}."
        )
        english = (
            f"Your account signed in {'to the panel' if session.panel else 'by a program'} from"
            f" a new browser or place: {at:%Y-%m-%d %H:%M} (Brasília), address {where}."
        )
        await Mailer(self.context).notify(
            user,
            ("Nova entrada na sua conta", "New sign-in to your account"),
            (portuguese, english),
        )

    async def rotate(self, session: Session, old: RefreshToken) -> TokenPair | None:
        """Exchange a refresh token for a new pair; None when another call was quicker."""
        pair, row = await self._pair(session, old.number + 1)
        won = await self.context.stores.sessions.rotate(old, row, row.created_at)
        return pair if won else None

    async def _pair(self, session: Session, number: int) -> tuple[TokenPair, RefreshToken]:
        """Make a pair, and the row stored for its refresh token."""
        now = self.context.now()
        token, row = self._refresh_token(session, number, now)
        access, ends_at = await self._access(session, now)
        pair = TokenPair(
            session_id=session.id,
            access_token=access,
            expires_at=ends_at,
            refresh_token=token,
            refresh_expires_at=session.ends_at,
        )
        return pair, row

    def _session(
        self,
        user: User,
        client: ClientInfo,
        factor_at: datetime | None,
        by: IssuerSession | None,
    ) -> Session:
        """Describe a session that starts now."""
        now = self.context.now()
        return Session(
            id=self.context.new_id(),
            user_id=user.id,
            # the node that changed the user last may have a clock ahead of ours
            created_at=max(now, user.updated_at),
            ends_at=now + self.context.settings.refresh,
            seen_at=now,
            factor_at=factor_at,
            address=client.address,
            user_agent=printable_agent(client.user_agent),
            panel=client.panel,
            networks=(pool(client.address),),
            issuer_company=by.company_id if by else "",
            issuer_sid=by.sid if by else "",
        )

    def _refresh_token(
        self, session: Session, number: int, now: datetime
    ) -> tuple[str, RefreshToken]:
        token = self.context.crypto.opaque.make()
        return token, RefreshToken(
            digest=self.context.crypto.opaque.digest(token),
            session_id=session.id,
            number=number,
            created_at=now,
            ends_at=session.ends_at,
        )

    async def _access(self, session: Session, now: datetime) -> tuple[str, datetime]:
        """Sign an access token, which never outlives its session."""
        ends_at = min(now + self.context.settings.access, session.ends_at)
        claims = AccessClaims(
            user_id=session.user_id,
            session_id=session.id,
            token_id=self.context.new_id(),
            ends_at=ends_at,
        )
        return await self.context.crypto.access.issue(claims), ends_at.replace(microsecond=0)

    async def _refuse_changed(self, user: User, session: Session) -> None:
        """
        End a session that started while its user was being changed.

        Either we see the change here, or the change sees our session.
        """
        found = await self.context.stores.sessions.find(session.id)
        if found is not None and found[1].updated_at == user.updated_at and found[1].active:
            return
        event = self.context.own_audit_event(
            user, "session.ended", session=session.id, why="changed"
        )
        await self.context.stores.sessions.end(session.id, self.context.now(), "changed", event)
        raise ServiceError(PASSWORD_WRONG, "person_changed")

    async def _end_surplus(self, user: User) -> None:
        """End the oldest sessions above the limit; parallel sign-ins end the same ones."""
        now, stores = self.context.now(), self.context.stores
        live = await stores.sessions.of(user.id, now)
        for session in live[: max(0, len(live) - self.context.settings.sessions)]:
            event = self.context.own_audit_event(
                user, "session.ended", session=session.id, why="surplus"
            )
            await stores.sessions.end(session.id, now, "surplus", event)


@dataclass(frozen=True, slots=True)
class TokenRefresh:
    """Exchanges refresh tokens."""

    context: IdentityContext

    async def refresh(self, refresh_token: str) -> TokenPair:
        """
        Exchange a refresh token for a new pair of tokens; it works once.

        The outcome is counted. Raises as ``exchange``.
        """
        try:
            pair = await self.exchange(refresh_token)
        except ServiceError as refusal:
            if refusal.error is REFRESH_INVALID:
                label = _REFUSED.get(refusal.reason, "invalid_grant")
                self.context.events.on_outcome(Event.TOKEN_REFRESH, label)
            raise
        self.context.events.on_outcome(Event.TOKEN_REFRESH, "ok")
        return pair

    async def exchange(self, refresh_token: str) -> TokenPair:
        """
        Exchange a refresh token for a new pair; of parallel callers, one gets it.

        If the token just before the newest is presented again within the grace
        period, only its caller fails. Any other used token ends the session, because
        the token was copied.

        Raises:
            ServiceError: REFRESH_INVALID, for any fault.
        """
        digest = self.context.crypto.opaque.digest(refresh_token)
        token = await self.context.stores.sessions.refresh_token(digest)
        if token is None:
            raise ServiceError(REFRESH_INVALID, "session_unknown")
        session, user = await self._session(token)
        if token.used_at is None:
            pair = await TokenIssuer(self.context).rotate(session, token)
            if pair is not None:
                return pair
            token = await self.context.stores.sessions.refresh_token(digest)
        if token is not None and token.used_at is not None:
            await self._end_if_stolen(token, session, user)
        raise ServiceError(REFRESH_INVALID, "used")

    async def _session(self, token: RefreshToken) -> tuple[Session, User]:
        """Return the live session of a token, and its user."""
        now = self.context.now()
        found = await self.context.stores.sessions.find(token.session_id)
        if found is None or not found[0].is_live(now) or now >= token.ends_at:
            raise ServiceError(REFRESH_INVALID, "session_over")
        if not is_valid(*found):
            raise ServiceError(REFRESH_INVALID, "person_changed")
        return found

    async def _end_if_stolen(self, token: RefreshToken, session: Session, user: User) -> None:
        """Distinguish a race from a theft, and end the session in case of theft."""
        now, sessions = self.context.now(), self.context.stores.sessions
        age = now - token.used_at if token.used_at else None
        newest = await sessions.last_number(session.id)
        in_time = age is not None and age <= self.context.settings.grace
        if in_time and token.number == newest - 1:
            return
        event = self.context.own_audit_event(user, "session.token_reuse", session=session.id)
        ended = await sessions.end(session.id, now, "token_reuse", event)
        self.context.crypto.access.forget(session.id)
        if ended:
            self.context.events.on_security_event("authn_token_reuse", user.id)


def printable_agent(text: str) -> str:
    """Shorten and clean a user agent for storage and display."""
    return "".join(each for each in text[:_LONGEST_AGENT] if each.isprintable())
