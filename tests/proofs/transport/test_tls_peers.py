"""Certificates of ours, as OpenSSL in nginx and HAProxy and Go's TLS in Caddy judge them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gateway.banks.client.messages import ProviderAnswer, SendProgress
from gateway.banks.client.tls import TlsFiles
from gateway.banks.port.providers import Unavailable, Unreachable
from tests.proofs.transport.conftest import Run, Street
from tests.proofs.transport.plays import echoing
from tests.servers.peer import Peer
from tests.world.banks.authority import EXPIRED, Authority
from tests.world.banks.roads import FAR, behind, marks, order, read, road, tried
from tests.world.banks.scripted import ScriptedBank

NO_GOOD = ("missing", "expired", "stranger")
VERSIONS = ("1.2", "1.3")


def at(peer: Peer, version: str) -> str:
    port = {"1.2": peer.tls12, "1.3": peer.tls13}[version]
    return f"https://127.0.0.1:{port}"


@pytest.fixture
def ours(street: Street, which: str) -> TlsFiles:
    family, trusted = street.family, str(street.family.file)
    if which == "missing":
        return TlsFiles(ca_file=trusted)
    if which == "stranger":
        stranger = Authority(family.folder, "stranger")
        return TlsFiles(ca_file=trusted, cert_file=str(stranger.sign("they")))
    if which == "expired":
        return TlsFiles(ca_file=trusted, cert_file=str(family.sign("expired", EXPIRED)))
    return TlsFiles(ca_file=trusted, cert_file=str(family.sign("we")))


@pytest.mark.parametrize("which", ["good"])
def test_a_valid_client_certificate_reaches_the_bank(
    run: Run, street: Street, peer: Peer, ours: TlsFiles
):
    """And the bank behind it is paid once for each order."""

    async def calls(version: str) -> None:
        bank = ScriptedBank(echoing, keeps=True)
        async with behind(street.bank, bank), road(at(peer, version), ours) as to:
            told = await tried(to, read("/who"))
            found = [await tried(to, order(mark, path="/bank")) for mark in range(10)]

        assert isinstance(told, ProviderAnswer)
        said = json.loads(told.body)
        assert said["tls"].lower().removeprefix("tlsv").removeprefix("tls") == version
        assert said["we"].endswith("CN=we")
        assert {one.status for one in found if isinstance(one, ProviderAnswer)} == {200}
        assert marks(bank.requests) == list(range(10))

    for version in VERSIONS:
        run(calls(version))


@pytest.mark.parametrize("which", NO_GOOD)
def test_an_invalid_client_certificate_never_reaches_the_bank(
    run: Run, street: Street, peer: Peer, ours: TlsFiles
):
    """
    No order arrives, and our outcome is never less than certain.

    nginx accepts every handshake, and answers 400. The others end the connection: in TLS 1.2 before
    the order, which proves that nothing was sent; in 1.3 after it, which proves nothing. An expired
    certificate of ours is noticed before anything is sent. Reads are sent with an expired one too,
    and the peer answers.
    """

    async def refused(version: str) -> None:
        bank = ScriptedBank(echoing, keeps=True)
        async with behind(street.bank, bank), road(at(peer, version), ours) as to:
            for mark in range(3):
                progress = SendProgress(FAR)
                found = await tried(to, order(mark, path="/bank"), progress)

                if Path(ours.cert_file).stem == "expired":
                    assert isinstance(found, Unreachable)
                    assert found.reason == "certificate_expired"
                    assert not progress.bytes_left
                elif peer.name == "nginx":
                    assert isinstance(found, ProviderAnswer)
                    assert found.status == 400
                elif version == "1.2":
                    assert isinstance(found, Unreachable)
                    assert found.reason in {"tls_failed", "connect_failed", "certificate_refused"}
                    assert not progress.bytes_left
                else:
                    assert isinstance(found, Unavailable if progress.bytes_left else Unreachable)
            looked = await tried(to, read("/bank"))

        said = looked.status if isinstance(looked, ProviderAnswer) else type(looked)
        assert said in ({400} if peer.name == "nginx" else {Unreachable, Unavailable})
        assert bank.requests == []

    for version in VERSIONS:
        run(refused(version))
