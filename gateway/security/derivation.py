"""
Keys derived from the sealing keys: HKDF-SHA-256, each purpose under a label of its own.

The use of one key reveals nothing about another, and operators have one key to
guard instead of many.
"""

from __future__ import annotations

from collections.abc import Mapping

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

# what AES-256 and HMAC-SHA-256 take
_BYTES = 32
_PREFIX = "pixgate v1 "


class Derivation:
    """Derives keys of 32 bytes."""

    def __init__(self, keys: Mapping[str, bytes], current: str) -> None:
        """Use the sealing keys by key id; ``current`` is the id of the current one."""
        self._keys = {current: keys[current], **keys}

    def __repr__(self) -> str:
        """Show no key."""
        return "Derivation(***)"

    def keys(self, label: str) -> dict[str, bytes]:
        """Return the keys of a purpose by key id, the current one first."""
        return {key_id: _derived(key, label) for key_id, key in self._keys.items()}

    def key(self, label: str) -> bytes:
        """Return the current key of a purpose."""
        return _derived(next(iter(self._keys.values())), label)


def _derived(key: bytes, label: str) -> bytes:
    """Derive a key; a source of 32 random bytes needs no salt (RFC 5869, part 3.1)."""
    info = (_PREFIX + label).encode()
    return HKDF(algorithm=SHA256(), length=_BYTES, salt=None, info=info).derive(key)
