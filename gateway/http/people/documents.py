"""The shapes of what people are told of themselves (contract 2.9)."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from msgspec import Meta

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
        description="Names a session in lists; it opens nothing.",
        pattern=r"^[0-9a-f]{12}$",
        examples=["0f1e2d3c4b5a"],
    ),
]


class UserDocument(TypedDict):
    """Who signed in."""

    id: str
    name: str
    email: str
    roles: list[str]


class OwnSessionDocument(TypedDict):
    """A sign-in of one's own; ``current`` is the one that asks."""

    id: PublicId
    current: bool
    panel: bool
    created_at: Instant
    seen_at: Instant
    expires_at: Epoch
    address: str
    user_agent: str


class OwnSessionsDocument(TypedDict):
    """Every sign-in of one's own, oldest first."""

    data: list[OwnSessionDocument]
    meta: Total


class EnrolmentDocument(TypedDict):
    """An authenticator app to be; shown once."""

    secret: str
    otpauth_uri: str
    qr_svg: str


class RecoveryCodesDocument(TypedDict):
    """Ten ways back in, each for one time; shown once."""

    recovery_codes: list[str]


class FreshDocument(TypedDict):
    """Until when the second factor counts as just given."""

    expires_at: Epoch


class AcceptedDocument(TypedDict):
    """The same answer whoever was asked for."""

    status: Literal["accepted"]
