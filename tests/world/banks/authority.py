"""A certificate authority of a test's own, and the certificates it has signed."""

from __future__ import annotations

import ipaddress
import ssl
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

from gateway.net.common.certificates import CertificatePair
from tests.world.banks.witness import NOON

Key = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey
DAY = timedelta(days=1)
VALID = (datetime.now(UTC) - DAY, max(datetime.now(UTC), NOON) + 3650 * DAY)
EXPIRED = (datetime.now(UTC) - 30 * DAY, datetime.now(UTC) - DAY)


HERE = (x509.IPAddress(ipaddress.ip_address("127.0.0.1")), x509.DNSName("localhost"))


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


@dataclass
class Authority:
    """Signs certificates into a folder; two of them do not know each other."""

    folder: Path
    name: str = "ca"
    key: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256R1())
    )

    def __post_init__(self) -> None:
        made = self._builder(self.name, self.key, VALID).add_extension(
            x509.BasicConstraints(ca=True, path_length=0), critical=True
        )
        self.file = self.folder / f"{self.name}.pem"
        self.certificate = made.sign(self.key, hashes.SHA256())
        self.file.write_bytes(self.certificate.public_bytes(serialization.Encoding.PEM))

    def sign(
        self,
        name: str,
        valid: tuple[datetime, datetime] = VALID,
        names: Sequence[x509.GeneralName] = HERE,
    ) -> Path:
        """Make a key and a certificate for this machine, both in one file."""
        made = self.pair(name, valid, names)
        file = self.folder / f"{name}.pem"
        file.write_text(made.certificate + made.key)
        return file

    def pair(
        self,
        name: str,
        valid: tuple[datetime, datetime] = VALID,
        names: Sequence[x509.GeneralName] = HERE,
        key: Key | None = None,
    ) -> CertificatePair:
        """Make a key and a certificate, in memory only."""
        key = key or ec.generate_private_key(ec.SECP256R1())
        made = self._builder(name, key, valid)
        if names:
            made = made.add_extension(x509.SubjectAlternativeName(names), critical=False)
        signed = made.sign(self.key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
        return CertificatePair(
            certificate=signed.decode(),
            key=key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            ).decode(),
        )

    def server(
        self,
        *,
        clients: Authority | None = None,
        version: str = "",
        names: Sequence[x509.GeneralName] = HERE,
    ) -> ssl.SSLContext:
        """
        Make a bank's context; with ``clients`` it asks for a certificate that they signed.

        Its common name is ``localhost``, whatever other names it has.
        """
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(self.sign("localhost", names=names))
        if clients is not None:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(clients.file)
        if version:
            only = {"1.2": ssl.TLSVersion.TLSv1_2, "1.3": ssl.TLSVersion.TLSv1_3}[version]
            context.minimum_version = context.maximum_version = only
        return context

    def _builder(
        self, name: str, key: Key, valid: tuple[datetime, datetime]
    ) -> x509.CertificateBuilder:
        return (
            x509.CertificateBuilder()
            .subject_name(_name(name))
            .issuer_name(_name(self.name))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(valid[0])
            .not_valid_after(valid[1])
        )


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)
