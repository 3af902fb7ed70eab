"""Signed requests."""

import base64

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from provider_adapters.kit.signing import EcdsaSigner
from tests.world.tables import cases

KEY = ec.generate_private_key(ec.SECP256K1())
CANARY = "CANARYCANARYCANARY"


def pem(key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey, password: bytes | None = None) -> str:
    locked = serialization.BestAvailableEncryption(password) if password else None
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        locked or serialization.NoEncryption(),
    ).decode()


def test_a_signature_verifies_only_its_own_message():
    signature = base64.b64decode(EcdsaSigner(pem(KEY)).sign(b"project/1:1600000000:{}"))
    public = KEY.public_key()

    public.verify(signature, b"project/1:1600000000:{}", ec.ECDSA(hashes.SHA256()))
    with pytest.raises(InvalidSignature):
        public.verify(signature, b"project/1:1600000001:{}", ec.ECDSA(hashes.SHA256()))


REFUSED = {
    "no key": CANARY,
    "public": KEY.public_key()
    .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    .decode(),
    "encrypted": pem(KEY, b"password"),
    "another curve": pem(ec.generate_private_key(ec.SECP256R1())),
    "RSA": pem(rsa.generate_private_key(65537, 2048)),
}


@cases("text", REFUSED.values())
def test_an_unsupported_private_key_is_refused_and_not_quoted(text: str):
    with pytest.raises(ValueError, match=r"private key|secp256k1") as refused:
        EcdsaSigner(text)

    assert CANARY not in str(refused.value)
