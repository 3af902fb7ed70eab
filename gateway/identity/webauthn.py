"""
WebAuthn (level 3): what a browser is asked for, and whether its answer is right.

Options and answers have the JSON form of the standard, as browsers read and write it. User
verification is always required: who uses a passkey has the authenticator, and has shown it a
finger, a face or a PIN.
"""

from __future__ import annotations

import base64
import ipaddress
import json
import logging
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypedDict, TypeVar
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta, Struct

from gateway.core.errors import ServiceError
from gateway.core.fields import meaning
from gateway.core.user import User
from gateway.core.user_errors import PASSKEY_INVALID
from gateway.identity.model import Passkey
from gateway.security.secrets import base64url

if TYPE_CHECKING:
    from fido2.server import Fido2Server
    from fido2.webauthn import AuthenticatorData

_ALGORITHMS: Final = (-7, -8, -257)
"""ES256, EdDSA and RS256: every platform has one of them."""
_LONGEST_ID: Final = 1023
"""Bytes of a credential's id, by the standard."""
_TIMEOUT_MS: Final = 120_000
"""Long enough to fetch a telephone, and shorter than a challenge is valid."""
_LOCAL: Final = "localhost"
# a body has 16 KiB at most
_LONGEST: Final = 8192
_FORM: Final = r"^[A-Za-z0-9_-]+$"

Base64Url = Annotated[
    str,
    Meta(
        description="Bytes in base64url, without padding.",
        min_length=1,
        max_length=_LONGEST,
        pattern=_FORM,
        examples=["b2JzY3VyZQ"],
    ),
]


class AssertionResponse(
    Struct,
    frozen=True,
    rename={
        "client_data": "clientDataJSON",
        "authenticator_data": "authenticatorData",
        "user_handle": "userHandle",
    },
):
    """The authenticator's signature."""

    client_data: Base64Url
    authenticator_data: Base64Url
    signature: Base64Url
    user_handle: Annotated[
        Base64Url | None, meaning("The user whose passkey it is, where the authenticator tells.")
    ] = None


class Assertion(Struct, frozen=True):
    """A use of a passkey: ``toJSON()`` of what ``navigator.credentials.get`` returns."""

    id: Base64Url
    response: AssertionResponse


class AttestationResponse(
    Struct,
    frozen=True,
    rename={"client_data": "clientDataJSON", "attestation_object": "attestationObject"},
):
    """The public key of a new passkey."""

    client_data: Base64Url
    attestation_object: Base64Url


class Registration(Struct, frozen=True):
    """A new passkey: ``toJSON()`` of what ``navigator.credentials.create`` returns."""

    id: Base64Url
    response: AttestationResponse


Text = Annotated[str, meaning("A text for the browser.", "pixgate")]
Kind = Annotated[Literal["public-key"], meaning("Always `public-key`.")]
Verification = Annotated[
    Literal["required"], meaning("The authenticator always verifies the user.")
]
Timeout = Annotated[int, meaning("Milliseconds for which the browser waits.", _TIMEOUT_MS)]
RpId = Annotated[str, meaning("The host of the panel.", "pix.example.com")]
Challenge = Annotated[str, meaning("Works once, for five minutes.", "b2JzY3VyZQ")]


class CredentialDocument(TypedDict):
    """A passkey, as an authenticator knows it."""

    type: Kind
    id: Base64Url


class AssertionOptions(TypedDict):
    """Options for ``navigator.credentials.get``; without a list any passkey of the panel fits."""

    challenge: Challenge
    timeout: Timeout
    rpId: RpId
    allowCredentials: Annotated[
        list[CredentialDocument], meaning("Passkeys that fit; empty for any of the panel.", [])
    ]
    userVerification: Verification


class RpDocument(TypedDict):
    """Where passkeys are for."""

    id: RpId
    name: Text


class PasskeyUserDocument(TypedDict):
    """Whom a passkey is for."""

    id: Base64Url
    name: Annotated[str, meaning("Their e-mail address.", "ana@example.com")]
    displayName: Annotated[str, meaning("Their name.", "Ana Souza")]


