"""
Client ids and client secrets: how they are made, their form, and their digests.

A secret ends in a public checksum, so that a mistyped or truncated secret is recognized
without a look-up; the checksum protects nothing. A digest is HMAC-SHA-256 under a pepper that
no database holds: a secret has 256 random bits, so a fast digest is enough, and thanks to the
pepper neither a stolen database nor a forged row lets anybody in.
"""

from __future__ import annotations

import base64
import hmac
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from gateway.core.clocks import Now

Random = Callable[[int], bytes]
"""Returns this many random bytes."""


ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
"""Digits of the checksum in base 62, ordered by value."""
_ID_PREFIX = "cli_"
# 20 characters of base32 are 100 bits; 13 bytes are the fewest that give them
_ID_LENGTH = 20
_ID_BYTES = 13
_SECRET_PREFIX = "gws_"  # noqa: S105 - the public prefix of every secret
# 256 bits: no one guesses it, so a fast digest is enough
_SECRET_BYTES = 32
# 62**6 exceeds 2**32, so six digits hold any CRC-32
_CHECKSUM_LENGTH = 6
_SECRET = re.compile(r"gws_[A-Za-z0-9_-]{43}[0-9A-Za-z]{6}", re.ASCII)


def base64url(content: bytes) -> str:
    """Write bytes in base64url without padding."""
    return base64.urlsafe_b64encode(content).decode("ascii").rstrip("=")


def new_client_id(random: Random) -> str:
    """Make ``cli_`` and 20 lower-case base32 characters (RFC 4648), 100 random bits."""
    text = base64.b32encode(random(_ID_BYTES)).decode("ascii").lower()
    return _ID_PREFIX + text[:_ID_LENGTH]


def new_client_secret(random: Random) -> str:
    """Make ``gws_``, 32 random bytes in base64url without padding, and the checksum."""
    body = _SECRET_PREFIX + base64url(random(_SECRET_BYTES))
    return body + _checksum(body)


def new_signing_secret(random: Random) -> str:
    """Make ``whsec_`` and 32 random bytes in base64, as Standard Webhooks has it."""
    return "whsec_" + base64.b64encode(random(_SECRET_BYTES)).decode("ascii")


def has_valid_checksum(secret: str) -> bool:
    """
    Return whether a text has the format of a secret and the right checksum.

    Takes about the same time for every text of that format, and needs no store.
    """
    if _SECRET.fullmatch(secret) is None:
        return False
    return _checksum(secret[:-_CHECKSUM_LENGTH]) == secret[-_CHECKSUM_LENGTH:]


def _checksum(body: str) -> str:
    """Return the CRC-32 of ``body`` as six digits of base 62, with leading zeros."""
    rest, digits = zlib.crc32(body.encode("ascii")), ""
    for _ in range(_CHECKSUM_LENGTH):
        rest, digit = divmod(rest, len(ALPHABET))
        digits = ALPHABET[digit] + digits
    return digits


SLOTS = 2
"""Valid secrets of a credential: the current one and the previous one."""


class SecretDigester:
    """
    Makes and checks digests.

    A check digests the text under every pepper and compares twice, for any stored digest,
    so that its duration reveals neither whether a client id exists nor how old its
    secret is.
    """

    def __init__(self, peppers: Mapping[str, bytes], current: str) -> None:
        """Use the peppers by key id; new digests are made under ``current``."""
        # setting up a key costs more than the digest itself: done once, then copied
        self._keyed = {key_id: hmac.new(key, digestmod="sha256") for key_id, key in peppers.items()}
        self._current = current
        self._dummy = self._made(current, b"no secret has this digest")

    def digest(self, secret: str) -> tuple[str, bytes]:
        """Return the key id and the 32 bytes to store."""
        return self._current, self._made(self._current, secret.encode())

    def matches(self, secret: str, digests: Sequence[SecretDigest], now: datetime) -> bool:
        """Return whether ``secret`` matches a valid digest; ``digests`` may be empty."""
        return self.matching(self.digests(secret), digests, lambda: now) is not None

    def digests(self, secret: str) -> Mapping[str, bytes]:
        """Digest ``secret`` under every pepper; by key id."""
        content = secret.encode()
        return {key_id: self._made(key_id, content) for key_id in self._keyed}

    def matching(
        self, made: Mapping[str, bytes], digests: Sequence[SecretDigest], now: Now
    ) -> SecretDigest | None:
        """
        Return the valid digest that is among those ``made`` of a secret.

        Only the first two stored digests are compared.

        The clock is read only for digests that expire, which few do.
        """
        live = [stored for stored in digests[:SLOTS] if self._is_live(stored, now)]
        found: SecretDigest | None = None
        for stored in live:
            if hmac.compare_digest(made[stored.key_id], stored.digest):
                found = stored
        for _ in range(SLOTS - len(live)):
            # the dummy is the digest of a known text, so its result must be ignored
            hmac.compare_digest(made[self._current], self._dummy)
        return found

    def _made(self, key_id: str, content: bytes) -> bytes:
        """Digest ``content`` under one pepper."""
        keyed = self._keyed[key_id].copy()
        keyed.update(content)
        return keyed.digest()

    def _is_live(self, stored: SecretDigest, now: Now) -> bool:
        """Return whether a stored secret has not expired and its pepper is known."""
        return stored.key_id in self._keyed and (
            stored.expires_at is None or now() < stored.expires_at
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretDigest:
    """
    The stored part of a client secret.

    Attributes:
        key_id: Which pepper the digest was made under.
        digest: HMAC-SHA-256, 32 bytes.
        expires_at: When a rotated secret ends; None for the current one.
        last_used_at: To the minute.
    """

    key_id: str
    digest: bytes
    created_at: datetime
    expires_at: datetime | None = None
    last_used_at: datetime | None = None
