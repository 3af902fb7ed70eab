"""
The panel's opaque cookie: 128 bits that name a row, and 128 bits that open it.

The row is found by the SHA-256 of the first half. Its content is encrypted with
AES-256-GCM under a key derived from the second half and a key of the server.
Neither a dump of the store nor a cookie alone opens it.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Sequence
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from gateway.domain.identity.panel_sessions import Cookie
from gateway.security.secrets import Random

LABEL: Final = "panel cookies"
"""The label that the server's keys are derived under."""

_HALF_BYTES: Final = 16
_CSRF_BYTES: Final = 32
_NONCE_BYTES: Final = 12
_KEY_BYTES: Final = 32
_FORM: Final = re.compile(r"([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{22})", re.ASCII)


class PanelCookies:
    """Makes and reads cookies, and encrypts the content of their rows."""

    def __init__(self, keys: Sequence[bytes], random: Random = os.urandom) -> None:
        """Use the server's keys, the current one first."""
        self._keys = tuple(keys)
        self._random = random

    def make(self) -> Cookie:
        """Make a new cookie."""
        return _cookie(self._random(_HALF_BYTES), self._random(_HALF_BYTES))

    def read(self, value: str) -> Cookie | None:
        """Read a cookie as a browser sends it; None for anything malformed."""
        found = _FORM.fullmatch(value)
        if found is None:
            return None
        name, secret = (base64.urlsafe_b64decode(half + "==") for half in found.groups())
        cookie = _cookie(name, secret)
        return cookie if cookie.value == value else None

    def new_csrf(self) -> str:
        """Make a CSRF token of 256 bits."""
        return _text(self._random(_CSRF_BYTES))

    def seal(self, text: str, cookie: Cookie) -> bytes:
        """Encrypt for the row of a cookie."""
        nonce = self._random(_NONCE_BYTES)
        cipher = _cipher(self._keys[0], cookie)
        return nonce + cipher.encrypt(nonce, text.encode(), cookie.id_hash.encode())

    def open(self, sealed: bytes, cookie: Cookie) -> str | None:
        """Decrypt; None for what was changed, or sealed for another cookie or server."""
        nonce, rest = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:]
        if len(nonce) < _NONCE_BYTES:
            return None
        for key in self._keys:
            try:
                content = _cipher(key, cookie).decrypt(nonce, rest, cookie.id_hash.encode())
            except InvalidTag:
                continue
            return content.decode()
        return None


def _cookie(name: bytes, secret: bytes) -> Cookie:
    value = f"{_text(name)}.{_text(secret)}"
    return Cookie(id_hash=hashlib.sha256(name).hexdigest(), secret=secret, value=value)


def _cipher(key: bytes, cookie: Cookie) -> AESGCM:
    """Derive the key of a row from the cookie's secret and the server's key (RFC 5869)."""
    derived = HKDF(
        algorithm=SHA256(), length=_KEY_BYTES, salt=key, info=f"pixgate v1 {LABEL}".encode()
    )
    return AESGCM(derived.derive(cookie.secret))


def _text(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode("ascii").rstrip("=")