class AlgorithmDocument(TypedDict):
    """A kind of key that is accepted."""

    type: Kind
    alg: Annotated[int, meaning("COSE's number of the algorithm.", -7)]


class SelectionDocument(TypedDict):
    """Which authenticators are wanted."""

    residentKey: Annotated[
        Literal["preferred"], meaning("The passkey should be found without an e-mail address.")
    ]
    userVerification: Verification


class RegistrationOptions(TypedDict):
    """Options for ``navigator.credentials.create``."""

    rp: RpDocument
    user: PasskeyUserDocument
    challenge: Challenge
    pubKeyCredParams: Annotated[
        list[AlgorithmDocument], meaning("Accepted keys, the preferred first.")
    ]
    timeout: Timeout
    excludeCredentials: Annotated[
        list[CredentialDocument], meaning("Passkeys that the user has already.", [])
    ]
    authenticatorSelection: SelectionDocument
    attestation: Annotated[
        Literal["none"], meaning("Always `none`: every maker's authenticators are accepted.")
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCredential:
    """A credential that an authenticator has made; see ``Passkey``."""

    credential_id: str
    credential: bytes
    sign_count: int


@dataclass(frozen=True)
class RelyingParty:
    """
    The panel, as browsers and authenticators know it.

    Attributes:
        origin: The panel's own address, from the configuration.
        name: Shown by authenticators.
    """

    origin: str
    name: str

    @cached_property
    def id(self) -> str:
        """The panel's host; empty where browsers know no passkeys: plain HTTP, an IP address."""
        parts = urlsplit(self.origin)
        host = parts.hostname or ""
        if parts.scheme != "https" and host != _LOCAL:
            return ""
        try:
            ipaddress.ip_address(host)
        except ValueError:
            return host
        return ""

    def assertion_options(self, challenge: bytes, known: Sequence[Passkey]) -> AssertionOptions:
        """Return the options by which one of the ``known`` passkeys is asked for; any for none."""
        return {
            "challenge": base64url(challenge),
            "timeout": _TIMEOUT_MS,
            "rpId": self.id,
            "allowCredentials": _listed(known),
            "userVerification": "required",
        }

    def registration_options(
        self, challenge: bytes, user: User, known: Sequence[Passkey]
    ) -> RegistrationOptions:
        """Return the options by which a new passkey is asked for, on an authenticator without."""
        return {
            "rp": {"id": self.id, "name": self.name},
            "user": {"id": handle(user.id), "name": user.email, "displayName": user.name},
            "challenge": base64url(challenge),
            "pubKeyCredParams": [{"type": "public-key", "alg": each} for each in _ALGORITHMS],
            "timeout": _TIMEOUT_MS,
            "excludeCredentials": _listed(known),
            "authenticatorSelection": {
                "residentKey": "preferred",
                "userVerification": "required",
            },
            "attestation": "none",
        }

    def register(self, answer: Registration, challenge: bytes) -> NewCredential:
        """
        Return the credential of an answer to a challenge.

        Raises:
            ServiceError: PASSKEY_INVALID: not of our page, without user verification, of another
                challenge, or malformed.
        """
        response = {
            "clientDataJSON": answer.response.client_data,
            "attestationObject": answer.response.attestation_object,
        }
        data = self._registered(challenge, {"rawId": answer.id, "response": response})
        made = data.credential_data
        if made is None or made.public_key.ALGORITHM not in _ALGORITHMS:
            raise ServiceError(PASSKEY_INVALID, "passkey")
        credential_id = base64url(made.credential_id)
        if credential_id != answer.id or len(made.credential_id) > _LONGEST_ID:
            raise ServiceError(PASSKEY_INVALID, "passkey")
        return NewCredential(
            credential_id=credential_id, credential=bytes(made), sign_count=data.counter
        )

    def verify(self, answer: Assertion, challenge: bytes, passkey: Passkey) -> int:
        """
        Check the use of a passkey for a challenge; return the authenticator's counter.

        Raises:
            ServiceError: PASSKEY_INVALID: not of our page, without user verification, of another
                challenge, passkey or user, or malformed.
        """
        response = {
            "clientDataJSON": answer.response.client_data,
            "authenticatorData": answer.response.authenticator_data,
            "signature": answer.response.signature,
        }
        if answer.response.user_handle not in {None, handle(passkey.user_id)}:
            raise ServiceError(PASSKEY_INVALID, "passkey")
        return self._verified(challenge, passkey, {"rawId": answer.id, "response": response})

    def _registered(self, challenge: bytes, answer: Mapping[str, object]) -> AuthenticatorData:
        try:
            return self._server.register_complete(_state(challenge), answer)
        except Exception as problem:  # the library names none for bytes of strangers
            raise ServiceError(PASSKEY_INVALID, "passkey") from problem

    def _verified(self, challenge: bytes, passkey: Passkey, answer: Mapping[str, object]) -> int:
        from fido2.webauthn import (  # noqa: PLC0415 - as ``_server``
            AttestedCredentialData,
            AuthenticationResponse,
        )

        credential = AttestedCredentialData(passkey.credential)
        try:
            read = AuthenticationResponse.from_dict(answer)
            self._server.authenticate_complete(_state(challenge), [credential], read)
        except Exception as problem:  # the library names none for bytes of strangers
            raise ServiceError(PASSKEY_INVALID, "passkey") from problem
        return read.response.authenticator_data.counter

    @cached_property
    def _server(self) -> Fido2Server:
        # imported when the first passkey is used: it reads a list of 10,000 public suffixes
        from fido2.server import Fido2Server  # noqa: PLC0415 - see above
        from fido2.webauthn import PublicKeyCredentialRpEntity  # noqa: PLC0415 - see above

        # it logs the id of every credential
        logging.getLogger("fido2").setLevel(logging.WARNING)
        return Fido2Server(
            PublicKeyCredentialRpEntity(id=self.id, name=self.name),
            # its own rule would accept every subdomain, and every port
            verify_origin=lambda origin: origin == self.origin,
        )


def challenge_of(answer: Assertion | Registration) -> bytes:
    """
    Return the challenge that an answer names; nothing is proven yet.

    Raises:
        ServiceError: PASSKEY_INVALID for a malformed one.
    """
    try:
        data = json.loads(decoded(answer.response.client_data))
        return decoded(data["challenge"])
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as problem:
        raise ServiceError(PASSKEY_INVALID, "passkey") from problem


def assertion(text: str) -> Assertion:
    """
    Read a use of a passkey as a form sends it.

    Raises:
        ServiceError: PASSKEY_INVALID for a malformed one.
    """
    return _read(text, Assertion)


def registration(text: str) -> Registration:
    """Read a new passkey as a form sends it; raises as ``assertion``."""
    return _read(text, Registration)


Answer = TypeVar("Answer", Assertion, Registration)


def _read(text: str, kind: type[Answer]) -> Answer:
    try:
        return msgspec.json.decode(text.encode(), type=kind)
    except (ValueError, RecursionError) as problem:
        raise ServiceError(PASSKEY_INVALID, "passkey") from problem


def handle(user_id: str) -> str:
    """Return the user handle that an authenticator keeps: the 16 bytes of the user's id."""
    return base64url(uuid.UUID(user_id).bytes)


def decoded(text: str) -> bytes:
    """
    Decode base64url without padding.

    Raises:
        ValueError, TypeError: for anything else.
    """
    return base64.b64decode(text.encode("ascii") + b"=" * (-len(text) % 4), b"-_", validate=True)


def _listed(known: Sequence[Passkey]) -> list[CredentialDocument]:
    return [{"type": "public-key", "id": each.credential_id} for each in known]


def _state(challenge: bytes) -> dict[str, object]:
    """Return what the library's own options would have remembered."""
    return {"challenge": base64url(challenge), "user_verification": "required"}
