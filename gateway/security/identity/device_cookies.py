"""
The device cookie: it marks a browser in which a user has signed in before.

Signed, not secret: the user's id, an id of the browser, and the time it was set.
HMAC-SHA-256 under a key of the server, so it cannot be forged, and none is stored.
"""

from __future__ import annotations

import base64
import hmac
import os
import re
import struct
import uuid
from collections.abc import Sequence
from typing import Final

from gateway.domain.identity.panel_sessions import KNOWN_FOR, KnownBrowser
from gateway.domain.kernel.clocks import Now
from gateway.security.secrets import Random

LABEL: Final = "device cookies"
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
    """Return the signature of ``content``."""
    return hmac.digest(key, content, "sha256")
