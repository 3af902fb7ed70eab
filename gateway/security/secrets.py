"""
Client ids and client secrets: how they are made, and their format.

A secret ends in a public checksum, so that a mistyped or truncated secret is recognized
without a look-up. The checksum protects nothing.
"""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Callable

Random = Callable[[int], bytes]
"""Returns this many random bytes."""

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
"""Digits of the checksum in base 62, ordered by value."""

_PAIRS = [first + second for first in ALPHABET for second in ALPHABET]
"""Every pair of digits, by value: two digits are written at a time."""

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


def new_client_id(random: Random) -> str:
    """Make ``cli_`` and 20 lower-case base32 characters (RFC 4648), 100 random bits."""
    text = base64.b32encode(random(_ID_BYTES)).decode("ascii").lower()
    return _ID_PREFIX + text[:_ID_LENGTH]


def new_client_secret(random: Random) -> str:
    """Make ``gws_``, 32 random bytes in base64url without padding, and the checksum."""
    text = base64.urlsafe_b64encode(random(_SECRET_BYTES)).decode("ascii").rstrip("=")
    body = _SECRET_PREFIX + text
    return body + _checksum(body)


def has_valid_checksum(secret: str) -> bool:
    """
    Say whether a text has the format of a secret and the right checksum.

    Takes about the same time for every text of that format, and needs no store.
    """
    if _SECRET.fullmatch(secret) is None:
        return False
    return _checksum(secret[:-_CHECKSUM_LENGTH]) == secret[-_CHECKSUM_LENGTH:]


def _checksum(body: str) -> str:
    """Return the CRC-32 of ``body`` as six digits of base 62, with leading zeros."""
    rest, low = divmod(zlib.crc32(body.encode("ascii")), len(_PAIRS))
    high, middle = divmod(rest, len(_PAIRS))
    return _PAIRS[high] + _PAIRS[middle] + _PAIRS[low]
