"""
The keys that sign access tokens: Ed25519, sealed in the store, three at most in use.

A process caches the keys for four seconds, or until it hears of a change. An unknown key
id makes it read them again, but at most once a second, so that forged tokens cannot
flood the store.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)

from gateway.core.clocks import Monotonic, Now
from gateway.core.sessions import SigningKey
from gateway.core.storage import StoreUnavailable
from gateway.security.sealing import Sealer
from gateway.security.secrets import Random, base64url

MOST = 3
"""Keys in use: the next, the current and the previous one."""

# At most this long a key is still accepted that another process has retired.
BELIEVED_S = 4.0
# An unknown key id makes us read the store, but strangers cannot make us read it more often.
ASKED_AGAIN_S = 1.0
STALE_S = 600.0
"""Seconds for which keys are cached, between reads for unknown ids, and without the store."""

_ID_BYTES = 8
_PRIVATE_BYTES = 32


def new_signing_key(
    now: datetime, signs_from: datetime, sealer: Sealer, random: Random = os.urandom
) -> SigningKey:
    """Make a key; its private half is returned encrypted."""
    key_id = random(_ID_BYTES).hex()
    private = random(_PRIVATE_BYTES)
    public = Ed25519PrivateKey.from_private_bytes(private).public_key()
    return SigningKey(
        id=key_id,
        public=public.public_bytes_raw(),
        sealed_private=sealer.seal(base64.b64encode(private).decode("ascii"), _row(key_id)),
        created_at=now,
        signs_from=signs_from,
    )


def jwks(keys: Sequence[SigningKey]) -> dict[str, object]:
    """Return keys as a JWK set (RFC 8037)."""
    return {
        "keys": [
            {
                "kty": "OKP",
                "crv": "Ed25519",
                "x": base64url(key.public),
                "kid": key.id,
                "use": "sig",
                "alg": "EdDSA",
            }
            for key in keys
        ]
    }


@dataclass(frozen=True, slots=True)
class ActiveKey:
    """The key that signs at present."""

    id: str
    private: Ed25519PrivateKey = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Read:
    """The keys as read from the store."""

    at: float
    keys: tuple[SigningKey, ...]
    public: dict[str, Ed25519PublicKey]


class Keyring:
    """The keys in use, cached in this process."""

    def __init__(
        self,
        stored: Callable[[], Awaitable[Sequence[SigningKey]]],
        sealer: Sealer,
        now: Now,
        monotonic: Monotonic,
    ) -> None:
        """Start with an empty cache."""
        self._stored = stored
        self._sealer = sealer
        self._now = now
        self._monotonic = monotonic
        self._read: _Read | None = None
        self._forgotten = 0
        self._opened: ActiveKey | None = None

    async def signing(self) -> ActiveKey:
        """
        Return the key that signs at present: the newest that may.

        If none may yet, because the clock of another node is ahead, the oldest signs.

        Raises:
            StoreUnavailable: the keys cannot be read, or there is none yet.
        """
        keys = (await self._known()).keys or (await self._fetch()).keys
        if not keys:
            message = "no signing key"
            raise StoreUnavailable(message)
        now = self._now()
        key = next((each for each in reversed(keys) if each.signs_from <= now), keys[0])
        if self._opened is None or self._opened.id != key.id:
            self._opened = ActiveKey(key.id, self._private(key))
        return self._opened

    async def public(self, key_id: str) -> Ed25519PublicKey | None:
        """Return the public half of a key in use; None for any other id."""
        read = await self._known()
        if key_id not in read.public and self._monotonic() - read.at >= ASKED_AGAIN_S:
            read = await self._known(ASKED_AGAIN_S)
        return read.public.get(key_id)

    async def published(self) -> dict[str, object]:
        """Return the JWK set of the keys in use, including the next one."""
        return jwks((await self._known()).keys)

    def forget(self) -> bool:
        """Drop the cache and any read under way; say whether anything was cached."""
        had, self._read = self._read is not None, None
        self._forgotten += 1
        return had

    async def _known(self, believed_s: float = BELIEVED_S) -> _Read:
        """Return the cached keys, or read them; while the store fails, older ones serve."""
        age = self._monotonic() - self._read.at if self._read else None
        if self._read is not None and age is not None and age < believed_s:
            return self._read
        try:
            return await self._fetch()
        except StoreUnavailable:
            if self._read is None or age is None or age > STALE_S:
                raise
            return self._read

    async def _fetch(self) -> _Read:
        """Read the keys in use; do not cache them if ``forget`` was called meanwhile."""
        asked, forgotten = self._monotonic(), self._forgotten
        listed = await self._stored()
        keys = tuple(each for each in listed if each.retired_at is None)[-MOST:]
        public = {each.id: Ed25519PublicKey.from_public_bytes(each.public) for each in keys}
        read = _Read(asked, keys, public)
        if self._forgotten == forgotten:
            self._read = read
        return read

    def _private(self, key: SigningKey) -> Ed25519PrivateKey:
        """Decrypt the private half."""
        text = self._sealer.open(key.sealed_private, _row(key.id))
        return Ed25519PrivateKey.from_private_bytes(base64.b64decode(text))


def _row(key_id: str) -> str:
    """Return the name of the row that a private half is sealed for."""
    return f"signing_key:{key_id}"
