"""What identity answers, as documents."""

from __future__ import annotations

from typing import cast

from gateway.http.identity.documents import (
    KeySetDocument,
    LoginDocument,
    SignedInDocument,
    TokensDocument,
)
from gateway.http.people.callers import Guest
from gateway.http.people.represent import epoch, user
from gateway.http.route import Answer
from gateway.operations.identity.sign_in import FactorAsked
from gateway.operations.identity.tokens import SignedIn, TokenPair

_KEYS_CACHED = {"Cache-Control": "public, max-age=300"}


def login(outcome: SignedIn | FactorAsked, who: Guest) -> LoginDocument:
    """Show a sign-in, or that a code is asked for, without a word on whose (contract 2.9)."""
    if isinstance(outcome, FactorAsked):
        return {"mfa_required": True, "mfa_token": outcome.mfa_token}
    return cast("LoginDocument", signed_in(outcome, who))


def signed_in(outcome: SignedIn, who: Guest) -> SignedInDocument:
    """Show a sign-in."""
    shown = tokens(outcome.tokens, who)
    return {**shown, "user": user(outcome.person), "mfa_required": False}


def tokens(pair: TokenPair, _who: Guest) -> TokensDocument:
    """Show a pair of tokens."""
    return {
        "access_token": pair.access_token,
        "refresh_token": pair.refresh_token,
        "token_type": "Bearer",
        "expires_at": epoch(pair.expires_at),
        "refresh_expires_at": epoch(pair.refresh_expires_at),
    }


def keys(published: dict[str, object], _who: None) -> Answer[KeySetDocument]:
    """Show the keys; everybody may keep them for five minutes."""
    return Answer(content=cast("KeySetDocument", published), headers=_KEYS_CACHED)
