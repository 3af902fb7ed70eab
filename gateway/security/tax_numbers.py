"""Keyed digests of tax numbers, for searches by the number."""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from typing import Final

LABEL: Final = "payee tax numbers"
"""What the keys are derived for."""
_BYTES: Final = 16
"""Half of the digest: two numbers of all there are do not meet in 128 bits."""


class TaxNumberDigests:
    """Computes digests; without the key a brute-force search is impossible."""

    def __init__(self, keys: Mapping[str, bytes]) -> None:
        """Use the keys by key id, the current one first."""
        self._keyed = [hmac.new(key, digestmod="sha256") for key in keys.values()]

    def digest(self, number: str) -> bytes:
        """Return the digest under the current key."""
        return self.every(number)[0]

    def every(self, number: str) -> Sequence[bytes]:
        """Return the digest under each key, the current first: stored rows may have older ones."""
        return [_made(keyed, number) for keyed in self._keyed]


def _made(keyed: hmac.HMAC, number: str) -> bytes:
    found = keyed.copy()
    found.update(number.encode())
    return found.digest()[:_BYTES]
