"""The shape of the panel's session: what a page knows of itself. It never holds a token of ours."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

from msgspec import Meta

from gateway.http.identity.documents import Epoch, PublicId


class SeatedUserDocument(TypedDict):
    """Who is signed in."""

    id: str
    name: str
    email: str


class OwnCompanyDocument(TypedDict):
    """The only company that somebody sees."""

    id: str
    name: str


class FactorDocument(TypedDict):
    """The second factor; ``verified_at`` is when a code was last given in this session."""

    enrolled: bool
    verified_at: Epoch | None
    recovery_codes_left: int
    required: bool


class SessionDocument(TypedDict):
    """A browser's session; who it is stands there once they are signed in."""

    authenticated: bool
    mfa_required: bool
    csrf_token: Annotated[str, Meta(description="Goes into X-CSRF-Token of every write.")]
    environment: Literal["sandbox", "production"]
    user: NotRequired[SeatedUserDocument]
    roles: NotRequired[list[str]]
    permissions: NotRequired[list[str]]
    company: NotRequired[OwnCompanyDocument | None]
    mfa: NotRequired[FactorDocument]
    expires_at: NotRequired[Epoch]
    idle_expires_at: NotRequired[Epoch]
    session_id: NotRequired[PublicId]
