"""
Our certificates for banks, loaded from memory and never written to disk.

Python's ``ssl`` loads a certificate and its key from files only. So they are handed over in
a file that lives in memory (``memfd_create``) and is reached by its descriptor; it is gone as
soon as OpenSSL has read it.
"""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
)

# OpenSSL 3.2 writes SSL/TLS where earlier ones write SSLV3, TLSV1 or TLSV13.
_ALERT: Final = re.compile(
    r"_ALERT_(BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_[A-Z]+|UNKNOWN_CA|ACCESS_DENIED)"
)
_DESCRIPTORS: Final = "/proc/self/fd"
_SPKI: Final = (Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


class Part(StrEnum):
    """The invalid part of a pair."""

    CERTIFICATE = "certificate"
    KEY = "key"


class PemFlaw(StrEnum):
    """The defect of a certificate or key: words of ``gateway.core.reasons``."""

    NO_CERTIFICATE = "pem_certificate"
    NO_KEY = "pem_key"
    OTHER_KEY = "other_key"
    UNUSABLE = "pem_unusable"


SENTENCES: Final[Mapping[PemFlaw, str]] = {
    PemFlaw.NO_CERTIFICATE: "holds no certificate in PEM",
    PemFlaw.NO_KEY: "holds no private key in PEM, or an encrypted one",
    PemFlaw.OTHER_KEY: "is not the key of the certificate (the first one, if there are several)",
    PemFlaw.UNUSABLE: "is not accepted by TLS here: too short or long a key, or an old algorithm",
}
"""The words for operators, after a path."""


class PairRefused(ValueError):
    """A certificate and its key are unusable; names part and reason, never the content."""

    def __init__(self, part: Part, flaw: PemFlaw) -> None:
        super().__init__(f"{part}: {SENTENCES[flaw]}")
        self.part = part
        self.flaw = flaw


class NoMemoryFiles(Exception):
    """This system cannot hand a certificate over from memory; the message is for the operator."""

    def __init__(self) -> None:
        super().__init__(
            "accounts have certificates here, which are used from memory alone: that needs Linux,"
            " with memfd_create allowed and /proc mounted"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificatePair:
    """
    A certificate of ours and its key, both in PEM; printed without them.

    Attributes:
        certificate: Ours first, and after it those between it and the bank's authority.
        key: Unencrypted.
    """

    certificate: str = field(repr=False)
    key: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Validity:
    """From when until when a certificate is valid."""

    begins: datetime
    ends: datetime


def check_pair(pair: CertificatePair) -> Validity:
    """
    Check that certificate and key are whole and belong together; return the validity.

    An expired certificate passes: the caller decides.

    Raises:
        PairRefused: with the part that is wrong.
    """
    leaf = _leaf(pair.certificate)
    if _public_key(pair.key) != leaf.public_key().public_bytes(*_SPKI):
        raise PairRefused(Part.KEY, PemFlaw.OTHER_KEY)
    return validity_of(pair.certificate)


def validity_of(certificate: str) -> Validity:
    """Return the validity of the first certificate of a text; raises ``PairRefused``."""
    leaf = _leaf(certificate)
    return Validity(begins=leaf.not_valid_before_utc, ends=leaf.not_valid_after_utc)


def load_pair(context: ssl.SSLContext, pair: CertificatePair) -> None:
    """
    Have a context show a certificate.

    Raises:
        PairRefused: they do not fit, or OpenSSL does not accept them.
        NoMemoryFiles: see ``require_memory_files``.
    """
    # The key stands first: OpenSSL takes the first one, whatever else the certificate's text holds.
    with _in_memory(f"{pair.key}\n{pair.certificate}") as path:
        try:
            context.load_cert_chain(path, password=no_password)
        except (ssl.SSLError, ValueError) as problem:
            raise PairRefused(Part.CERTIFICATE, PemFlaw.UNUSABLE) from problem


def require_memory_files() -> None:
    """
    Check that certificates can be used from memory, before the first call needs it.

    Raises:
        NoMemoryFiles: this is not Linux, or /proc is not mounted.
    """
    with _in_memory("") as path:
        path.stat()


@contextmanager
def _in_memory(content: str) -> Iterator[Path]:
    """Keep a text in a file that lives in memory; raises ``NoMemoryFiles``."""
    try:
        with os.fdopen(os.memfd_create("certificate", os.MFD_CLOEXEC), "wb") as file:
            file.write(content.encode())
            file.flush()
            yield Path(f"{_DESCRIPTORS}/{file.fileno()}")
    except (AttributeError, OSError) as problem:
        raise NoMemoryFiles from problem


def refuses_ours(problem: BaseException) -> bool:
    """Return whether the connection ended because the bank refused our certificate."""
    reason = problem.reason if isinstance(problem, ssl.SSLError) else None
    return _ALERT.search(reason or "") is not None


def no_password() -> str:
    """Refuse an encrypted key; without this OpenSSL would prompt at the terminal."""
    problem = "the key is encrypted"
    raise ValueError(problem)


def _leaf(text: str) -> x509.Certificate:
    try:
        return x509.load_pem_x509_certificates(text.encode())[0]
    except ValueError as problem:
        raise PairRefused(Part.CERTIFICATE, PemFlaw.NO_CERTIFICATE) from problem


def _public_key(text: str) -> bytes:
    try:
        # Its primes are not tested: of a key of 16,384 bits that stops a process for half a minute.
        key = load_pem_private_key(text.encode(), None, unsafe_skip_rsa_key_validation=True)
    except (ValueError, TypeError, UnsupportedAlgorithm) as problem:
        raise PairRefused(Part.KEY, PemFlaw.NO_KEY) from problem
    if isinstance(key, rsa.RSAPrivateKey) and key.key_size > _LONGEST_RSA:
        raise PairRefused(Part.KEY, PemFlaw.UNUSABLE)
    return key.public_key().public_bytes(*_SPKI)


_LONGEST_RSA: Final = 4096
"""Bits; each handshake signs with it, on the event loop."""
