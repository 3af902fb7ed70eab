"""TLS 1.2 and 1.3, with a certificate of ours and without: what is proven, and what is not."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from gateway.banks.client.messages import ProviderAnswer, SendProgress
from gateway.banks.client.tls import TlsFiles
from gateway.banks.port.providers import BadReply, ProviderError, Unavailable, Unreachable
from tests.proofs.transport.conftest import Run
from tests.proofs.transport.cutting import Cutting
from tests.world.banks.authority import EXPIRED, Authority
from tests.world.banks.roads import FAR, READ, order, question, road, tried
from tests.world.banks.scripted import Line, ScriptedBank, answer, saying, standing

versions = pytest.mark.parametrize("version", ["1.2", "1.3"])


def ours(authority: Authority, which: str) -> TlsFiles:
    """Choose our certificate: none, or one that is good, expired or of another authority."""
    trusted = str(authority.file)
    if which == "missing":
        return TlsFiles(ca_file=trusted)
    if which == "good":
        return TlsFiles(ca_file=trusted, cert_file=str(authority.sign("we")))
    if which == "expired":
        return TlsFiles(ca_file=trusted, cert_file=str(authority.sign("we", EXPIRED)))
    stranger = Authority(authority.folder, "stranger")
    return TlsFiles(ca_file=trusted, cert_file=str(stranger.sign("we")))


def https(bank: ScriptedBank) -> str:
    return f"https://127.0.0.1:{bank.port}"


def seeing(seen: list[tuple[str, bool]]) -> ScriptedBank:
    """Open a bank that notes of each call its version of TLS, and whether a session went on."""

    async def says(line: Line) -> None:
        secured = line.writer.get_extra_info("ssl_object")
        seen.append((secured.version(), secured.session_reused))
        await line.say(answer(b"x" * 100_000))

    return ScriptedBank(says, keeps=True)


@versions
def test_a_kept_connection_serves_all_reads(run: Run, authority: Authority, version: str):
    async def calls() -> None:
        seen: list[tuple[str, bool]] = []
        bank = seeing(seen)
        secure = authority.server(clients=authority, version=version)
        async with (
            standing(bank, ssl=secure),
            road(https(bank), ours(authority, "good")) as to,
        ):
            for mark in range(5):
                found = await tried(to, question(mark))

                assert isinstance(found, ProviderAnswer)
                assert len(found.body) == 100_000
        assert (bank.connections, set(seen)) == (1, {(f"TLSv{version}", False)})

    run(calls())


@versions
def test_each_payout_resumes_a_tls_session_on_a_new_connection(
    run: Run, authority: Authority, version: str
):
    """The first handshake is a full one, and later ones resume it."""

    async def calls() -> None:
        seen: list[tuple[str, bool]] = []
        bank = seeing(seen)
        secure = authority.server(clients=authority, version=version)
        async with (
            standing(bank, ssl=secure),
            road(https(bank), ours(authority, "good")) as to,
        ):
            for mark in range(5):
                found = await tried(to, order(mark))

                assert isinstance(found, ProviderAnswer)
        tls = f"TLSv{version}"
        assert bank.connections == 5
        assert seen == [(tls, False), (tls, True), (tls, True), (tls, True), (tls, True)]

    run(calls())


@pytest.mark.parametrize("which", ["missing", "expired", "stranger"])
def test_a_certificate_refused_in_tls_1_2_proves_that_nothing_was_sent(
    run: Run, authority: Authority, which: str
):
    async def refused() -> None:
        bank = ScriptedBank(saying(answer()))
        secure = authority.server(clients=authority, version="1.2")
        async with standing(bank, ssl=secure), road(https(bank), ours(authority, which)) as to:
            for request in (READ, order()):
                progress = SendProgress(FAR if request is not READ else None)
                found = await tried(to, request, progress)

                assert isinstance(found, Unreachable)
                assert found.reason in {
                    "tls_failed",
                    "connect_failed",
                    "certificate_expired",
                    "certificate_refused",
                }
                assert not progress.bytes_left
        assert bank.requests == []

    run(refused())


@pytest.mark.parametrize("which", ["missing", "expired", "stranger"])
def test_a_certificate_refused_in_tls_1_3_may_leave_the_payout_unknown(
    run: Run, authority: Authority, which: str
):
    """It is unknown although nothing arrived, so an expired one is checked beforehand."""

    async def refused() -> None:
        bank = ScriptedBank(saying(answer()))
        secure = authority.server(clients=authority, version="1.3")
        async with standing(bank, ssl=secure), road(https(bank), ours(authority, which)) as to:
            read = await tried(to, READ)
            progress = SendProgress(FAR)
            paid = await tried(to, order(), progress)

        assert isinstance(read, ProviderError)
        if which == "expired":
            assert isinstance(paid, Unreachable)
            assert (paid.reason, progress.bytes_left) == ("certificate_expired", False)
        else:
            assert isinstance(paid, Unavailable if progress.bytes_left else Unreachable)
        assert bank.requests == []

    run(refused())


def test_a_new_certificate_is_used_without_a_restart(run: Run, authority: Authority):
    """The connection kept from the previous certificate is not used again."""

    async def renewed() -> None:
        shown: list[str] = []

        async def says(line: Line) -> None:
            subject = dict(part[0] for part in line.writer.get_extra_info("peercert")["subject"])
            shown.append(subject["commonName"])
            await line.say(answer())

        bank = ScriptedBank(says, keeps=True)
        files = ours(authority, "good")
        async with (
            standing(bank, ssl=authority.server(clients=authority)),
            road(https(bank), files) as to,
        ):
            await tried(to, order())
            Path(files.cert_file).write_bytes(authority.sign("renewed").read_bytes())
            assert to._credentials is not None
            to._credentials._check_at = 0.0  # a second later
            await tried(to, order())
        assert shown == ["we", "renewed"]

    run(renewed())


@versions
def test_an_answer_without_a_length_ends_with_the_tls_connection(
    run: Run, authority: Authority, version: str
):
    async def closes() -> None:
        bank = ScriptedBank(saying(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 50_000))
        async with (
            standing(bank, ssl=authority.server(version=version)),
            road(https(bank), ours(authority, "missing")) as to,
        ):
            found = await tried(to, READ)

        assert isinstance(found, ProviderAnswer)
        assert len(found.body) == 50_000

    run(closes())


@versions
def test_an_answer_cut_without_a_tls_close_is_an_error(
    run: Run, authority: Authority, version: str
):
    """An attacker could cut a connection; only the bank itself can end its answer."""

    async def cut() -> None:
        said = asyncio.Event()

        async def says(line: Line) -> None:
            await line.say(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 500)
            said.set()

        bank = ScriptedBank(says, keeps=True)
        async with (
            standing(bank, ssl=authority.server(version=version)),
            Cutting(bank.port, said) as between,
            road(f"https://127.0.0.1:{between.port}", ours(authority, "missing")) as to,
        ):
            found = await tried(to, READ)

        assert isinstance(found, BadReply)
        assert found.reason == "answer_cut_short"

    run(cut())


@versions
def test_a_name_only_in_the_common_name_is_refused(run: Run, authority: Authority, version: str):
    async def common() -> None:
        bank = ScriptedBank(saying(answer()))
        secure = authority.server(version=version, names=())
        async with (
            standing(bank, ssl=secure),
            road(f"https://localhost:{bank.port}", ours(authority, "missing")) as to,
        ):
            found = await tried(to, READ)

        assert isinstance(found, Unreachable)
        assert (found.reason, bank.requests) == ("tls_failed", [])

    run(common())


@versions
def test_a_bank_with_a_certificate_of_another_authority_is_sent_nothing(
    run: Run, authority: Authority, version: str
):
    async def stranger() -> None:
        bank = ScriptedBank(saying(answer()))
        secure = Authority(authority.folder, "stranger").server(version=version)
        async with standing(bank, ssl=secure), road(https(bank), ours(authority, "good")) as to:
            progress = SendProgress(FAR)
            found = await tried(to, order(), progress)

        assert isinstance(found, Unreachable)
        assert (found.reason, progress.bytes_left, bank.requests) == ("tls_failed", False, [])

    run(stranger())
