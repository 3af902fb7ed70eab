"""Banks that sign: the published vectors, and keys of a test's own."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

VECTORS = json.loads(Path("tests/vectors/webhook-signatures.json").read_text(encoding="utf-8"))
STARK, WOOVI, OPENPIX = (VECTORS[name] for name in ("stark_bank", "woovi_rsa", "openpix_hmac"))


@dataclass(frozen=True)
class Signer:
    key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey

    @property
    def pem(self) -> str:
        public = self.key.public_key()
        return public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()

    def sign(self, message: bytes) -> str:
        if isinstance(self.key, rsa.RSAPrivateKey):
            made = self.key.sign(message, padding.PKCS1v15(), SHA256())
        else:
            made = self.key.sign(message, ec.ECDSA(SHA256()))
        return base64.b64encode(made).decode()


def ecdsa() -> Signer:
    return Signer(ec.generate_private_key(ec.SECP256K1()))


def rsa_of(bits: int = 1024) -> Signer:
    return Signer(rsa.generate_private_key(65537, bits))


def private_pem(curve: ec.EllipticCurve) -> str:
    """A new private key of a curve, as banks hand them out."""
    made = ec.generate_private_key(curve)
    form = (Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    return made.private_bytes(*form).decode()
