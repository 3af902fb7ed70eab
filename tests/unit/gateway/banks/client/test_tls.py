"""Certificates from files: checked before money moves, made anew when the files change."""

from __future__ import annotations

import logging
import os
import ssl
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from gateway.banks.client.tls import (
    ResumingContext,
    TlsCredentials,
    TlsFiles,
    TlsFilesRefused,
    TlsSetup,
    VerifiedSSLObject,
    check_files,
    load_context,
)
from gateway.banks.port.providers import Unreachable
from tests.world.banks.authority import EXPIRED, VALID, Authority
from tests.world.banks.witness import Clock

DAY = timedelta(days=1)


class Kept:
    """TlsCredentials with clocks that a test moves, and how often they were renewed."""

    def __init__(self, files: TlsFiles, now: datetime | None = None) -> None:
        self.clock = Clock()
        self.now = now or VALID[0] + DAY
        self.renewed: list[datetime | None] = []
        self.credentials = TlsCredentials(
            TlsSetup(files=files), lambda: self.now, self.clock, self.renewed.append
        )


def trusting(authority: Authority, cert: Path) -> TlsFiles:
    """Name the authority too: to load the system's takes longer than all the rest."""
    return TlsFiles(ca_file=str(authority.file), cert_file=str(cert))


def test_the_tls_context_requires_a_valid_certificate_and_tls_1_2():
    made = load_context(TlsSetup(), Clock())

    assert made.minimum_version == ssl.TLSVersion.TLSv1_2
    assert made.verify_mode == ssl.CERT_REQUIRED
    assert made.check_hostname
    assert not made.hostname_checks_common_name
    assert made.validity is None


def test_only_the_named_authority_is_trusted(authority: Authority):
    made = load_context(TlsSetup(files=TlsFiles(ca_file=str(authority.file))), Clock())

    assert len(made.get_ca_certs()) == 1


@pytest.mark.parametrize(
    ("now", "good"),
    [(VALID[0] - DAY, False), (VALID[0] + DAY, True), (VALID[1] - DAY, True), (VALID[1], False)],
)
async def test_money_moves_only_while_our_certificate_is_valid(
    authority: Authority, now: datetime, good: bool
):
    kept = Kept(trusting(authority, authority.sign("we")), now)
    await kept.credentials.start()

    if good:
        await kept.credentials.check(moves_money=True)
    else:
        with pytest.raises(Unreachable) as failed:
            await kept.credentials.check(moves_money=True)
        assert failed.value.reason == "certificate_expired"
    assert kept.renewed == [VALID[1].replace(microsecond=0)]


async def test_without_a_certificate_money_moves():
    kept = Kept(TlsFiles())
    await kept.credentials.start()

    await kept.credentials.check(moves_money=True)

    assert kept.renewed == [None]


async def test_changed_files_are_used_within_a_second(authority: Authority):
    file = authority.sign("we", EXPIRED)
    kept = Kept(trusting(authority, file))
    await kept.credentials.start()
    former = await kept.credentials.current()
    authority.sign("we")
    os.utime(file, ns=(1, 1))

    unseen = await kept.credentials.current()
    kept.clock.passes(1.1)
    renewed = await kept.credentials.current()

    assert unseen is former
    assert renewed is not former
    assert kept.renewed == [EXPIRED[1].replace(microsecond=0), VALID[1].replace(microsecond=0)]
    await kept.credentials.check(moves_money=True)


async def test_unchanged_files_are_not_read_again(authority: Authority):
    kept = Kept(trusting(authority, authority.sign("we")))
    await kept.credentials.start()
    former = await kept.credentials.current()

    for _ in range(3):
        kept.clock.passes(5)
        assert await kept.credentials.current() is former
    assert len(kept.renewed) == 1


@pytest.mark.parametrize("written", ["", "half of a -----BEGIN CERT", None])
async def test_invalid_files_are_ignored_until_they_are_valid(
    authority: Authority, written: str | None, caplog: pytest.LogCaptureFixture
):
    file = authority.sign("we")
    kept = Kept(trusting(authority, file))
    await kept.credentials.start()
    former = await kept.credentials.current()
    if written is None:
        file.unlink()
    else:
        file.write_text(written)
    kept.clock.passes(2)

    with caplog.at_level(logging.WARNING):
        during = await kept.credentials.current()
    authority.sign("we")
    kept.clock.passes(2)
    after = await kept.credentials.current()

    assert during is former
    assert after is not former
    assert len(caplog.records) == 1


