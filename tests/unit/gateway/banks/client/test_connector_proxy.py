"""Through a proxy or not at all, and never a byte of the request before the way is open."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from cryptography import x509

from gateway.banks.client.messages import Kind, ProviderRequest, SendProgress
from gateway.banks.client.tls import TlsFiles
from gateway.banks.client.transport import HttpTransport
from gateway.banks.port.providers import Reason, Unreachable
from gateway.core.account import Environment
from gateway.core.clocks import Deadline
from gateway.net.common.names import HostNames
from gateway.net.common.runtime import Proxy, Runtime
from provider_adapters.kit.limits import ClientLimits
from tests.world.banks.authority import Authority
from tests.world.banks.connect_proxy import YES, ConnectProxy, proxying
from tests.world.banks.scripted import ScriptedBank, answer, saying, standing
from tests.world.waiting import until

LIMITS = ClientLimits(connect_s=60.0)
NAME = "bank.example"
FAR = Deadline(60.0, lambda: 0.0)
READ = ProviderRequest(operation="x", method="GET", template="/", path="/")
ORDER = ProviderRequest(
    operation="create_payout",
    method="POST",
    template="/",
    path="/",
    body=b'{"secret": 1}',
    kind=Kind.PAYOUT,
)
AUTHORIZATION = "Basic dXM6c2VjcmV0"
NO = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"


def unknown(host: str) -> tuple[str, ...]:
    """No name is known here: the proxy alone knows the bank's."""
    message = f"{host} was looked up"
    raise OSError(message)


@asynccontextmanager
async def through(
    proxy: ConnectProxy, bank: ScriptedBank, tls: TlsFiles | None = None, **limits: float
) -> AsyncIterator[HttpTransport]:
    scheme = "https" if tls else "http"
    way = Runtime(
        names=HostNames(look_up=unknown),
        proxy=Proxy(host="127.0.0.1", port=proxy.port, authorization=AUTHORIZATION),
    )
    to = HttpTransport(
        f"{scheme}://{NAME}:{bank.port}",
        ClientLimits(**{"connect_s": 60.0, **limits}),
        Environment.PRODUCTION,
        way,
        tls,
    )
    await to.start()
    try:
        yield to
    finally:
        await to.close()


@asynccontextmanager
async def street(says: bytes | None = YES, **options: object) -> AsyncIterator[tuple]:
    """Have a bank, and a proxy in front of it."""
    async with AsyncExitStack() as opened:
        bank = ScriptedBank(saying(answer()), keeps=True)
        await opened.enter_async_context(standing(bank, **options))
        proxy = ConnectProxy(bank.port, says)
        await opened.enter_async_context(proxying(proxy))
        yield bank, proxy


async def test_the_proxy_is_asked_to_connect_to_the_bank_by_name():
    async with street() as (bank, proxy), through(proxy, bank) as to:
        found = await to.call(READ, SendProgress())
        again = await to.call(READ, SendProgress())

    assert (found.status, again.status) == (200, 200)
    assert proxy.asked == [
        b"CONNECT %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: pixgate\r\n"
        b"Proxy-Authorization: %s\r\n\r\n"
        % (*[f"{NAME}:{bank.port}".encode()] * 2, AUTHORIZATION.encode())
    ]
    assert all(b"Authorization" not in request for request in bank.requests)


async def test_tls_ends_at_the_bank_and_the_proxy_sees_ciphertext_alone(tmp_path: Path):
    """The certificate has the bank's name, and the bank gets ours."""
    ours, banks = Authority(tmp_path, "ours"), Authority(tmp_path, "banks")
    secure = banks.server(clients=ours, names=[x509.DNSName(NAME)])
    tls = TlsFiles(ca_file=str(banks.file), cert_file=str(ours.sign("gateway")))
    async with street(ssl=secure) as (bank, proxy), through(proxy, bank, tls) as to:
        found = await to.call(ORDER, SendProgress(FAR))
        await to.call(READ, SendProgress())

    assert found.status == 200
    assert len(bank.requests) == 2
    assert proxy.passed
    assert b"secret" not in proxy.passed
    assert b"dXM6" not in proxy.passed


