"""What the rows of identity run: bodies are handed to the operations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from gateway.domain.identity.errors import NOT_FOUND
from gateway.domain.identity.sessions import Session
from gateway.domain.kernel.errors import ServiceError
from gateway.http.identity.callers import Guest, Member
from gateway.http.identity.represent import public_id
from gateway.operations.identity.second_factors import Enrolment
from gateway.operations.identity.services import IdentityDesk
from gateway.operations.identity.sign_in import FactorAsked, Tokens, WayIn
from gateway.operations.identity.tokens import SignedIn, TokenPair
from policies.validation.identity import (
    ChangeBody,
    CodeBody,
    ForgotBody,
    LinkBody,
    LoginBody,
    MfaBody,
    PasswordBody,
    RefreshBody,
)


@dataclass(frozen=True, slots=True)
class WaysBack:
    """What people do who cannot sign in."""

    desk: IdentityDesk

    async def forgot(self, who: Guest, body: ForgotBody) -> None:
        """Send a link, if anybody has the address."""
        await self.desk.passwords.forgot(body.email, who.visitor)

    async def reset(self, who: Guest, body: LinkBody) -> str:
        """Set a password by the link of a mail; return whose."""
        return await self.desk.passwords.reset(body.token, body.password, who.visitor)

    async def accept(self, who: Guest, body: LinkBody) -> str:
        """Set the first password by the link of an invitation; return whose."""
        return await self.desk.invitations.accept(body.token, body.password, who.visitor)


@dataclass(frozen=True, slots=True)
class OwnAccount:
    """What people do to their own account."""

    desk: IdentityDesk

    async def logout(self, who: Member, _taken: None) -> None:
        """End this session."""
        await self.desk.sessions.logout(who.person)

    async def sessions(self, who: Member, _taken: None) -> Sequence[Session]:
        """List the sign-ins."""
        return await self.desk.sessions.list(who.person)

    async def end_session(self, who: Member, wanted: str) -> None:
        """End one sign-in, named as lists name it, or by its own id."""
        for each in await self.desk.sessions.list(who.person):
            if wanted in {each.id, public_id(each.id)}:
                return await self.desk.sessions.end(who.person, each.id)
        raise ServiceError(NOT_FOUND, "session")

    async def end_others(self, who: Member, _taken: None) -> None:
        """End every sign-in but this one."""
        await self.desk.sessions.end_others(who.person)

    async def change_password(self, who: Member, body: ChangeBody) -> None:
        """Set a password by the current one."""
        current, new = body.current_password, body.new_password
        await self.desk.passwords.change(who.person, current, new, who.visitor)

    async def begin_totp(self, who: Member, body: PasswordBody) -> Enrolment:
        """Begin to enrol an app."""
        return await self.desk.factors.begin(who.person, body.password, who.visitor)

    async def confirm_totp(self, who: Member, body: CodeBody) -> Sequence[str]:
        """Take the app's first code."""
        return await self.desk.factors.confirm(who.person, body.code)

    async def remove_totp(self, who: Member, _taken: None) -> None:
        """Take the app away."""
        await self.desk.factors.remove(who.person)

    async def new_codes(self, who: Member, _taken: None) -> Sequence[str]:
        """Make recovery codes anew."""
        return await self.desk.factors.new_recovery_codes(who.person)

    async def step_up(self, who: Member, body: CodeBody) -> datetime:
        """Take a code now."""
        return await self.desk.factors.step_up(who.person, body.code)


@dataclass(frozen=True, slots=True)
class Entrance:
    """Signing in and refreshing, for callers who keep tokens themselves."""

    signing_in: WayIn
    refreshing: Tokens

    async def login(self, who: Guest, body: LoginBody) -> SignedIn | FactorAsked:
        """Take a password."""
        return await self.signing_in.login(body.email, body.password, who.visitor)

    async def give_factor(self, who: Guest, body: MfaBody) -> SignedIn:
        """Take a code for a challenge."""
        return await self.signing_in.give_factor(body.mfa_token, body.code, who.visitor)

    async def refresh(self, _who: Guest, body: RefreshBody) -> TokenPair:
        """Exchange a refresh token."""
        return await self.refreshing.refresh(body.refresh_token)