async def test_unusable_files_are_refused_at_startup(authority: Authority, tmp_path: Path):
    other = Authority(tmp_path, "other")
    absent, good = str(tmp_path / "absent.pem"), str(authority.sign("we"))
    ca = str(authority.file)  # given everywhere: to load the system's takes longer
    (tmp_path / "none.pem").write_text("canary")
    wrong = {
        "tls.certificate: cannot be read": TlsFiles(ca_file=ca, cert_file=absent),
        "tls.key: cannot be read": TlsFiles(ca_file=ca, cert_file=good, key_file=absent),
        "tls.ca: cannot be read": TlsFiles(ca_file=absent),
        "tls.ca: holds no certificate": TlsFiles(ca_file=str(tmp_path / "none.pem")),
        "tls.certificate: holds no cert": TlsFiles(
            ca_file=ca, cert_file=str(tmp_path / "none.pem")
        ),
        "tls.key: holds no private key": TlsFiles(ca_file=ca, cert_file=ca),
        "tls.key: is not the key": TlsFiles(
            ca_file=ca, cert_file=good, key_file=str(other.sign("they"))
        ),
        "tls.key: holds no private key in PEM, or an": TlsFiles(
            ca_file=ca, cert_file=ca, key_file=_encrypted(tmp_path)
        ),
    }
    for reason, files in wrong.items():
        with pytest.raises(TlsFilesRefused, match=reason) as refused:
            await Kept(files).credentials.start()
        assert "canary" not in str(refused.value)
        with pytest.raises(TlsFilesRefused, match=reason):
            check_files(files)


async def test_credentials_that_were_not_started_make_no_connection():
    with pytest.raises(Unreachable):
        await Kept(TlsFiles(cert_file="/nowhere")).credentials.current()


def _encrypted(folder: Path) -> str:
    """Write a key with a password, which a service could not type."""
    file = folder / "encrypted.pem"
    file.write_bytes(
        ec.generate_private_key(ec.SECP256R1()).private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"secret"),
        )
    )
    return str(file)


class Pair:
    """A bank's context and ours; connections are made in memory."""

    def __init__(self, folder: Path) -> None:
        authority = Authority(folder)
        self.clock = Clock()
        self.bank = authority.server()
        self.context = ResumingContext(ssl.PROTOCOL_TLS_CLIENT, self.clock)
        self.context.load_verify_locations(authority.file)

    def connect(self, *, keep: bool = True) -> VerifiedSSLObject:
        """Make a connection, have the bank say a word, and keep its session."""
        to_bank, to_us = ssl.MemoryBIO(), ssl.MemoryBIO()
        ours = self.context.wrap_bio(to_us, to_bank, server_hostname="localhost")
        theirs = self.bank.wrap_bio(to_bank, to_us, server_side=True)
        waiting = [ours, theirs]
        while waiting:
            for one in list(waiting):
                try:
                    one.do_handshake()
                except ssl.SSLWantReadError:
                    continue
                waiting.remove(one)
        theirs.write(b"x")
        assert ours.read(1) == b"x"
        if keep:
            self.context.keep(ours)
        return ours


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    return Pair(tmp_path)


def test_the_next_connection_resumes_the_session(pair: Pair):
    assert [pair.connect().session_reused for _ in range(3)] == [False, True, True]


def test_a_tls_session_is_used_once(pair: Pair):
    pair.connect()

    assert [pair.connect(keep=False).session_reused for _ in range(2)] == [True, False]


def test_after_ten_minutes_a_full_handshake_is_made(pair: Pair):
    """Resuming does not extend the ten minutes."""
    pair.connect()
    pair.clock.passes(400)
    resumed = pair.connect()
    pair.clock.passes(201)

    assert resumed.session_reused
    assert not pair.connect().session_reused


def test_after_a_failure_nothing_is_resumed_for_ten_minutes(pair: Pair):
    pair.connect()
    pair.context.forget_sessions()

    assert [pair.connect().session_reused for _ in range(2)] == [False, False]
    pair.clock.passes(600)
    assert [pair.connect().session_reused for _ in range(2)] == [False, True]
