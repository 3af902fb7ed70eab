"""What the rows of identity run: bodies are handed to the operations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from gateway.domain.identity.errors import NOT_FOUND
from gateway.domain.identity.sessions import Session
from gateway.domain.kernel.errors import ServiceError
from gateway.http.identity.callers import AnonymousCaller, SignedInCaller
from gateway.http.identity.represent import public_id
from gateway.operations.identity.second_factors import Enrolment
from gateway.operations.identity.services import IdentityServices
from gateway.operations.identity.sign_in import SecondFactorRequired
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
class RecoveryActions:
    """Recovering access without signing in."""

    services: IdentityServices

    async def forgot(self, who: AnonymousCaller, body: ForgotBody) -> None:
        """Queue a reset link, if the address belongs to a user."""
        await self.services.passwords.forgot(body.email, who.client)

    async def reset(self, who: AnonymousCaller, body: LinkBody) -> str:
        """Set a password by a reset link; return the user's id."""
        return await self.services.passwords.reset(body.token, body.password, who.client)

    async def accept(self, who: AnonymousCaller, body: LinkBody) -> str:
        """Set the first password by an invitation link; return the user's id."""
        return await self.services.invitations.accept(body.token, body.password, who.client)


@dataclass(frozen=True, slots=True)
class AccountActions:
    """What users do to their own account."""

    services: IdentityServices

    async def logout(self, who: SignedInCaller, _taken: None) -> None:
        """End this session."""
        await self.services.sessions.logout(who.person)

    async def sessions(self, who: SignedInCaller, _taken: None) -> Sequence[Session]:
        """List the caller's sessions."""
        return await self.services.sessions.list(who.person)

    async def end_session(self, who: SignedInCaller, wanted: str) -> None:
        """End a session, given its public id or its own id."""
        for each in await self.services.sessions.list(who.person):
            if wanted in {each.id, public_id(each.id)}:
                return await self.services.sessions.end(who.person, each.id)
        raise ServiceError(NOT_FOUND, "session")

    async def end_others(self, who: SignedInCaller, _taken: None) -> None:
        """End every session but this one."""
        await self.services.sessions.end_others(who.person)

    async def change_password(self, who: SignedInCaller, body: ChangeBody) -> None:
        """Change the password, given the current one."""
        current, new = body.current_password, body.new_password
        await self.services.passwords.change(who.person, current, new, who.client)

    async def start_totp(self, who: SignedInCaller, body: PasswordBody) -> Enrolment:
        """Start to enrol an app."""
        return await self.services.second_factors.begin(who.person, body.password, who.client)

    async def confirm_totp(self, who: SignedInCaller, body: CodeBody) -> Sequence[str]:
        """Confirm the app by its first code."""
        return await self.services.second_factors.confirm(who.person, body.code)

    async def remove_totp(self, who: SignedInCaller, _taken: None) -> None:
        """Remove the app."""
        await self.services.second_factors.remove(who.person)

    async def new_codes(self, who: SignedInCaller, _taken: None) -> Sequence[str]:
        """Replace the recovery codes."""
        return await self.services.second_factors.new_recovery_codes(who.person)

    async def step_up(self, who: SignedInCaller, body: CodeBody) -> datetime:
        """Step up by a code."""
        return await self.services.second_factors.step_up(who.person, body.code)


@dataclass(frozen=True, slots=True)
class SignInActions:
    """Signing in and refreshing, for clients that hold the tokens themselves."""

    services: IdentityServices

    async def login(self, who: AnonymousCaller, body: LoginBody) -> SignedIn | SecondFactorRequired:
        """Sign in by password."""
        return await self.services.sign_in.login(body.email, body.password, who.client)

    async def submit_code(self, who: AnonymousCaller, body: MfaBody) -> SignedIn:
        """Finish a sign-in by a code."""
        return await self.services.sign_in.submit_code(body.mfa_token, body.code, who.client)

    async def refresh(self, _who: AnonymousCaller, body: RefreshBody) -> TokenPair:
        """Exchange a refresh token."""
        return await self.services.tokens.refresh(body.refresh_token)
