"""A gateway whose network lets nothing out but by a proxy."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from yarl import URL

from gateway.config.settings import Settings
from gateway.config.upstream import Proxy
from gateway.config.values import Secret
from tests.world.banks.connect_proxy import YES, ConnectProxy, proxying
from tests.world.gateway.world import opened, order, patient, sandbox

PASSWORD = "a-password-of-the-proxy"


def behind(proxy: ConnectProxy, folder: Path) -> Settings:
    """Return a sandbox whose bank is reached by the proxy alone."""
    settings = patient(sandbox(folder))
    provider = settings.providers["sandbox"]
    proxy.to = URL(str(provider.settings["base_url"])).port or 0
    way = Proxy(url=f"http://127.0.0.1:{proxy.port}", user="us", password=Secret(PASSWORD))
    changed = msgspec.structs.replace(provider, proxy=way)
    return msgspec.structs.replace(settings, providers={"sandbox": changed})


@pytest.mark.parametrize("says", [b"HTTP/1.1 407 Who\r\n\r\n", b""])
async def test_what_the_proxy_did_not_let_out_was_not_sent(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], says: bytes
):
    """502 ``SVC.ACC.005``; the same reference pays, once, when the proxy does its work again."""
    async with proxying(ConnectProxy(0)) as proxy, opened(behind(proxy, tmp_path)) as world:
        sent = order("by-proxy", world.today())
        proxy.says = says
        refused = await world.pay(sent)
        before = await world.executions("by-proxy")
        proxy.says = YES
        paid = await world.pay(sent)
        settled = await world.settled("by-proxy")
        executed = await world.executions("by-proxy")

    assert refused.verdict == (502, "SVC.ACC.005")
    assert before == []
    assert paid.status == 200
    assert (settled["status"], executed) == ("paid", [1050])
    assert all(head.startswith(b"CONNECT 127.0.0.1:%d " % proxy.to) for head in proxy.asked)
    assert PASSWORD not in "".join(capfd.readouterr())
