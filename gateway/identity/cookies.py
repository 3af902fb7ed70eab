"""
Cookies: the browser in which a user has signed in before, and the panel's opaque session.

The device cookie is signed, not secret: the user's id, an id of the browser, and the time it
was set. HMAC-SHA-256 under a key of the server, so it cannot be forged, and none is stored.

Before a sign-in the panel's cookie is signed as well: a random number and the time. The CSRF
token is another HMAC of the same, so neither is stored.

From the sign-in on, the panel's cookie is opaque. The row is found by the SHA-256 of the first
half. Its content is encrypted with AES-256-GCM under a key derived from the second half and
a key of the server.
Neither a dump of the store nor a cookie alone opens it.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import re
import struct
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from gateway.core.browsers import (
    KNOWN_FOR,
    AnonymousCookie,
    Cookie,
    KnownBrowser,
)
from gateway.core.clocks import Now
from gateway.security.secrets import Random, base64url

DEVICE_LABEL: Final = "device cookies"
"""The label that the server's keys are derived under."""
_CONTENT: Final = struct.Struct(">16s16sQ")
_ID_BYTES: Final = 16
_MAC_BYTES: Final = 32
_FORM: Final = re.compile(r"v1\.([A-Za-z0-9_-]{96})", re.ASCII)


class DeviceCookies:
    """Makes device cookies and reads them."""

    def __init__(self, keys: Sequence[bytes], now: Now, random: Random = os.urandom) -> None:
        """Use the server's keys, the current one first."""
        self._keys = tuple(keys)
        self._now = now
        self._random = random

    def make(self, user_id: str, known: KnownBrowser | None) -> str:
        """Make a cookie for a user who signs in; a browser known for them keeps its id."""
        same = known is not None and known.user_id == user_id
        browser = bytes.fromhex(known.id) if known is not None and same else None
        content = _CONTENT.pack(
            uuid.UUID(user_id).bytes,
            browser or self._random(_ID_BYTES),
            int(self._now().timestamp()),
        )
        sealed = content + _mac(self._keys[0], content)
        return f"v1.{base64.urlsafe_b64encode(sealed).decode('ascii')}"

    def read(self, value: str) -> KnownBrowser | None:
        """Read a cookie as a browser sends it; None for one that is forged or too old."""
        found = _FORM.fullmatch(value)
        if found is None:
            return None
        sealed = base64.urlsafe_b64decode(found.group(1))
        content, mac = sealed[:-_MAC_BYTES], sealed[-_MAC_BYTES:]
        if not any(hmac.compare_digest(_mac(key, content), mac) for key in self._keys):
            return None
        user, browser, given_s = _CONTENT.unpack(content)
        age_s = self._now().timestamp() - given_s
        if age_s >= KNOWN_FOR.total_seconds():
            return None
        return KnownBrowser(user_id=str(uuid.UUID(bytes=user)), id=browser.hex())


def _mac(key: bytes, content: bytes) -> bytes:
    return hmac.digest(key, content, "sha256")


PANEL_LABEL: Final = "panel cookies"
"""The label that the server's keys are derived under."""
_HALF_BYTES: Final = 16
_CSRF_BYTES: Final = 32
_NONCE_BYTES: Final = 12
_KEY_BYTES: Final = 32
_ANONYMOUS: Final = struct.Struct(">16sQ")
_ANONYMOUS_FORM: Final = re.compile(r"v1\.([A-Za-z0-9_-]{75})", re.ASCII)
_PANEL_FORM: Final = re.compile(r"([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{22})", re.ASCII)


class PanelCookies:
    """Makes and reads cookies, and encrypts the content of the opaque ones' rows."""

    def __init__(self, keys: Sequence[bytes], random: Random = os.urandom) -> None:
        """Use the server's keys, the current one first."""
        self._keys = tuple(keys)
        self._random = random

    def make(self) -> Cookie:
        """Make a new cookie."""
        return _cookie(self._random(_HALF_BYTES), self._random(_HALF_BYTES))

    def read(self, value: str) -> Cookie | None:
        """Read a cookie as a browser sends it; None for anything malformed."""
        found = _PANEL_FORM.fullmatch(value)
        if found is None:
            return None
        name, secret = (base64.urlsafe_b64decode(half + "==") for half in found.groups())
        cookie = _cookie(name, secret)
        return cookie if cookie.value == value else None

    def make_anonymous(self, now: datetime) -> AnonymousCookie:
        """Make the cookie of a browser before the sign-in."""
        content = _ANONYMOUS.pack(self._random(_HALF_BYTES), int(now.timestamp()))
        return _anonymous(content, self._keys[0])

    def read_anonymous(self, value: str) -> AnonymousCookie | None:
        """Read the cookie of a browser before the sign-in, however old; None for any other."""
        found = _ANONYMOUS_FORM.fullmatch(value)
        if found is None:
            return None
        content = base64.urlsafe_b64decode(found.group(1) + "=")[:-_MAC_BYTES]
        for key in self._keys:
            if hmac.compare_digest(_signed(content, key), value):
                return _anonymous(content, key)
        return None

    def new_csrf(self) -> str:
        """Make a CSRF token of 256 bits."""
        return base64url(self._random(_CSRF_BYTES))

    def seal(self, text: str, cookie: Cookie) -> bytes:
        """Encrypt for the row of a cookie."""
        nonce = self._random(_NONCE_BYTES)
        cipher = _cipher(self._keys[0], cookie)
        return nonce + cipher.encrypt(nonce, text.encode(), cookie.id_hash.encode())

    def open(self, sealed: bytes, cookie: Cookie) -> str | None:
        """Decrypt; None for a changed value, or one sealed for another cookie or server."""
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


def _signed(content: bytes, key: bytes) -> str:
    return f"v1.{base64url(content + _mac(key, b'anonymous cookie' + content))}"


def _anonymous(content: bytes, key: bytes) -> AnonymousCookie:
    """Sign the content of a cookie, and derive its token."""
    name = hashlib.sha256(content).hexdigest()
    return AnonymousCookie(
        cookie=Cookie(id_hash=name, secret=b"", value=_signed(content, key)),
        csrf=base64url(_mac(key, b"anonymous csrf" + content)),
        created_at=datetime.fromtimestamp(_ANONYMOUS.unpack(content)[1], UTC),
    )


def _cookie(name: bytes, secret: bytes) -> Cookie:
    value = f"{base64url(name)}.{base64url(secret)}"
    return Cookie(id_hash=hashlib.sha256(name).hexdigest(), secret=secret, value=value)


def _cipher(key: bytes, cookie: Cookie) -> AESGCM:
    """Derive the key of a row from the cookie's secret and the server's key (RFC 5869)."""
    derived = HKDF(
        algorithm=SHA256(), length=_KEY_BYTES, salt=key, info=f"pixgate v1 {PANEL_LABEL}".encode()
    )
    return AESGCM(derived.derive(cookie.secret))
