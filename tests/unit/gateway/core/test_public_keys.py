"""Public keys: the forms that are read, their ids, and keys that prove nothing."""

from __future__ import annotations

from base64 import b64decode, b64encode

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from gateway.core.public_keys import _SMALL_ORDER, read_public_key, thumbprint
from tests.world.standing import NOON

LINE = "MCowBQYDK2VwAyEAJrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs="
PEM = f"-----BEGIN PUBLIC KEY-----\n{LINE}\n-----END PUBLIC KEY-----\n"
PRIME = 2**255 - 19


@pytest.mark.parametrize("text", [PEM, PEM.replace("\n", "\r\n"), f"\n {LINE} \n", LINE])
def test_a_public_key_is_read_in_each_form(text: str):
    read = read_public_key(text, NOON)

    assert read.raw == b64decode("JrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=")
    assert (read.key_id, read.added_at) == ("poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U", NOON)


def test_the_key_id_is_the_standard_s_thumbprint():
    """RFC 8037, appendix A.3."""
    key = b64decode("11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=")

    assert thumbprint(key) == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"


def der(raw: bytes) -> str:
    return b64encode(b64decode(LINE)[:12] + raw).decode()


PRIVATE = Ed25519PrivateKey.from_private_bytes(b"p" * 32).private_bytes(
    Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "key",
        "é",
        LINE[:-4],
        LINE + "AAAA",
        PRIVATE.decode(),
        PEM + PEM,
        b64encode(b64decode(LINE)[12:]).decode(),
        b64encode(b"\x30\x2a\x30\x05\x06\x03\x2b\x65\x6e\x03\x21\x00" + b"x" * 32).decode(),
        *(der(each) for each in sorted(_SMALL_ORDER)),
        *(der(each[:-1] + bytes([each[-1] | 0x80])) for each in sorted(_SMALL_ORDER)),
    ],
)
def test_an_invalid_public_key_is_refused(text: str):
    """Private keys, X25519 keys and points of low order among them."""
    with pytest.raises(ValueError, match=r"."):
        read_public_key(text, NOON)


def test_every_low_order_point_is_listed():
    """Eight times such a point is the neutral element: after three doublings x is 0 and y is 1."""
    for encoded in _SMALL_ORDER:
        y = int.from_bytes(encoded, "little") % PRIME
        x = root((y * y - 1) * pow(CURVE * y * y + 1, -1, PRIME))
        for _ in range(3):
            x, y = doubled(x, y)
        assert (x, y) == (0, 1)
    assert len(_SMALL_ORDER) == 7


CURVE = -121665 * pow(121666, -1, PRIME) % PRIME


def doubled(x: int, y: int) -> tuple[int, int]:
    """Add a point of the curve to itself (RFC 8032, 5.1.4, in affine form)."""
    product = CURVE * x * x * y * y % PRIME
    return (
        2 * x * y * pow(1 + product, -1, PRIME) % PRIME,
        (y * y + x * x) * pow(1 - product, -1, PRIME) % PRIME,
    )


def root(square: int) -> int:
    """Return a square root modulo the prime (RFC 8032, 5.1.3)."""
    found = pow(square, (PRIME + 3) // 8, PRIME)
    if (found * found - square) % PRIME:
        found = found * pow(2, (PRIME - 1) // 4, PRIME) % PRIME
    assert (found * found - square) % PRIME == 0
    return found
