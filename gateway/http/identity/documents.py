"""The shapes of identity's own answers (contract 2.9, 4.2)."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from gateway.domain.choices import one_of
from gateway.http.people.documents import Epoch, UserDocument


class TokensDocument(TypedDict):
    """A pair of tokens, shown once."""

    access_token: str
    refresh_token: str
    token_type: Literal["Bearer"]
    expires_at: Epoch
    refresh_expires_at: Epoch


class SignedInDocument(TypedDict):
    """A sign-in."""

    access_token: str
    refresh_token: str
    token_type: Literal["Bearer"]
    expires_at: Epoch
    refresh_expires_at: Epoch
    user: UserDocument
    mfa_required: Literal[False]


class FactorAskedDocument(TypedDict):
    """A second factor is asked for; the challenge is good for five minutes."""

    mfa_required: Literal[True]
    mfa_token: str


@one_of(SignedInDocument, FactorAskedDocument)
class LoginDocument(TypedDict):
    """A sign-in; or ``mfa_required: true`` with ``mfa_token``, and nothing else."""

    mfa_required: bool
    mfa_token: NotRequired[str]
    access_token: NotRequired[str]
    refresh_token: NotRequired[str]
    token_type: NotRequired[Literal["Bearer"]]
    expires_at: NotRequired[Epoch]
    refresh_expires_at: NotRequired[Epoch]
    user: NotRequired[UserDocument]


class KeyDocument(TypedDict):
    """A public key that access tokens are signed with (RFC 8037)."""

    kty: Literal["OKP"]
    crv: Literal["Ed25519"]
    x: str
    kid: str
    use: Literal["sig"]
    alg: Literal["EdDSA"]


class KeySetDocument(TypedDict):
    """The keys in use, the next one included (RFC 7517)."""

    keys: list[KeyDocument]
