"""
Digests of client secrets: HMAC-SHA-256 under a pepper that no database holds.

A secret has 256 random bits, so a fast digest is enough. Thanks to the pepper, neither
a stolen database nor a forged row lets anybody in.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from datetime import datetime

from gateway.domain.accounts.credentials import SecretDigest
from gateway.domain.kernel.clocks import Now

SLOTS = 2
"""Valid secrets of a credential: the current one and the previous one."""


class SecretDigester:
    """
    Makes and checks digests.

    A check digests the text under every pepper and compares twice, whatever is stored,
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
        """Say whether ``secret`` matches a valid digest; ``digests`` may be empty."""
        return self.matching(secret, digests, lambda: now) is not None

    def matching(
        self, secret: str, digests: Sequence[SecretDigest], now: Now
    ) -> SecretDigest | None:
        """
        Return the valid digest of ``secret``; only the first two are compared.

        The clock is read only for digests that expire, which few do.
        """
        content = secret.encode()
        made = {key_id: self._made(key_id, content) for key_id in self._keyed}
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
        """Say whether a stored secret has not expired and its pepper is known."""
        return stored.key_id in self._keyed and (
            stored.expires_at is None or now() < stored.expires_at
        )
