"""Sign-ins: sessions, refresh tokens, the keys of access tokens, and the ports to them."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import dataclass, field, fields
from datetime import datetime

from gateway.core.networks import pool
from gateway.core.permissions import Action
from gateway.core.rights import Area, Right, Role, rights_of
from gateway.core.user import Profile, User


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningKey:
    """
    A key that signs access tokens.

    Attributes:
        id: The ``kid``.
        public: 32 bytes of Ed25519.
        sealed_private: 32 bytes in base64, encrypted with the id bound to them.
        signs_from: Published before, used from then on.
        retired_at: Published no longer; None while it is.
    """

    id: str
    public: bytes
    sealed_private: bytes = field(repr=False)
    created_at: datetime
    signs_from: datetime
    retired_at: datetime | None = None


# 48 bits: a user has five sessions at most, so no two collide
_PUBLIC_LENGTH = 12
_PROFILE = tuple(each.name for each in fields(Profile))
_ADDING = Right(Area.COMPANY, Action.MANAGE)


@dataclass(frozen=True, slots=True)
class IssuerSession:
    """
    A session at the identity provider of a company, by which a sign-in here began.

    Attributes:
        company_id: The company whose provider it is.
        sid: The provider's own id of it, by which it tells of its end; empty where it has none.
    """

    company_id: str
    sid: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """
    A sign-in; all its tokens name it and end with it.

    Attributes:
        id: A lower-case UUID, the ``sid`` of tokens.
        ends_at: At the latest, eight hours after the sign-in; rotation does not
            move it.
        factor_at: When a second factor was last given; None never.
        ended_at, ended_by: Set once; ``ended_by`` is a fixed word.
        panel: It belongs to a browser; its tokens never leave us.
        networks: Where it has proven who uses it, the newest last: by the sign-in, and by a code
            at each other network. Elsewhere it is not accepted.
        issuer_company, issuer_sid: See ``IssuerSession``; empty for a local sign-in.
    """

    id: str
    user_id: str
    created_at: datetime
    ends_at: datetime
    seen_at: datetime
    factor_at: datetime | None = None
    address: str = ""
    user_agent: str = ""
    panel: bool = False
    networks: tuple[str, ...] = ()
    issuer_company: str = ""
    issuer_sid: str = ""
    ended_at: datetime | None = None
    ended_by: str = ""

    def is_live(self, now: datetime) -> bool:
        """Return whether the session is still valid."""
        return self.ended_at is None and now < self.ends_at

    @property
    def public_id(self) -> str:
        """The id in lists, which is no credential."""
        return public_id(self.id)


def public_id(session_id: str) -> str:
    """Return the id of a session in lists: 12 hexadecimal digits of SHA-256."""
    return hashlib.sha256(session_id.encode()).hexdigest()[:_PUBLIC_LENGTH]


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedInUser(Profile):
    """
    The signed-in user of a call.

    Attributes:
        has_app, has_passkey: Which second factors the user has.
        networks: Where the session may be used without a second factor.
        by_issuer: The session began at the identity provider of the user's company.
    """

    user_id: str
    session_id: str
    factor_at: datetime | None
    has_factor: bool
    has_app: bool = False
    has_passkey: bool = False
    networks: tuple[str, ...] = ()
    by_issuer: bool = False

    @property
    def actor(self) -> str:
        """The user's name in the audit log."""
        return f"user:{self.email}"

    @property
    def rights(self) -> frozenset[Right]:
        """
        The user's rights; a user limited to companies may do it there only.

        Only users without a limit may add a company.
        """
        held = rights_of(self.roles)
        return frozenset(map(_on_their_own, held)) if self.companies else held

    def may(self, needed: Right) -> bool:
        """Return whether one of the user's rights covers ``needed``."""
        return any(right.covers(needed) for right in self.rights)

    def is_known_at(self, address: str) -> bool:
        """Return whether the session has proven at an address's network who uses it."""
        return pool(address) in self.networks

    def lacks_factor(self, roles: Collection[Role]) -> bool:
        """Return whether one of the user's roles needs a second factor that is missing."""
        return not self.has_factor and any(role in roles for role in self.roles)


def _on_their_own(right: Right) -> Right:
    """Return the part of a right that a user limited to companies keeps."""
    return Right(Area.COMPANY, Action.WRITE) if right == _ADDING else right


def person(user: User, session: Session) -> SignedInUser:
    """Return the user of a session."""
    return SignedInUser(
        user_id=user.id,
        session_id=session.id,
        factor_at=session.factor_at,
        has_factor=user.has_factor,
        has_app=user.has_app,
        has_passkey=user.has_passkey,
        networks=session.networks,
        by_issuer=bool(session.issuer_company),
        **{name: getattr(user, name) for name in _PROFILE},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshToken:
    """
    One refresh token of a session; only its digest is kept.

    Attributes:
        digest: HMAC-SHA-256, 32 bytes.
        number: From 1; each rotation makes the next.
        used_at: When it was exchanged; it works once.
    """

    digest: bytes
    session_id: str
    number: int
    created_at: datetime
    ends_at: datetime
    used_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessClaims:
    """Claims of a verified access token: ``sub``, ``sid``, ``jti`` and ``exp``."""

    user_id: str
    session_id: str
    token_id: str
    ends_at: datetime
