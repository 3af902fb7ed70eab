"""A bank's certificate authority: it signs the bank's own certificate and its customers'."""

from __future__ import annotations

import hashlib
import ipaddress
import ssl
from datetime import UTC, datetime
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from provider_adapters.kit.certificates import CertificatePair, load_pair
from provider_adapters.testing.bank.books import Books

ENDS: Final = datetime(2099, 1, 1, tzinfo=UTC)
"""OpenSSL looks at the wall clock and not at the bank's, so validity does not follow either."""

_BEGINS: Final = datetime(2020, 1, 1, tzinfo=UTC)
_AUTHORITY: Final = "authority"
_CUSTOMER: Final = "certificate"
_HERE: Final = (x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1")))
_PEM: Final = serialization.Encoding.PEM


def authority_of(books: Books) -> str:
    """Return the authority's certificate in PEM, for callers of the bank."""
    certificate, _ = _authority(books)
    return certificate.public_bytes(_PEM).decode()


def server_context(books: Books) -> ssl.SSLContext:
    """Make the bank's TLS: callers must show a certificate that the bank has signed."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(cadata=authority_of(books))
    load_pair(context, _signed(books, "localhost", ENDS))
    return context


def issue(books: Books, account_id: str, ends: datetime = ENDS) -> CertificatePair:
    """Make a certificate for a customer, which names its account from now on."""
    made = _signed(books, account_id, ends)
    der = ssl.PEM_cert_to_DER_cert(made.certificate)
    books.keep(_CUSTOMER, _digest(der), account_id, account_id=account_id)
    return made


def account_of(books: Books, certificate: bytes) -> str | None:
    """Return the account of a certificate in DER; None for one that is not known any more."""
    found = books.kept(_CUSTOMER, _digest(certificate))
    return found.value if found else None


def _authority(books: Books) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    """Return certificate and key of the bank's authority, kept in its file."""
    kept = books.kept(_AUTHORITY, "")
    if kept is None:
        key = ec.generate_private_key(ec.SECP256R1())
        name = _name(f"{books.identity.name} CA")
        builder = _builder(name, name, key.public_key(), ENDS).add_extension(
            x509.BasicConstraints(ca=True, path_length=0), critical=True
        )
        certificate = builder.sign(key, hashes.SHA256()).public_bytes(_PEM).decode()
        books.keep(_AUTHORITY, "", certificate + _key_text(key))
        return _authority(books)
    signing = serialization.load_pem_private_key(kept.value.encode(), password=None)
    assert isinstance(signing, ec.EllipticCurvePrivateKey)  # noqa: S101 - as it was made above
    return x509.load_pem_x509_certificate(kept.value.encode()), signing


def _signed(books: Books, name: str, ends: datetime) -> CertificatePair:
    authority, signing = _authority(books)
    key = ec.generate_private_key(ec.SECP256R1())
    issuer_key = x509.AuthorityKeyIdentifier.from_issuer_public_key(signing.public_key())
    signed = (
        _builder(_name(name), authority.subject, key.public_key(), ends)
        .add_extension(x509.SubjectAlternativeName(_HERE), critical=False)
        .add_extension(issuer_key, critical=False)
        .sign(signing, hashes.SHA256())
    )
    return CertificatePair(certificate=signed.public_bytes(_PEM).decode(), key=_key_text(key))


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, ends: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(_BEGINS)
        .not_valid_after(ends)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _name(text: str) -> x509.Name:
    # 64 is the upper bound of a common name (RFC 5280).
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text[:64])])


def _key_text(key: ec.EllipticCurvePrivateKey) -> str:
    kind, encryption = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    return key.private_bytes(_PEM, kind, encryption).decode()


def _digest(certificate: bytes) -> str:
    return hashlib.sha256(certificate).hexdigest()
