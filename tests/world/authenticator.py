"""An authenticator in software: it makes passkeys and uses them, rightly or not, as it is told."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

import msgspec
from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDSA,
    SECP256R1,
    EllipticCurvePrivateKey,
    generate_private_key,
)
from cryptography.hazmat.primitives.hashes import SHA256
from fido2.cose import ES256
from fido2.webauthn import (
    Aaguid,
    AttestationObject,
    AttestedCredentialData,
    AuthenticatorData,
    CollectedClientData,
)

from gateway.identity.webauthn import Assertion, Registration
from gateway.security.secrets import base64url

FLAG = AuthenticatorData.FLAG


@dataclass(slots=True, kw_only=True)
class Authenticator:
    """
    One passkey and its authenticator.

    Attributes:
        origin: Of the page that asks, as the browser tells it.
        count: Its counter at the last use; it rises by one with each.
        is_verifying: Whether it has seen a finger, a face or a PIN.
        counts: Whether it has a counter; many have none.
        rp_id: The host that it signs for; empty for the one that asks.
    """

    origin: str = "https://pix.example"
    key: EllipticCurvePrivateKey = field(default_factory=lambda: generate_private_key(SECP256R1()))
    credential_id: bytes = field(default_factory=lambda: os.urandom(32))
    count: int = 0
    counts: bool = True
    is_verifying: bool = True
    rp_id: str = ""
    user_handle: str | None = None

    def elsewhere(self, **changed: Any) -> Authenticator:
        """Return a copy that differs."""
        return replace(self, **changed)

    def create(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Answer ``navigator.credentials.create``, as ``toJSON`` writes it."""
        self.user_handle = options["user"]["id"]
        credential = AttestedCredentialData.create(
            Aaguid.NONE, self.credential_id, ES256.from_cryptography_key(self.key.public_key())
        )
        data = self._data(options["rp"]["id"], FLAG.AT, credential)
        client = self._client_data("webauthn.create", options["challenge"])
        made = AttestationObject.create("none", data, {})
        return self._answer(client, attestationObject=base64url(made))

    def get(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Answer ``navigator.credentials.get``, as ``toJSON`` writes it."""
        data = self._data(options["rpId"], FLAG(0), b"")
        client = self._client_data("webauthn.get", options["challenge"])
        signature = self.key.sign(data + sha256(client).digest(), ECDSA(SHA256()))
        return self._answer(
            client,
            authenticatorData=base64url(data),
            signature=base64url(signature),
            userHandle=self.user_handle,
        )

    def registration(self, options: Mapping[str, Any]) -> Registration:
        return msgspec.convert(self.create(options), Registration)

    def assertion(self, options: Mapping[str, Any]) -> Assertion:
        return msgspec.convert(self.get(options), Assertion)

    def as_form(self, answer: Mapping[str, Any]) -> str:
        """Write an answer as the script of a page puts it into a form."""
        return json.dumps(answer)

    def _data(self, rp_id: str, flags: FLAG, credential: bytes) -> AuthenticatorData:
        self.count += self.counts
        verified = FLAG.UV if self.is_verifying else FLAG(0)
        return AuthenticatorData.create(
            sha256((self.rp_id or rp_id).encode()).digest(),
            FLAG.UP | verified | flags,
            self.count,
            credential,
        )

    def _client_data(self, kind: str, challenge: str) -> CollectedClientData:
        return CollectedClientData.create(kind, challenge, self.origin)

    def _answer(self, client: bytes, **response: str | None) -> dict[str, Any]:
        own = base64url(self.credential_id)
        return {
            "id": own,
            "rawId": own,
            "type": "public-key",
            "authenticatorAttachment": "platform",
            "clientExtensionResults": {},
            "response": {"clientDataJSON": base64url(client), **response},
        }
