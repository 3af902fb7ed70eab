"""
Proofs of callbacks: HMAC, a signature with a key pair, a shared token, a certificate.

An adapter puts its proof together from these. Each takes several secrets or keys, so that
one can be replaced without a gap; returns False for unreadable input; and compares secrets
in a time that does not depend on them. None of them logs or shows its input.
"""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm

from gateway.banks.port.provider_callbacks import ProofRefused
from gateway.core.clocks import Now
from gateway.core.headers import Headers
from provider_adapters.kit.public_keys import PublicKey, PublicKeys

FRESH_S: Final = 300
"""Standard Webhooks' tolerance for a signed timestamp, in seconds either way."""

LONGEST: Final = 4096
"""Characters of a header's value; a signature of an RSA key of 8,192 bits has 1,368."""

_SECONDS: Final = 12
"""Digits of a Unix time in seconds, with room for 30,000 years."""

Digest = Literal["sha1", "sha256"]
SignatureText = Literal["base64", "hex"]


def only_value(headers: Headers, name: str) -> str:
    """Return a header's only value; empty for none, several, or one that is no printable ASCII."""
    values = headers.getall(name, ())
    if len(values) != 1 or len(values[0]) > LONGEST:
        return ""
    return values[0] if values[0].isascii() and values[0].isprintable() else ""


def is_recent(unix_seconds: str, now: datetime, within_s: int = FRESH_S) -> bool:
    """Return whether a signed Unix time is recent, so that an old callback is not replayed."""
    text = unix_seconds
    if not (text.isascii() and text.isdigit() and len(text) <= _SECONDS):
        return False
    return abs(now.timestamp() - int(text)) <= within_s


def decoded(signature: str, text: SignatureText = "base64") -> bytes:
    """Read a signature in its one correct spelling; empty for anything else."""
    try:
        if text == "hex":
            return binascii.unhexlify(signature)
        found = binascii.a2b_base64(signature, strict_mode=True)
    except ValueError:
        return b""
    # The last character may carry bits that nobody reads: two spellings of one signature.
    return found if base64.b64encode(found).decode() == signature else b""


@dataclass(frozen=True, slots=True)
class SharedToken:
    """A secret that the bank sends along in a header; any of ``secrets`` is right."""

    secrets: Sequence[bytes] = field(repr=False)

    def __post_init__(self) -> None:
        """Refuse an empty secret, which every caller could have."""
        _require(self.secrets)

    def proves(self, token: str) -> bool:
        """Return whether the token is one of the secrets."""
        return _is_among(token.encode("utf-8", "surrogateescape"), self.secrets)


def token_text(secret: bytes) -> str:
    """
    Write a secret as a header carries it: as it is, or in hexadecimal digits.

    A secret that an operator entered is a text. One that is derived from our keys is any
    bytes; it is for a simulated bank, which is told it in the same form.
    """
    return secret.decode() if secret.isascii() else secret.hex()


@dataclass(frozen=True, slots=True)
class Hmac:
    """A keyed digest over the very bytes; any of ``secrets`` is right."""

    secrets: Sequence[bytes] = field(repr=False)
    digest: Digest = "sha256"
    text: SignatureText = "base64"

    def __post_init__(self) -> None:
        """Refuse an empty secret, which every caller could have."""
        _require(self.secrets)

    def proves(self, signature: str, message: bytes) -> bool:
        """Return whether ``signature`` is that of ``message``."""
        given = decoded(signature, self.text)
        wanted = [hmac.digest(each, message, self.digest) for each in self.secrets]
        return _is_among(given, wanted)


@dataclass(frozen=True, slots=True)
class KeySignature:
    """A signature with one of the bank's key pairs, over the very bytes."""

    keys: PublicKeys

    async def proves(self, signature: str, message: bytes, key_id: str = "") -> bool:
        """
        Return whether ``signature`` (base64) is that of ``message``.

        Args:
            signature: As the header has it.
            message: The signed bytes.
            key_id: The key that the bank names; empty tries each.

        Raises:
            ProviderError: the bank's keys could not be read.
        """
        given = decoded(signature)
        if not given:
            return False
        known = await self.keys.known()
        if _is_signed(known, key_id, given, message):
            return True
        renewed = await self.keys.renewed()
        return renewed is not known and _is_signed(renewed, key_id, given, message)


class PeerCertificate:
    """
    The certificate that a bank shows when it calls us.

    TLS, ours or our proxy's, has proven that the peer holds its key; here it is said
    whose it is. Trusted are the bank's own certificates, and certificates that one of the
    bank's authorities has signed itself.

    Args:
        pem: Certificates and authorities, one after the other.
        now: The wall clock.
        names: Host or common names, one of which the certificate must bear. Name
            them where an authority signs for others than the bank, too.
    """

    def __init__(self, pem: str, now: Now, names: Sequence[str] = ()) -> None:
        try:
            self._trusted = x509.load_pem_x509_certificates(pem.encode())
        except ValueError as problem:
            message = "is no certificate in PEM"
            raise ProofRefused(message) from problem
        self._now = now
        self._names = frozenset(each.lower() for each in names)

    def proves(self, der: bytes) -> bool:
        """Return whether the certificate is the bank's; an empty or expired one is not."""
        try:
            shown = x509.load_der_x509_certificate(der)
            return (
                self._is_current(shown)
                and (not self._names or not self._names.isdisjoint(_names_of(shown)))
                and any(self._vouches(each, shown) for each in self._trusted)
            )
        except (ValueError, x509.DuplicateExtension, UnsupportedAlgorithm):
            return False

    def _is_current(self, certificate: x509.Certificate) -> bool:
        now = self._now()
        return certificate.not_valid_before_utc <= now <= certificate.not_valid_after_utc

    def _vouches(self, trusted: x509.Certificate, shown: x509.Certificate) -> bool:
        """Return whether the shown certificate is the trusted one, or signed by it."""
        if trusted == shown:
            return True
        try:
            shown.verify_directly_issued_by(trusted)
        except (InvalidSignature, TypeError, ValueError):
            return False
        return self._is_current(trusted)


def _require(secrets: Sequence[bytes]) -> None:
    if not secrets or not all(secrets):
        message = "needs a secret: callbacks.secret is empty"
        raise ProofRefused(message)


def _is_among(value: bytes, known: Sequence[bytes]) -> bool:
    """Return whether the value is one of the known ones, in constant time."""
    return sum(hmac.compare_digest(value, each) for each in known) > 0


def _is_signed(keys: Sequence[PublicKey], key_id: str, signature: bytes, message: bytes) -> bool:
    """Return whether the key of this id has signed; without an id, whether any key has."""
    return any(key.verifies(signature, message) for key in keys if key_id in {"", key.id})


def _names_of(certificate: x509.Certificate) -> set[str]:
    """Return the host names and common names of a certificate, in lower case."""
    try:
        extension = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
        names = extension.value.get_values_for_type(x509.DNSName)
    except x509.ExtensionNotFound:
        names = []
    common = certificate.subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)
    return {each.lower() for each in (*names, *(str(each.value) for each in common))}
