"""Certificates from memory: whole, in one piece, and never on a disk."""

from __future__ import annotations

import os
import ssl
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from gateway.net.common.certificates import (
    SENTENCES,
    CertificatePair,
    NoMemoryFiles,
    PairRefused,
    Part,
    PemFlaw,
    check_pair,
    load_pair,
    refuses_ours,
    require_memory_files,
    validity_of,
)
from tests.world.banks.authority import EXPIRED, VALID, Authority

CANARY = "canary-7f3a"


def context() -> ssl.SSLContext:
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def encrypted() -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"secret"),
    ).decode()


@pytest.mark.parametrize("valid", [VALID, EXPIRED])
def test_a_matching_pair_is_accepted_and_its_validity_returned(authority: Authority, valid):
    pair = authority.pair("we", valid)

    validity = check_pair(pair)
    load_pair(context(), pair)

    assert validity == validity_of(pair.certificate)
    assert validity.ends == valid[1].replace(microsecond=0)


def test_a_certificate_chain_must_start_with_our_certificate(authority: Authority):
    ours, issuer = authority.pair("we"), authority.file.read_text()

    check_pair(CertificatePair(certificate=ours.certificate + issuer, key=ours.key))
    with pytest.raises(PairRefused) as refused:
        check_pair(CertificatePair(certificate=issuer + ours.certificate, key=ours.key))

    assert (refused.value.part, refused.value.flaw) == ("key", PemFlaw.OTHER_KEY)


def test_an_invalid_pair_names_its_part_and_shows_no_content(authority: Authority):
    good = authority.pair("we")
    cases = [
        (CANARY, None, "certificate", PemFlaw.NO_CERTIFICATE),
        ("", None, "certificate", PemFlaw.NO_CERTIFICATE),
        (good.certificate[:200], None, "certificate", PemFlaw.NO_CERTIFICATE),
        (None, CANARY, "key", PemFlaw.NO_KEY),
        (None, "", "key", PemFlaw.NO_KEY),
        (None, good.key[:80], "key", PemFlaw.NO_KEY),
        (None, encrypted(), "key", PemFlaw.NO_KEY),
        (None, authority.pair("they").key, "key", PemFlaw.OTHER_KEY),
    ]
    for certificate, key, part, flaw in cases:
        given = CertificatePair(
            certificate=good.certificate if certificate is None else certificate,
            key=good.key if key is None else key,
        )

        with pytest.raises(PairRefused) as refused:
            check_pair(given)

        assert (refused.value.part, refused.value.flaw) == (part, flaw)
        assert str(refused.value) == f"{part}: {SENTENCES[flaw]}"
        assert CANARY not in repr(given)


def test_a_key_too_short_for_tls_is_refused(authority: Authority):
    """By OpenSSL itself: an own check could diverge."""
    weak = rsa.generate_private_key(65537, 1024)  # noqa: S505 - to be refused
    short = authority.pair("short", key=weak)

    check_pair(short)
    with pytest.raises(PairRefused) as refused:
        load_pair(context(), short)

    assert refused.value.flaw is PemFlaw.UNUSABLE


def test_a_key_that_takes_long_to_read_is_refused_unread(authority: Authority):
    """Testing the primes of a 16,384-bit key takes half a minute; these are not prime."""
    p, q, e = (1 << 8191) + 1, (1 << 8191) + 5, 65537
    d = pow(e, -1, (p - 1) * (q - 1))
    public = rsa.RSAPublicNumbers(e, p * q)
    numbers = rsa.RSAPrivateNumbers(p, q, d, d % (p - 1), d % (q - 1), pow(q, -1, p), public)
    key = numbers.private_key(unsafe_skip_rsa_key_validation=True)
    form = (
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )

    with pytest.raises(PairRefused) as refused:
        check_pair(replace(authority.pair("we"), key=key.private_bytes(*form).decode()))

    assert (refused.value.part, refused.value.flaw) == (Part.KEY, PemFlaw.UNUSABLE)


def test_a_key_pair_is_loaded_without_writing_a_file(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
):
    """Only an in-memory file is opened, and closed again."""
    pair, before = authority.pair("we"), set(Path("/proc/self/fd").iterdir())
    opened: list[object] = []
    real = os.open
    monkeypatch.setattr(os, "open", lambda *given: opened.append(given) or real(*given))

    load_pair(context(), pair)

    assert opened == []
    assert set(Path("/proc/self/fd").iterdir()) == before


@pytest.mark.parametrize("lost", ["memfd_create", "/proc"])
def test_a_system_without_memory_files_is_refused_at_the_start(
    authority: Authority, monkeypatch: pytest.MonkeyPatch, lost: str
):
    pair = authority.pair("we")
    require_memory_files()
    if lost == "/proc":
        monkeypatch.setattr("gateway.net.common.certificates._DESCRIPTORS", "/nowhere/fd")
    else:
        monkeypatch.delattr(os, lost)

    with pytest.raises(NoMemoryFiles, match="/proc"):
        require_memory_files()
    with pytest.raises(NoMemoryFiles):
        load_pair(context(), pair)


def test_a_refused_client_certificate_is_distinguished_from_other_tls_failures():
    expected = {
        "SSLV3_ALERT_CERTIFICATE_EXPIRED": True,
        "SSL/TLS_ALERT_BAD_CERTIFICATE": True,
        "TLSV1_ALERT_UNKNOWN_CA": True,
        "TLSV13_ALERT_CERTIFICATE_REQUIRED": True,
        "CERTIFICATE_VERIFY_FAILED": False,
        "SSLV3_ALERT_HANDSHAKE_FAILURE": False,
        None: False,
    }

    assert {reason: refuses_ours(failed_by(reason)) for reason in expected} == expected
    assert not refuses_ours(ConnectionResetError())


def failed_by(reason: str | None) -> ssl.SSLError:
    problem = ssl.SSLError()
    problem.reason = reason  # type: ignore[assignment] # OpenSSL may give none
    return problem
