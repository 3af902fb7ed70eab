"""People to store."""

from __future__ import annotations

from datetime import timedelta

from gateway.app.store import Store
from gateway.core.browsers import PanelSession, PanelState
from gateway.core.rights import Role
from gateway.core.sessions import RefreshToken, Session
from gateway.core.user import User
from gateway.identity.model import Challenge, MailToken, Purpose
from tests.world.stores.samples import NOW, event

MARIA = "0d8a0f7e-3f0a-4c6e-9a37-6a51d2b0a001"
END = NOW + timedelta(hours=8)


def user(user_id: str = MARIA, email: str = "maria@example.com") -> User:
    return User(
        id=user_id,
        email=email,
        name="Maria \u2028 Ção",
        password="$argon2id$",
        roles=frozenset({Role.OPERATOR, Role.VIEWER}),
        companies=frozenset({"a", "b"}),
        created_at=NOW,
        updated_at=NOW,
    )


def session(session_id: str = "s1", user_id: str = MARIA) -> Session:
    return Session(
        id=session_id,
        user_id=user_id,
        created_at=NOW,
        ends_at=END,
        seen_at=NOW,
        address="127.0.0.1",
        user_agent="curl",
    )


def token(number: int = 1, session_id: str = "s1") -> RefreshToken:
    return RefreshToken(
        digest=f"{session_id} {number}".encode(),
        session_id=session_id,
        number=number,
        created_at=NOW,
        ends_at=END,
    )


def challenge(digest: bytes = b"c") -> Challenge:
    """Return a second factor that is asked for."""
    return Challenge(
        digest=digest, user_id=MARIA, created_at=NOW, ends_at=NOW + timedelta(minutes=5)
    )


def mail_token(digest: bytes = b"m", purpose: Purpose = Purpose.RESET) -> MailToken:
    return MailToken(
        digest=digest,
        purpose=purpose,
        user_id=MARIA,
        created_at=NOW,
        ends_at=NOW + timedelta(minutes=15),
    )


def panel(id_hash: str = "h1") -> PanelSession:
    return PanelSession(
        id_hash=id_hash,
        state=PanelState.FULL,
        csrf="csrf",
        created_at=NOW,
        seen_at=NOW,
        ends_at=END,
        session_id="s1",
        user_id=MARIA,
        sealed=b"\x00sealed",
        access_ends_at=NOW,
    )


async def signed_in(store: Store) -> None:
    await store.identity.users.add(user(), event())
    await store.identity.sessions.begin(session(), token(), event())
