"""The proxies of deploy, in front of servers that say what they were sent, or nothing."""

from __future__ import annotations

import json
import ssl
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from gateway.core.errors import CATALOGUE
from tests.servers.echo import echoing
from tests.servers.front import FRONTS, Front, Node, haproxy
from tests.servers.process import free_port
from tests.world.banks.authority import Authority
from tests.world.waiting import until

SECRET = "CANARY"
LIES = {"X-Forwarded-For": "198.51.100.77", "Client-Cert": ":MIIB:", "Authorization": SECRET}
METHODS = ("GET", "POST")
NONE = Node(port=1, ops=1)
"""Where nobody listens."""


async def send(front: Front, method: str, path: str, **headers: str) -> tuple[int, Any, str]:
    """Call; return status, document and the trace id of the header."""
    connector = aiohttp.TCPConnector(ssl=False)
    async with (
        aiohttp.ClientSession(connector=connector) as session,
        session.request(method, front.url + path, headers=headers) as said,
    ):
        return said.status, json.loads(await said.read()), said.headers["X-Trace-ID"]


@pytest.mark.parametrize("name", FRONTS)
async def test_headers_of_a_caller_about_itself_are_dropped_and_no_secret_is_logged(
    tmp_path: Path, name: str
):
    node = Node(port=(port := free_port()), ops=port)
    certificate = Authority(tmp_path).sign("proxy")
    path = f"/callbacks/bank/{SECRET}?key={SECRET}"
    async with echoing(port):
        with FRONTS[name](node, node, certificate) as front:
            await until(lambda: answers(front))
            _, told, _ = await send(front, "POST", path, **LIES, **{"X-Trace-ID": "ours-1"})
            _, again, made = await send(front, "GET", "/a", **{"X-Trace-ID": "not ours"})
            logged = await until(lambda: whole_log(front, made, '"trace_id":"ours-1"'))

    headers = {key.lower(): value for key, value in told["headers"].items()}
    assert (headers["x-forwarded-for"], headers.get("client-cert")) == ("127.0.0.1", None)
    assert (told["url"], headers["x-trace-id"]) == (path, "ours-1")
    assert again["headers"]["X-Trace-ID" if name == "nginx" else "x-trace-id"] == made != "not ours"
    assert SECRET not in logged


@pytest.mark.parametrize("name", FRONTS)
async def test_tls_before_1_3_is_refused(tmp_path: Path, name: str):
    certificate = Authority(tmp_path).sign("proxy")
    with FRONTS[name](NONE, NONE, certificate) as front:
        old, new = ssl.create_default_context(), ssl.create_default_context()
        old.maximum_version = ssl.TLSVersion.TLSv1_2
        for each in (old, new):
            each.check_hostname, each.verify_mode = False, ssl.CERT_NONE
        async with aiohttp.ClientSession() as session:
            with pytest.raises(aiohttp.ClientConnectorError):
                await session.get(front.url, ssl=old)
            async with session.get(front.url, ssl=new) as said:
                status = said.status

    assert status in {500, 503}


@pytest.mark.parametrize("name", FRONTS)
async def test_errors_from_the_proxy_itself_match_the_contract(tmp_path: Path, name: str):
    """With no server, and with a server that hangs up, where only reads are tried once more."""
    known = {(error.code, error.status, error.message) for error in CATALOGUE}
    certificate = Authority(tmp_path).sign("proxy")
    node = Node(port=(port := free_port()), ops=port)
    found = []
    with ExitStack() as fronts:
        nobody = fronts.enter_context(FRONTS[name](NONE, NONE, certificate))
        found += [await send(nobody, method, "/x", **{"X-Trace-ID": "t-1"}) for method in METHODS]
        async with echoing(port):
            front = fronts.enter_context(FRONTS[name](node, node, certificate))
            await until(lambda: answers(front))
            found += [await send(front, method, "/dies") for method in METHODS]
            tried = [
                await until(lambda method=method: attempts(front, method)) for method in METHODS
            ]

    wrong = [
        each
        for each in found
        if (each[1]["code"], each[0], each[1]["message"]) not in known
        or each[1]["trace_id"] != each[2]
    ]
    assert wrong == []
    assert [status for status, _, _ in found[2:]] == [500, 500]
    assert tried[0] > tried[1] == 1


async def answers(front: Front) -> bool:
    """Say whether a server behind it is asked already."""
    return (await send(front, "POST", "/"))[0] == 200


def whole_log(front: Front, *wanted: str) -> str:
    """Return the log once it holds what is wanted; a proxy may write it after it has answered."""
    log = front.log.read_text()
    return log if all(each in log for each in wanted) else ""


def attempts(front: Front, method: str) -> int:
    """
    Return how often a request for ``/dies`` was sent to a server; 0 while nothing is logged.

    A proxy may write its line after the caller has the answer.
    """
    whole, _, _ = front.log.read_text().rpartition("\n")
    lines = [json.loads(line) for line in whole.splitlines() if line[0] == "{"]
    found = [each for each in lines if (each["method"], each["path"]) == (method, "/dies")]
    if not found:
        return 0
    (line,) = found
    return 1 + int(line["retries"]) if "retries" in line else line["tried"].count(",") + 1


async def test_the_proxy_s_metrics_have_their_own_address(tmp_path: Path):
    """No other path is served at that address."""
    node = Node(port=(port := free_port()), ops=port)
    async with echoing(port), aiohttp.ClientSession() as session:
        with haproxy(node, node, Authority(tmp_path).sign("proxy")) as front:
            await until(lambda: answers(front))
            _, told, _ = await send(front, "GET", "/metrics")
            async with session.get(front.metrics) as figures:
                text = await figures.text()
            async with session.get(front.metrics + "/../x") as other:
                status = other.status

    assert told["url"] == "/metrics"
    assert 'haproxy_backend_active_servers{proxy="gateways"} 2' in text
    assert status == 404
