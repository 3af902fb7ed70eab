"""Signed requests as a partner's program makes them, by another implementation of RFC 9421."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from http_message_signatures import HTTPMessageSigner, HTTPSignatureKeyResolver
from http_message_signatures.algorithms import ED25519

from gateway.core.public_keys import PublicKey, read_public_key
from tests.world.standing import NOON

COVERED = ("@method", "@path", "content-digest")


@dataclass
class _Message:
    """What the signer reads of a request, and writes its headers to."""

    method: str
    url: str
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Signer(HTTPSignatureKeyResolver):
    """A partner's private key, made of a number."""

    number: int = 1

    @property
    def private(self) -> Ed25519PrivateKey:
        return Ed25519PrivateKey.from_private_bytes(bytes([self.number]) * 32)

    @property
    def pem(self) -> str:
        public = self.private.public_key()
        return public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()

    @property
    def public(self) -> PublicKey:
        return read_public_key(self.pem, NOON)

    def resolve_private_key(self, _key_id: str) -> Ed25519PrivateKey:
        return self.private

    def headers(
        self,
        path: str,
        body: bytes,
        created: datetime,
        *,
        method: str = "POST",
        covered: Iterable[str] = COVERED,
        key_id: str = "",
        nonce: str | None = "nonce-of-16-chars",
        lasts: timedelta | None = None,
        sent: Mapping[str, str] | None = None,
    ) -> dict[str, str]:
        """Return the three headers of a request; ``sent`` are others that may be covered."""
        message = _Message(method, f"https://pixgate.example{path}", dict(sent or {}))
        signer = HTTPMessageSigner(signature_algorithm=ED25519, key_resolver=self)
        message.headers["Content-Digest"] = sha_256(body)
        signer.sign(
            message,
            key_id=key_id or self.public.key_id,
            created=created,
            expires=None if lasts is None else created + lasts,
            nonce=nonce,
            label="sig",
            covered_component_ids=tuple(covered),
            use_existing_digest=True,
        )
        return {name: value for name, value in message.headers.items() if name not in (sent or {})}


def sha_256(body: bytes) -> str:
    """Write the digest of a body as RFC 9530 does."""
    return f"sha-256=:{b64encode(sha256(body).digest()).decode()}:"
