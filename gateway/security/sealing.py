"""
Encryption at rest: AES-256-GCM with the key's id, bound to its row.

A sealed text can be opened only for its own row: the row's id is associated data, so a
text moved to another row fails like one that was changed. The format is a version byte
(1), the length of the key id, the key id, a nonce of 12 bytes, then the ciphertext with
its tag of 16 bytes.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from gateway.security.secrets import Random

_VERSION = 1
# the length that AES-GCM is specified for (NIST SP 800-38D)
_NONCE_BYTES = 12
# the version byte, and the length of the key id
_PREFIX_BYTES = 2


class SealBroken(Exception):
    """The text was changed, moved, or sealed under an unknown key."""


class Sealer:
    """Encrypts and decrypts texts; the same text encrypted twice differs."""

    def __init__(
        self, keys: Mapping[str, bytes], current: str, random: Random = os.urandom
    ) -> None:
        """Use keys of 32 bytes by key id; new texts are sealed under ``current``."""
        self._ciphers = {key_id: AESGCM(key) for key_id, key in keys.items()}
        self._cipher = self._ciphers[current]
        name = current.encode("ascii")
        self._head = bytes((_VERSION, len(name))) + name
        self._random = random

    def seal(self, text: str, bound_to: str) -> bytes:
        """Encrypt ``text`` for the row ``bound_to``."""
        return self.seal_bytes(text.encode(), bound_to)

    def seal_bytes(self, content: bytes, bound_to: str) -> bytes:
        """Encrypt bytes for the row ``bound_to``."""
        nonce = self._random(_NONCE_BYTES)
        sealed = self._cipher.encrypt(nonce, content, self._head + bound_to.encode())
        return self._head + nonce + sealed

    def open(self, sealed: bytes, bound_to: str) -> str:
        """Decrypt a text that was sealed for the row ``bound_to``; raises as ``open_bytes``."""
        return self.open_bytes(sealed, bound_to).decode()

    def open_bytes(self, sealed: bytes, bound_to: str) -> bytes:
        """
        Decrypt bytes sealed for the row ``bound_to``.

        Raises:
            SealBroken: it was not sealed for that row under a known key.
        """
        head, nonce, rest = _parts(sealed)
        cipher = self._ciphers.get(head[_PREFIX_BYTES:].decode("ascii", "replace"))
        if cipher is None:
            problem = "sealed under a key that is not here"
            raise SealBroken(problem)
        try:
            return cipher.decrypt(nonce, rest, head + bound_to.encode())
        except InvalidTag as broken:
            problem = "changed, or sealed for another row"
            raise SealBroken(problem) from broken


def _parts(sealed: bytes) -> tuple[bytes, bytes, bytes]:
    """Split into head, nonce and ciphertext."""
    if len(sealed) < _PREFIX_BYTES or sealed[0] != _VERSION:
        problem = "not a sealed text"
        raise SealBroken(problem)
    end = _PREFIX_BYTES + sealed[1]
    if len(sealed) < end + _NONCE_BYTES:
        problem = "cut short"
        raise SealBroken(problem)
    return sealed[:end], sealed[end : end + _NONCE_BYTES], sealed[end + _NONCE_BYTES :]
