"""The document of the panel's session; it never holds a token."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

from msgspec import Meta

from gateway.http.identity.documents import Epoch, PublicId


class SeatedUserDocument(TypedDict):
    """The signed-in user."""

    id: str
    name: str
    email: str


class OwnCompanyDocument(TypedDict):
    """The company of a user who sees only one."""

    id: str
    name: str


class FactorDocument(TypedDict):
    """The second factor; ``verified_at`` is when a code was last given in this session."""

    enrolled: bool
    verified_at: Epoch | None
    recovery_codes_left: int
    required: bool


class SessionDocument(TypedDict):
    """A browser's session; the user's fields are present once they have signed in."""

    authenticated: bool
    mfa_required: bool
    csrf_token: Annotated[str, Meta(description="Send it as X-CSRF-Token with every write.")]
    environment: Literal["sandbox", "production"]
    user: NotRequired[SeatedUserDocument]
    roles: NotRequired[list[str]]
    permissions: NotRequired[list[str]]
    company: NotRequired[OwnCompanyDocument | None]
    mfa: NotRequired[FactorDocument]
    expires_at: NotRequired[Epoch]
    idle_expires_at: NotRequired[Epoch]
    session_id: NotRequired[PublicId]