@pytest.mark.parametrize(
    ("names", "shown"),
    [([x509.DNSName("proxy.example")], True), ([x509.DNSName(NAME)], False)],
    ids=["another name", "no certificate of ours"],
)
async def test_a_bank_with_an_invalid_certificate_behind_a_proxy_is_sent_nothing(
    tmp_path: Path, names: list, shown: bool
):
    ours, banks = Authority(tmp_path, "ours"), Authority(tmp_path, "banks")
    secure = banks.server(clients=ours, names=names, version="1.2")
    cert = str(ours.sign("gateway")) if shown else ""
    tls = TlsFiles(ca_file=str(banks.file), cert_file=cert)
    progress = SendProgress(FAR)
    async with street(ssl=secure) as (bank, proxy), through(proxy, bank, tls) as to:
        with pytest.raises(Unreachable) as failed:
            await to.call(ORDER, progress)

    # A server may close before its alert is read, which says nothing of why.
    assert failed.value.reason in {
        Reason.TLS_FAILED,
        Reason.CERTIFICATE_REFUSED,
        Reason.CONNECT_FAILED,
    }
    assert not progress.bytes_left
    assert bank.requests == []


@pytest.mark.parametrize(
    ("says", "reason"),
    [
        (NO, Reason.PROXY_REFUSED),
        (NO + b"<html>", Reason.PROXY_REFUSED),
        (b"HTTP/1.1 502 Bad Gateway\r\n\r\n", Reason.PROXY_REFUSED),
        (b"HTTP/1.1 302 Found\r\nLocation: http://x/\r\n\r\n", Reason.PROXY_REFUSED),
        (b"HTTP/1.1 100 Continue\r\n\r\n", Reason.PROXY_REFUSED),
        (b"HTTP/2 200\r\n\r\n", Reason.PROXY_REFUSED),
        (b"SSH-2.0-OpenSSH_9\r\n\r\n", Reason.PROXY_REFUSED),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 9000, Reason.PROXY_REFUSED),
        (YES + b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", Reason.PROXY_REFUSED),
        (b"", Reason.PROXY_REFUSED),
        (b"HTTP/1.1 20", Reason.PROXY_REFUSED),
        (None, Reason.CONNECT_TIMEOUT),
    ],
)
async def test_a_refused_proxy_connection_proves_that_nothing_was_sent(
    says: bytes | None, reason: Reason
):
    limits = {"connect_s": 0.05} if says is None else {}
    async with street(says) as (bank, proxy), through(proxy, bank, **limits) as to:
        for request, progress in ((ORDER, SendProgress(FAR)), (READ, SendProgress())):
            with pytest.raises(Unreachable) as failed:
                await to.call(request, progress)
            assert len(to._pool._all) == 0

            assert failed.value.reason == reason
            assert not progress.bytes_left
            assert progress.evidence(failed.value).phase != "answered"

    assert bank.requests == []
    assert b"secret" not in proxy.passed


async def test_a_closed_proxy_port_proves_that_nothing_was_sent():
    progress = SendProgress(FAR)
    async with street() as (bank, proxy):
        nowhere = ConnectProxy(bank.port, port=1)
        async with through(nowhere, bank) as to:
            with pytest.raises(Unreachable) as failed:
                await to.call(ORDER, progress)

    assert failed.value.reason == Reason.CONNECT_FAILED
    assert not progress.bytes_left
    assert proxy.asked == []


async def test_a_call_cancelled_while_the_proxy_connects_sends_nothing():
    async with street(None) as (bank, proxy), through(proxy, bank) as to:
        calling = asyncio.ensure_future(to.call(ORDER, SendProgress(FAR)))
        await until(lambda: proxy.asked)
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling

        assert len(to._pool._all) == 0
    assert proxy.passed == b""


async def test_a_proxy_s_answer_in_several_segments_is_read():
    async with street(YES[:20]) as (bank, proxy):
        proxy.says = b"HTTP/1.1 200 OK\r\n" + b"X-Long: " + b"x" * 4000 + b"\r\n\r\n"
        async with through(proxy, bank) as to:
            assert (await to.call(READ, SendProgress())).status == 200


async def test_the_proxy_is_not_asked_for_a_private_address():
    """The proxy is inside our network, and would connect us there."""
    async with street() as (bank, proxy):
        way = Runtime(proxy=Proxy(host="127.0.0.1", port=proxy.port))
        to = HttpTransport(f"https://10.0.0.1:{bank.port}", LIMITS, Environment.PRODUCTION, way)
        await to.start()
        with pytest.raises(Unreachable) as failed:
            await to.call(READ, SendProgress())
        await to.close()

    assert failed.value.reason == Reason.DNS_FAILED
    assert proxy.asked == []
