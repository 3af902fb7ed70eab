"""Signing in and refreshing, counted: one word for each outcome."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from gateway.domain.errors import ServiceError
from gateway.domain.identity_errors import MFA_EXPIRED, MFA_INVALID, PASSWORD_WRONG, REFRESH_INVALID
from gateway.operations.identity.answers import FactorAsked, SignedIn, TokenPair, Visitor
from gateway.operations.identity.panel_parts import Tokens, WayIn

Seen = Callable[[str, str], None]
"""Count: a fixed word, and one of its labels."""

_LOGINS: Final = {PASSWORD_WRONG.name: "bad_credentials"}
_CODES: Final = {MFA_INVALID.name: "wrong", MFA_EXPIRED.name: "expired"}
_REFRESHED: Final = {"used": "reuse_race"}


@dataclass(frozen=True, slots=True)
class CountedSigningIn:
    """``SigningIn``, counted."""

    inner: WayIn
    seen: Seen

    async def login(self, email: str, password: str, visitor: Visitor) -> SignedIn | FactorAsked:
        """Take a password; raises as ``SigningIn.login``."""
        try:
            outcome = await self.inner.login(email, password, visitor)
        except ServiceError as refusal:
            self.seen("login", _LOGINS.get(refusal.error.name, "locked"))
            raise
        self.seen("login", "mfa_required" if isinstance(outcome, FactorAsked) else "ok")
        return outcome

    async def give_factor(self, mfa_token: str, code: str, visitor: Visitor) -> SignedIn:
        """Take a code; raises as ``SigningIn.give_factor``."""
        factor = "totp" if code.strip().isdigit() else "recovery"
        try:
            outcome = await self.inner.give_factor(mfa_token, code, visitor)
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
