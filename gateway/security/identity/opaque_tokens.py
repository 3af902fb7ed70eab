"""
Opaque tokens: 256 random bits, of which only digests are stored.

Refresh and factor tokens are stored as HMAC-SHA-256 under a key that no database
holds, so that nobody can forge one by writing into the store. Links in mails are
stored as plain SHA-256, since they live for minutes.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os

from gateway.security.secrets import Random

_BYTES = 32


class OpaqueTokens:
    """Makes tokens and their digests."""

    def __init__(self, key: bytes, random: Random = os.urandom) -> None:
        """Use ``key`` for digests."""
        self._key = key
        self._random = random

    def make(self) -> str:
        """Make a token: 43 characters of base64url."""
        return base64.urlsafe_b64encode(self._random(_BYTES)).decode("ascii").rstrip("=")

    def digest(self, token: str) -> bytes:
        """Return the 32 bytes stored for a refresh or factor token."""
        return hmac.digest(self._key, _content(token), "sha256")

    def mail_digest(self, token: str) -> bytes:
        """Return the 32 bytes stored for a link in a mail."""
        return hashlib.sha256(_content(token)).digest()


def _content(token: str) -> bytes:
    """Encode any text that was sent: a malformed token gets a digest that matches nothing."""
    return token.encode("utf-8", "surrogatepass")
