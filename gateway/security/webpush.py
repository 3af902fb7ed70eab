"""
Web push: a message encrypted for one browser (RFC 8291), and the proof of its sender (RFC 8292).

The browser's push service forwards the message and reads nothing of it.
"""

from __future__ import annotations

import base64
import struct
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from yarl import URL

from gateway.security.secrets import Random

_CURVE: Final = ec.SECP256R1()
_RECORD: Final = 4096
"""The one record: more is not promised to be forwarded."""
LONGEST: Final = 3_000
"""Bytes of a message, which stays one record with its header and tag."""
_POINT_BYTES: Final = 65
_AUTH_BYTES: Final = 16
_SALT_BYTES: Final = 16
_LAST_RECORD: Final = b"\x02"
_PROVEN_FOR: Final = timedelta(hours=12)
"""A push service accepts a day at most."""


@dataclass(frozen=True, slots=True)
class BrowserKeys:
    """
    The keys of a subscription.

    Attributes:
        public: An uncompressed point of P-256, 65 bytes.
        auth: 16 bytes.
    """

    public: bytes
    auth: bytes = field(repr=False)


def read_keys(public: str, auth: str) -> BrowserKeys:
    """Read keys in base64url, as browsers give them; ValueError for anything else."""
    keys = BrowserKeys(_decoded(public), _decoded(auth))
    if len(keys.auth) != _AUTH_BYTES or len(keys.public) != _POINT_BYTES:
        problem = "the keys of a subscription have 65 and 16 bytes"
        raise ValueError(problem)
    ec.EllipticCurvePublicKey.from_encoded_point(_CURVE, keys.public)
    return keys


def encrypt(
    content: bytes, to: BrowserKeys, private: ec.EllipticCurvePrivateKey, random: Random
) -> bytes:
    """
    Encrypt a message of at most ``LONGEST`` bytes for a browser.

    Args:
        content: The message.
        to: The browser's keys.
        private: Of this message alone.
        random: The source of the salt.
    """
    receiver = ec.EllipticCurvePublicKey.from_encoded_point(_CURVE, to.public)
    sender, salt = _point(private.public_key()), random(_SALT_BYTES)
    shared = private.exchange(ec.ECDH(), receiver)
    key = _derived(shared, to.auth, b"WebPush: info\x00" + to.public + sender, 32)
    content_key = _derived(key, salt, b"Content-Encoding: aes128gcm\x00", 16)
    nonce = _derived(key, salt, b"Content-Encoding: nonce\x00", 12)
    sealed = AESGCM(content_key).encrypt(nonce, content + _LAST_RECORD, None)
    return salt + struct.pack("!IB", _RECORD, len(sender)) + sender + sealed


def new_private_key() -> ec.EllipticCurvePrivateKey:
    """Make the key of one message."""
    return ec.generate_private_key(_CURVE)


class PushSigner:
    """Proves to push services who sends; browsers subscribe to its public key."""

    def __init__(self, key: bytes, contact: str) -> None:
        """
        Take the private key, 32 bytes, and an address of ours that services may look at.

        Raises:
            ValueError: the bytes are no key of P-256: one in four billion.
        """
        self._private = ec.derive_private_key(int.from_bytes(key), _CURVE)
        self._contact = contact
        self.public: Final = _encoded(_point(self._private.public_key()))

    def authorization(self, endpoint: str, now: datetime) -> str:
        """Return the ``Authorization`` of a message to a push service."""
        claims = {
            "aud": str(URL(endpoint).origin()),
            "exp": int((now + _PROVEN_FOR).timestamp()),
            "sub": self._contact,
        }
        token = jwt.encode(claims, self._private, algorithm="ES256")
        return f"vapid t={token}, k={self.public}"


def _derived(key: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(algorithm=SHA256(), length=length, salt=salt, info=info).derive(key)


def _point(key: ec.EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def _decoded(text: str) -> bytes:
    bare = text.rstrip("=")
    if not bare.isascii():
        problem = "not base64url"
        raise ValueError(problem)
    return base64.b64decode(bare + "=" * (-len(bare) % 4), altchars=b"-_", validate=True)
