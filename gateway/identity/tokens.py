"""
Tokens: opaque ones, of which only digests are stored, and access tokens (RFC 9068, RFC 8725).

Refresh and factor tokens are stored as HMAC-SHA-256 under a key that no database
holds, so that write access to the store is not enough to forge one. Links in mails are
stored as plain SHA-256, since they live for minutes.

The header holds ``alg``, ``typ`` and ``kid`` and nothing else, each compared
exactly before the signature is checked: no other algorithm, no key that comes
with the token, no extension.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import os
import re
from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import jwt

from gateway.core.clocks import Now
from gateway.core.errors import ServiceError
from gateway.core.sessions import AccessClaims
from gateway.core.user_errors import TOKEN_INVALID
from gateway.identity.signing_keys import Keyring
from gateway.security.secrets import Random, base64url

_BYTES = 32


class OpaqueTokens:
    """Makes tokens and their digests."""

    def __init__(self, key: bytes, random: Random = os.urandom) -> None:
        self._key = key
        self._random = random

    def make(self) -> str:
        """Make a token: 43 characters of base64url."""
        return base64url(self._random(_BYTES))

    def digest(self, token: str) -> bytes:
        """Return the 32 bytes stored for a refresh or factor token."""
        return hmac.digest(self._key, _content(token), "sha256")

    def mail_digest(self, token: str) -> bytes:
        """Return the 32 bytes stored for a link in a mail."""
        return hashlib.sha256(_content(token)).digest()


def _content(token: str) -> bytes:
    """Encode any text that was sent: a malformed token gets a digest that matches nothing."""
    return token.encode("utf-8", "surrogatepass")


ALGORITHM: Final = "EdDSA"
TYPE: Final = "at+jwt"
# between the clocks of our nodes
LEEWAY_S: Final = 30
# our tokens have some 500 characters; anything longer is not parsed at all
LONGEST: Final = 4096
# more sessions than a back office has at a time; bounds the memory
MOST_CACHED: Final = 10_000
_CLAIMS: Final = ("iss", "aud", "sub", "sid", "jti", "iat", "nbf", "exp")
_KEY_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,32}", re.ASCII)
_FORM: Final = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{86}", re.ASCII)
_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
# the library reads the system clock, but ours is injected, so times are compared below
_OPTIONS: Final[Any] = {
    "require": list(_CLAIMS),
    "strict_aud": True,
    "enforce_minimum_key_length": True,
    "verify_exp": False,
    "verify_nbf": False,
    "verify_iat": False,
}


class _Refused(Exception):
    """The token is not valid; the text is a fixed word for the log."""


@dataclass(frozen=True, slots=True)
class Audience:
    """Issuer and audience of tokens."""

    issuer: str
    audience: str


@dataclass(frozen=True, slots=True)
class _Verified:
    """Claims that were verified, and the key that signed them."""

    claims: AccessClaims
    key_id: str


class AccessTokens:
    """Issues and verifies tokens; verified claims are cached until they expire."""

    def __init__(
        self, keyring: Keyring, audience: Audience, now: Now, most: int = MOST_CACHED
    ) -> None:
        """Use these keys; cache at most ``most`` tokens."""
        self._keyring = keyring
        self._audience = audience
        self._now = now
        self._most = most
        self._cache: OrderedDict[bytes, _Verified] = OrderedDict()

    async def issue(self, claims: AccessClaims) -> str:
        """
        Sign a token issued now.

        Raises:
            StoreUnavailable: the keys cannot be read.
        """
        key = await self._keyring.signing()
        now = int(self._now().timestamp())
        content = {
            "iss": self._audience.issuer,
            "aud": self._audience.audience,
            "sub": claims.user_id,
            "sid": claims.session_id,
            "jti": claims.token_id,
            "iat": now,
            "nbf": now,
            "exp": int(claims.ends_at.timestamp()),
        }
        head = {"typ": TYPE, "kid": key.id}
        return jwt.encode(content, key.private, algorithm=ALGORITHM, headers=head)

    async def verify(self, token: str) -> AccessClaims:
        """
        Verify a token.

        Raises:
            ServiceError: TOKEN_INVALID, for any fault; the reason is for the log.
            StoreUnavailable: the keys cannot be read.
        """
        try:
            return await self._verify(token)
        except _Refused as problem:
            raise ServiceError(TOKEN_INVALID, str(problem)) from problem

    def forget(self, session_id: str) -> None:
        """Drop the cached claims of a session."""
        ended = [
            digest for digest, each in self._cache.items() if each.claims.session_id == session_id
        ]
        for digest in ended:
            del self._cache[digest]

    async def _verify(self, token: str) -> AccessClaims:
        """Look into the cache, then check the token."""
        if len(token) > LONGEST or _FORM.fullmatch(token) is None:
            problem = "form"
            raise _Refused(problem)
        digest = hashlib.sha256(token.encode("ascii")).digest()
        known = self._cache.get(digest)
        if known is not None and await self._holds(known):
            self._cache.move_to_end(digest)
            return known.claims
        self._cache.pop(digest, None)
        proven = await self._proven(token)
        if self._now() < proven.claims.ends_at:
            self._cache[digest] = proven
            if len(self._cache) > self._most:
                self._cache.popitem(last=False)
        return proven.claims

    async def _holds(self, known: _Verified) -> bool:
        """Return whether cached claims still hold: not expired, and their key not retired."""
        in_time = self._now() < known.claims.ends_at
        return in_time and await self._keyring.public(known.key_id) is not None

    async def _proven(self, token: str) -> _Verified:
        """Check the signature of a token, then its claims."""
        key_id = _key_id(token)
        key = await self._keyring.public(key_id)
        if key is None:
            problem = "kid"
            raise _Refused(problem)
        try:
            content = jwt.decode(
                token,
                key,
                algorithms=[ALGORITHM],
                issuer=self._audience.issuer,
                audience=self._audience.audience,
                options=_OPTIONS,
            )
        except (jwt.PyJWTError, ValueError, RecursionError) as problem:
            word = type(problem).__name__
            raise _Refused(word) from problem
        return _Verified(self._claims(content), key_id)

    def _claims(self, content: dict[str, object]) -> AccessClaims:
        """Check the form of each claim, and compare the times with our clock."""
        texts = [content[name] for name in ("sub", "sid", "jti")]
        times = [content[name] for name in ("iat", "nbf", "exp")]
        issued, begins, ends = (_instant(each) for each in times)
        user, session, token = (_identifier(each) for each in texts)
        now, leeway = self._now(), timedelta(seconds=LEEWAY_S)
        if max(issued, begins) > now + leeway:
            problem = "not_yet"
            raise _Refused(problem)
        if ends + leeway <= now:
            problem = "expired"
            raise _Refused(problem)
        return AccessClaims(user_id=user, session_id=session, token_id=token, ends_at=ends)


def _key_id(token: str) -> str:
    """Check the header, which has exactly one form; return the key id."""
    try:
        first, *_ = [_canonical(part) for part in token.split(".")]
        pairs = json.loads(first, object_pairs_hook=list)
        head = dict(pairs)
    except (ValueError, TypeError, RecursionError) as malformed:
        problem = "head"
        raise _Refused(problem) from malformed
    if len(pairs) != len(head) or head.keys() != {"alg", "typ", "kid"}:
        problem = "head"
        raise _Refused(problem)
    if head["alg"] != ALGORITHM or head["typ"] != TYPE:
        problem = "alg_or_typ"
        raise _Refused(problem)
    key_id = head["kid"]
    if not isinstance(key_id, str) or _KEY_ID.fullmatch(key_id) is None:
        problem = "kid"
        raise _Refused(problem)
    return key_id


def _canonical(part: str) -> bytes:
    """Decode base64url; refuse a second spelling of the same bytes."""
    try:
        content = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    except binascii.Error as malformed:
        problem = "form"
        raise _Refused(problem) from malformed
    if base64url(content) != part:
        problem = "form"
        raise _Refused(problem)
    return content


def _instant(value: object) -> datetime:
    """Read seconds since the epoch, a whole number."""
    if type(value) is not int or not 0 <= value < 1 << 40:
        problem = "time"
        raise _Refused(problem)
    return datetime.fromtimestamp(0, UTC) + timedelta(seconds=value)


def _identifier(value: object) -> str:
    if not isinstance(value, str) or _ID.fullmatch(value) is None:
        problem = "id"
        raise _Refused(problem)
    return value
