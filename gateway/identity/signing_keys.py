"""
The keys that sign access tokens: Ed25519, sealed in the store, three at most in use.

A process caches the keys for four seconds, or until a change is reported. An unknown key
id makes it read them again, but at most once a second, so that forged tokens cannot
flood the store.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from gateway.core.audit_context import AuditContext, RuleViolation
from gateway.core.clocks import Monotonic, Now
from gateway.core.sessions import SigningKey
from gateway.core.storage import StoreUnavailable
from gateway.identity.store import StoredSigningKeys
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
        """Drop the cache and any read under way; return whether anything was cached."""
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
        text = self._sealer.open(key.sealed_private, _row(key.id))
        return Ed25519PrivateKey.from_private_bytes(base64.b64decode(text))


def _row(key_id: str) -> str:
    """Return the name of the row that a private half is sealed for."""
    return f"signing_key:{key_id}"


LEAD_TIME = timedelta(hours=24)
"""How long a key is published before it signs, so that every cache of keys has it."""

# clocks of verifiers may be behind ours by this much
_OVERLAP = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class SigningKeyRecords:
    """
    The register of signing keys.

    Attributes:
        access: How long a token lives.
    """

    stored: StoredSigningKeys
    sealer: Sealer
    access: timedelta
    now: Now

    async def list(self) -> Sequence[SigningKey]:
        """Return all keys, retired ones included, ordered by the start of signing."""
        return await self.stored.list()

    async def ensure(self) -> None:
        """
        Make the first key if none signs yet; called when a process starts.

        Processes that start together each make one; all but the first are retired
        again, before anybody can have signed in.
        """
        now = self.now()
        if any(_signs(each, now) for each in await self.list()):
            return
        await self._add("system", now)
        made = [each for each in await self.list() if each.retired_at is None]
        # the process that looks last sees all of them, and leaves one
        for surplus in sorted(made, key=lambda each: (each.created_at, each.id))[1:]:
            await self._retire("system", surplus)

    async def rotate(self, by: str, *, at_once: bool = False) -> SigningKey:
        """
        Publish the next key, which signs from a day later on, or at once in an emergency.

        Keys whose last token has expired are retired first.

        Raises:
            RuleViolation: three keys are published already.
        """
        await self._tidy(by)
        if len([each for each in await self.list() if each.retired_at is None]) >= MOST:
            message = f"{MOST} keys are published; retire one first"
            raise RuleViolation(message)
        now = self.now()
        return await self._add(by, now if at_once else now + LEAD_TIME)

    async def retire(self, by: str, key_id: str, *, at_once: bool = False) -> None:
        """
        Stop publishing a key: every token it signed is refused from now on.

        Raises:
            RuleViolation: there is no such key; it is the only one that signs;
                or, unless ``at_once``, tokens signed by it may still be valid.
        """
        keys = [each for each in await self.list() if each.retired_at is None]
        key = next((each for each in keys if each.id == key_id), None)
        if key is None:
            message = f"there is no published key {key_id}"
            raise RuleViolation(message)
        now = self.now()
        signing = [each for each in keys if _signs(each, now)]
        if _signs(key, now) and len(signing) == 1:
            message = "it is the only key that signs; rotate first"
            raise RuleViolation(message)
        if _signs(key, now) and not at_once and not self._is_over(key, signing):
            message = "tokens that it signed may live still"
            raise RuleViolation(message)
        await self._retire(by, key)

    async def _tidy(self, by: str) -> None:
        """Retire every key whose last token has expired."""
        now = self.now()
        signing = [each for each in await self.list() if _signs(each, now)]
        for key in signing:
            if self._is_over(key, signing):
                await self._retire(by, key)

    def _is_over(self, key: SigningKey, signing: Sequence[SigningKey]) -> bool:
        """Return whether a newer key has signed for so long that no token of this one is valid."""
        last = self.now() - self.access - _OVERLAP
        return any(key.signs_from < each.signs_from <= last for each in signing)

    async def _add(self, by: str, signs_from: datetime) -> SigningKey:
        key = new_signing_key(self.now(), signs_from, self.sealer)
        event = AuditContext(by, self.now).event(
            "signing_key.added",
            f"signing_key:{key.id}",
            {"signs_from": signs_from.isoformat()},
        )
        await self.stored.add(key, event)
        return key

    async def _retire(self, by: str, key: SigningKey) -> None:
        event = AuditContext(by, self.now).event("signing_key.retired", f"signing_key:{key.id}", {})
        await self.stored.retire(key.id, self.now(), event)


def _signs(key: SigningKey, now: datetime) -> bool:
    """Return whether a key may already have signed."""
    return key.retired_at is None and key.signs_from <= now
