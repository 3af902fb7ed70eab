"""How the simulated bank proves its callbacks: a signature (ECDSA) of the body."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from datetime import datetime

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from gateway.banks.port.provider_callbacks import CallbackSecrets

_KEY = ec.generate_private_key(ec.SECP256K1())
_PUBLIC = _KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)

SETTINGS: Mapping[str, object] = {"public_keys": [_PUBLIC.decode()]}
"""What the adapter's settings need, to check them."""
SHARES_SECRET = False


def shared(_given: CallbackSecrets) -> CallbackSecrets:
    """Return what both know: nothing."""
    return CallbackSecrets()


def headers(_secret: bytes, _at: datetime, body: bytes) -> dict[str, str]:
    """Return the headers of a callback."""
    signed = _KEY.sign(body, ec.ECDSA(SHA256()))
    return {"X-Bank-Signature": base64.b64encode(signed).decode()}
