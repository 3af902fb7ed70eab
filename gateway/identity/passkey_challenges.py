"""
Challenges of passkeys: signed, bound to a session and to five minutes, and used once.

Nothing is stored before a challenge was answered rightly: strangers who ask for challenges fill
no table.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from gateway.security.secrets import Random

_NONCE: Final = 16
_EXPIRY: Final = 8
_MAC: Final = 32
_MILLISECOND: Final = timedelta(milliseconds=1)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class PasskeyChallenges:
    """Makes challenges, and tells its own from others."""

    key: bytes = field(repr=False)
    random: Random = os.urandom

    def make(self, purpose: str, bound_to: str, ends_at: datetime) -> bytes:
        """
        Make a challenge.

        Args:
            purpose: What an answer may be used for.
            bound_to: The session that an answer is taken from.
            ends_at: No answer is taken from then on.
        """
        until = (ends_at - _EPOCH) // _MILLISECOND
        content = self.random(_NONCE) + until.to_bytes(_EXPIRY, "big")
        return content + self._mac(content, purpose, bound_to)

    def end_of(self, challenge: bytes, purpose: str, bound_to: str) -> datetime | None:
        """Return until when a challenge holds; None if it was not made for this here."""
        content, mac = challenge[:-_MAC], challenge[-_MAC:]
        if len(content) != _NONCE + _EXPIRY:
            return None
        if not hmac.compare_digest(mac, self._mac(content, purpose, bound_to)):
            return None
        return _EPOCH + int.from_bytes(content[_NONCE:], "big") * _MILLISECOND

    def _mac(self, content: bytes, purpose: str, bound_to: str) -> bytes:
        return hmac.digest(self.key, content + f"{purpose}\0{bound_to}".encode(), "sha256")


def digest_of(challenge: bytes) -> bytes:
    """Return the 32 bytes that are stored for a challenge that was used."""
    return hashlib.sha256(challenge).digest()
