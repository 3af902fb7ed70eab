"""The documents of sign-in and of one's own account (contract 2.9, 4.2)."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

from msgspec import Meta

from gateway.domain.requests.schemas import one_of
from gateway.http.common import Total

Epoch = Annotated[int, Meta(description="Seconds since 1970-01-01T00:00:00Z.", ge=0)]
Instant = Annotated[
    str,
    Meta(
        description="RFC 3339 in UTC",
        pattern=r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$",
        examples=["2026-09-22T13:40:11Z"],
    ),
]
PublicId = Annotated[
    str,
    Meta(
        description="Identifies a session in lists; it is no credential.",
        pattern=r"^[0-9a-f]{12}$",
        examples=["0f1e2d3c4b5a"],
    ),
]


class UserDocument(TypedDict):
    """The signed-in user."""

    id: str
    name: str
    email: str
    roles: list[str]


class OwnSessionDocument(TypedDict):
    """One of the caller's sessions; ``current`` marks the one of this request."""

    id: PublicId
    current: bool
    panel: bool
    created_at: Instant
    seen_at: Instant
    expires_at: Epoch
    address: str
    user_agent: str


class OwnSessionsDocument(TypedDict):
    """The caller's sessions, oldest first."""

    data: list[OwnSessionDocument]
    meta: Total


class EnrolmentDocument(TypedDict):
    """An authenticator app that is being enrolled; shown once."""

    secret: str
    otpauth_uri: str
    qr_svg: str


class RecoveryCodesDocument(TypedDict):
    """Ten recovery codes; each works once, and all are shown once."""

    recovery_codes: list[str]


class FreshDocument(TypedDict):
    """Until when the second factor counts as recent."""

    expires_at: Epoch


class AcceptedDocument(TypedDict):
    """The answer never tells whether the user exists."""

    status: Literal["accepted"]


class TokensDocument(TypedDict):
    """A pair of tokens; shown once."""

    access_token: str
    refresh_token: str
    token_type: Literal["Bearer"]
    expires_at: Epoch
    refresh_expires_at: Epoch


class SignedInDocument(TypedDict):
    """The tokens of a sign-in, and its user."""

    access_token: str
    refresh_token: str
    token_type: Literal["Bearer"]
    expires_at: Epoch
    refresh_expires_at: Epoch
    user: UserDocument
    mfa_required: Literal[False]


class FactorAskedDocument(TypedDict):
    """A second factor is required; the challenge is valid for five minutes."""

    mfa_required: Literal[True]
    mfa_token: str


@one_of(SignedInDocument, FactorAskedDocument)
class LoginDocument(TypedDict):
    """The tokens of a sign-in; or only ``mfa_required: true`` with ``mfa_token``."""

    mfa_required: bool
    mfa_token: NotRequired[str]
    access_token: NotRequired[str]
    refresh_token: NotRequired[str]
    token_type: NotRequired[Literal["Bearer"]]
    expires_at: NotRequired[Epoch]
    refresh_expires_at: NotRequired[Epoch]
    user: NotRequired[UserDocument]


class KeyDocument(TypedDict):
    """The public half of a key that signs access tokens (RFC 8037)."""

    kty: Literal["OKP"]
    crv: Literal["Ed25519"]
    x: str
    kid: str
    use: Literal["sig"]
    alg: Literal["EdDSA"]


class KeySetDocument(TypedDict):
    """The keys in use, including the next one (RFC 7517)."""

    keys: list[KeyDocument]
