"""A peer that was not written for a test: Debian's nginx, plain and over TLS."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.domain.providers import ProviderError, Unreachable
from provider_adapters._shared.messages import ProviderAnswer
from provider_adapters._shared.passage import Passage
from provider_adapters._shared.wire.tls import TlsFiles
from tests.contract.transport.conftest import Run
from tests.contract.transport.roads import FAR, READ, order, road, tried
from tests.servers import nginx
from tests.servers.nginx import Nginx
from tests.servers.process import free_port
from tests.unit.provider_adapters.authority import Authority
from tests.unit.provider_adapters.scripted import ScriptedBank, saying

UPSTREAM = free_port()
REQUESTS = 7


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def peer(authority: Authority) -> Iterator[Nginx]:
    with nginx.running(
        authority=authority.file,
        server=authority.sign("bank"),
        upstream=UPSTREAM,
        requests=REQUESTS,
    ) as standing:
        yield standing


def test_calls_go_on_while_nginx_ends_a_connection_every_few_of_them(run: Run, peer: Nginx):
    async def calls() -> None:
        async with road(f"http://127.0.0.1:{peer.plain}") as to:
            found = [await tried(to, order(mark)) for mark in range(100)]

        assert {one.status for one in found if isinstance(one, ProviderAnswer)} == {200}
        assert not [one for one in found if isinstance(one, ProviderError)]

    run(calls())


def test_a_connection_nginx_has_given_up_is_noticed(run: Run, peer: Nginx):
    """It keeps one for a second; at the edge of it a payout must not go astray."""

    async def edge() -> None:
        async with road(f"http://127.0.0.1:{peer.plain}") as to:
            for pause in (0.9, 0.99, 1.0, 1.01, 1.1):
                await tried(to, READ)
                await asyncio.sleep(pause)
                found = await tried(to, order())

                assert isinstance(found, ProviderAnswer), pause

    run(edge())


@pytest.mark.parametrize(
    ("path", "status", "body"),
    [
        ("/empty", 204, b""),
        ("/away", 307, None),
        ("/nobody", 502, None),
        ("/", 200, b'{"kind": "plain"}'),
    ],
)
def test_what_nginx_answers_is_read(
    run: Run, peer: Nginx, path: str, status: int, body: bytes | None
):
    async def twice() -> None:
        async with road(f"http://127.0.0.1:{peer.plain}") as to:
            for _ in range(2):
                found = await tried(to, replace(READ, path=path))

                assert isinstance(found, ProviderAnswer)
                assert found.status == status
                assert body is None or found.body == body
            assert to._open is not None
            assert len(to._open.pool) == 1

    run(twice())


def test_a_body_of_unknown_length_comes_in_chunks(run: Run, peer: Nginx):
    body = b"[" + b"1," * 100_000 + b"1]"

    async def chunks() -> None:
        bank = ScriptedBank(saying(b"HTTP/1.0 200 OK\r\n\r\n" + body))
        server = await asyncio.start_server(bank, "127.0.0.1", UPSTREAM)
        async with server, road(f"http://127.0.0.1:{peer.plain}") as to:
            for _ in range(3):
                found = await tried(to, replace(READ, path="/chunked"))

                assert isinstance(found, ProviderAnswer)
                assert found.headers["transfer-encoding"] == "chunked"
                assert found.body == body
        await bank.stop()

    run(chunks())


def test_a_body_nginx_does_not_want(run: Run, peer: Nginx):
    """It answers 413 by the head and closes while we are still writing."""

    async def large() -> None:
        async with road(f"http://127.0.0.1:{peer.plain}") as to:
            found = await tried(to, replace(order(), body=b"x" * 4_000_000))

        if isinstance(found, ProviderAnswer):
            assert found.status == 413
        else:
            assert found.reason == "connection_lost"  # the reset may overtake the answer

    run(large())


@pytest.mark.parametrize("version", ["1.2", "1.3"])
@pytest.mark.parametrize("which", ["good", "missing", "stranger"])
def test_certificates(run: Run, peer: Nginx, authority: Authority, version: str, which: str):
    """Nginx lets everybody shake hands, and refuses by an answer."""
    port = {"1.2": peer.tls12, "1.3": peer.tls13}[version]
    stranger = Authority(authority.folder, "stranger")
    files = {
        "good": TlsFiles(ca_file=str(authority.file), cert_file=str(authority.sign("we"))),
        "missing": TlsFiles(ca_file=str(authority.file)),
        "stranger": TlsFiles(ca_file=str(authority.file), cert_file=str(stranger.sign("they"))),
    }[which]

    async def calls() -> None:
        async with road(f"https://127.0.0.1:{port}", files) as to:
            found = [await tried(to, order(mark)) for mark in range(10)]

        for one in found:
            assert isinstance(one, ProviderAnswer)
            assert one.status == (200 if which == "good" else 400)
            if which == "good":
                assert json.loads(one.body) == {"tls": f"TLSv{version}", "we": "CN=we"}

    run(calls())


def test_nginx_s_own_certificate_must_be_known(run: Run, peer: Nginx, tmp_path: Path):
    async def unknown() -> None:
        trusting = TlsFiles(ca_file=str(Authority(tmp_path).file))
        async with road(f"https://127.0.0.1:{peer.tls13}", trusting) as to:
            passage = Passage(FAR)
            found = await tried(to, order(), passage)

        assert isinstance(found, Unreachable)
        assert (found.reason, passage.bytes_left) == ("tls_failed", False)

    run(unknown())
