"""Through a proxy, on both loops: each account's own TLS with the bank, as without one."""

from __future__ import annotations

import json
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from cryptography import x509

from gateway.banks.client.messages import (
    Identity,
    Kind,
    ProviderAnswer,
    ProviderRequest,
    SendProgress,
)
from gateway.banks.client.tls import TlsFiles, TlsSetup
from gateway.banks.client.transport import AccountTransports, HttpTransport
from gateway.core.account import Environment
from gateway.net.common.runtime import Proxy, Runtime
from provider_adapters.kit.limits import ClientLimits
from tests.proofs.transport.conftest import Run
from tests.proofs.transport.plays import echoing
from tests.world.banks.authority import Authority
from tests.world.banks.connect_proxy import YES, ConnectProxy, proxying
from tests.world.banks.roads import FAR, marks, order, tried
from tests.world.banks.scripted import Line, ScriptedBank, answer, standing

NAME = "bank.example"
ACCOUNTS = ("ana", "bia")
ORDERS = 60
LIMITS = ClientLimits(connect_s=20.0, payout_connections=1)


async def who(line: Line) -> None:
    """Answer with the name in the certificate that was shown, and much beside it."""
    subject = dict(part[0] for part in line.writer.get_extra_info("peercert")["subject"])
    await line.say(answer(json.dumps({"we": subject["commonName"], "x": "x" * 50_000}).encode()))


def asked(identity: Identity, *, pays: bool) -> ProviderRequest:
    return ProviderRequest(
        operation="x",
        method="POST" if pays else "GET",
        template="/",
        path="/",
        kind=Kind.PAYOUT if pays else Kind.READ,
        identity=identity,
    )


@pytest.mark.parametrize("version", ["1.2", "1.3"])
def test_each_account_shows_its_own_certificate_to_the_bank(run: Run, tmp_path: Path, version: str):
    """The proxy uses no certificate or name of its own; TLS sessions work as without it."""
    authority = Authority(tmp_path)
    secure = authority.server(clients=authority, version=version, names=[x509.DNSName(NAME)])
    people = [Identity(account_id=each, pair=authority.pair(each)) for each in ACCOUNTS]
    told: list[str] = []

    async def calls() -> None:
        async with AsyncExitStack() as opened:
            bank = ScriptedBank(who, keeps=True)
            await opened.enter_async_context(standing(bank, ssl=secure))
            proxy = await opened.enter_async_context(proxying(ConnectProxy(bank.port)))
            runtime = Runtime(proxy=Proxy(host="127.0.0.1", port=proxy.port))
            setup = TlsSetup(files=TlsFiles(ca_file=str(authority.file)), certificate_required=True)
            to = AccountTransports(
                f"https://{NAME}:{bank.port}", LIMITS, Environment.PRODUCTION, runtime, setup
            )
            await to.start()
            opened.push_async_callback(to.close)
            for pays in (False, True, False, True):
                for each in people:
                    progress = SendProgress(FAR if pays else None)
                    found = await to.call(asked(each, pays=pays), progress)
                    told.append(json.loads(found.body)["we"])
            assert all(NAME.encode() in head for head in proxy.asked)

    run(calls())

    assert told == [*ACCOUNTS] * 4


@pytest.mark.parametrize("how", ["refuses", "hangs up", "loses the bank"])
def test_a_proxy_that_sometimes_fails_loses_and_doubles_no_payout(run: Run, how: str):
    """Calls reported as unsent never arrived, and answered ones arrived once."""

    async def pay() -> None:
        bank = ScriptedBank(echoing, keeps=True)
        async with standing(bank), proxying(ConnectProxy(bank.port)) as proxy:
            runtime = Runtime(proxy=Proxy(host="127.0.0.1", port=proxy.port))
            to = HttpTransport(
                f"http://{NAME}:{bank.port}", ClientLimits(), Environment.SANDBOX, runtime
            )
            await to.start()
            told = [await paid(to, proxy, mark, how) for mark in range(ORDERS)]
            await to.close()

        good = [mark for mark in range(ORDERS) if mark % 3]
        assert sorted(marks(bank.requests)) == good
        assert [mark for mark in range(ORDERS) if told[mark] == "paid"] == good
        # A proxy that has said yes was sent the order: it could have passed it on.
        assert set(told[::3]) == {"unknown" if how == "loses the bank" else "not sent"}

    run(pay())


async def paid(to: HttpTransport, proxy: ConnectProxy, mark: int, how: str) -> str:
    """Pay through a proxy that fails every third time; return the reported outcomes."""
    reaches, proxy.says = proxy.to, YES
    if not mark % 3:
        proxy.to = 1 if how == "loses the bank" else reaches
        proxy.says = {"refuses": b"HTTP/1.1 503 Busy\r\n\r\n", "hangs up": b""}.get(how, YES)
    progress = SendProgress(FAR)
    found = await tried(to, order(mark), progress)
    proxy.to = reaches
    if isinstance(found, ProviderAnswer):
        assert json.loads(found.body) == {"mark": mark}
        return "paid"
    return "unknown" if progress.bytes_left else "not sent"
