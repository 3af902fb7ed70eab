"""Public keys of credentials: Ed25519, for signatures of payouts."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode, urlsafe_b64encode
from datetime import datetime
from hashlib import sha256
from typing import Annotated, Final

from msgspec import Struct

from gateway.core.fields import meaning
from gateway.core.schemas import Moment, Text

MOST_KEYS: Final = 5
"""Enough to change the key of several servers, one after the other."""

KeyId = Annotated[
    str,
    meaning(
        "Id of a public key, the `keyid` of its signatures: its JWK thumbprint (RFC 7638).",
        "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U",
    ),
]

_SPKI: Final = bytes.fromhex("302a300506032b6570032100")
"""What stands before the 32 bytes of an Ed25519 key in DER (RFC 8410)."""
_KEY_BYTES: Final = 32
_PEM: Final = re.compile(
    r"-----BEGIN PUBLIC KEY-----\s([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----", re.ASCII
)
_SIGN_BIT: Final = 0x7F
_SMALL_ORDER: Final = frozenset(
    map(
        bytes.fromhex,
        (
            "00" * 32,
            "01" + "00" * 31,
            "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
            "ec" + "ff" * 30 + "7f",
            "ed" + "ff" * 30 + "7f",
            "ee" + "ff" * 30 + "7f",
        ),
    )
)
"""Points of small order without their sign: a signature by such a key fits many messages."""


class PublicKey(Struct, frozen=True, kw_only=True):
    """
    A public key of a credential.

    Attributes:
        public_key: The 32 bytes of the key, in Base64.
    """

    key_id: KeyId
    public_key: Annotated[
        Text,
        meaning("The key in Base64, 32 bytes.", "JrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs="),
    ]
    added_at: Annotated[Moment, meaning("When it was registered.")]

    @property
    def raw(self) -> bytes:
        """The 32 bytes of the key."""
        return b64decode(self.public_key)


def read_public_key(text: str, added_at: datetime) -> PublicKey:
    """
    Read an Ed25519 public key in PEM, or the one line between the two of PEM.

    Raises:
        ValueError: it is none, or a point of small order.
    """
    found = _PEM.fullmatch(text.strip())
    der = b64decode("".join((found[1] if found else text).split()), validate=True)
    raw = der.removeprefix(_SPKI)
    if len(raw) != _KEY_BYTES or len(der) != len(_SPKI) + _KEY_BYTES or _is_of_small_order(raw):
        problem = "no Ed25519 public key"
        raise ValueError(problem)
    return PublicKey(key_id=thumbprint(raw), public_key=b64encode(raw).decode(), added_at=added_at)


def thumbprint(raw: bytes) -> str:
    """Return the JWK thumbprint of a key (RFC 7638, RFC 8037)."""
    jwk = f'{{"crv":"Ed25519","kty":"OKP","x":"{_base64url(raw)}"}}'
    return _base64url(sha256(jwk.encode()).digest())


def _is_of_small_order(raw: bytes) -> bool:
    return raw[:-1] + bytes([raw[-1] & _SIGN_BIT]) in _SMALL_ORDER


def _base64url(raw: bytes) -> str:
    return urlsafe_b64encode(raw).decode().rstrip("=")
