"""A bank in another dress: same books, own paths, credentials, refusals and callbacks."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from provider_adapters.testing.bank.dialect import (
    BankRequest,
)
from provider_adapters.testing.bank.kernel.refusals import Refusal
from provider_adapters.testing.bank.messages import Answer
from provider_adapters.testing.bank.server import SimulatedBank
from tests.unit.provider_adapters.testing.bank.dialect import NEW, OTHER, ask, bank, control, http

__all__ = ["bank", "http"]

HELLO = Answer(document=b"hi", headers={"Content-Type": "text/plain"})


async def test_an_account_has_the_credentials_and_coordinates_of_this_bank(bank, http):
    made = await control(bank, http, "POST", "/accounts", {**NEW, "key": "k-1"})

    assert made["credentials"] == {"client": "c", "key": "k-1"}
    assert (made["bank_number"], made["ispb"], made["payout_kind"]) == ("321", "12345678", "dup")
    assert await ask(bank, http, "GET", "/api/balance?x=1", "k-1") == (
        200,
        '{"cents":500,"at":"/api/balance?x=1"}',
    )


async def test_a_callback_goes_where_and_how_this_bank_sends_it(bank, http):
    came = asyncio.Queue()

    async def receive(request):
        await came.put((request.path, request.headers["X-Secret"], await request.json()))
        return web.Response()

    app = web.Application()
    app.router.add_post("/{rest:.*}", receive)
    async with TestServer(app) as server:
        url = str(server.make_url("/hook"))
        await control(bank, http, "POST", "/accounts", {**NEW, "key": "k-1"})
        body = {"to": url, "secret": "s-1"}
        assert (await ask(bank, http, "PUT", "/api/hook", "k-1", json=body)) == (204, "")
        await control(bank, http, "POST", "/accounts/cc_1/keys", {"type": "evp"})
        charge = {"reference": "c-1", "value": 1, "state": "paid"}
        await control(bank, http, "POST", "/accounts/cc_1/charges", charge)
        path, secret, said = await came.get()
    assert (path, secret) == ("/hook/charge", "s-1")
    assert said["paid"].startswith("E12345678")


async def test_its_charges_and_end_to_end_ids_are_its_own(bank, http):
    await control(bank, http, "POST", "/accounts", NEW)
    await control(bank, http, "POST", "/accounts/cc_1/keys", {"type": "evp"})
    made = await control(
        bank, http, "POST", "/accounts/cc_1/charges", {"reference": "c-1", "value": 1}
    )
    paid = await control(bank, http, "POST", "/charges/c-1/pay", {})

    assert "pix.outro.example/qr/v2/" in made["emv"]
    assert paid["e2e_id"].startswith("E12345678")


def test_a_request_that_is_nobodys_has_no_account():
    request = BankRequest(
        books=None, method="GET", target="/", path={}, query=None, headers=None, raw=b"{}"
    )

    with pytest.raises(Refusal, match="credentials"):
        _ = replace(request, raw=b"").account


@pytest.fixture
async def two_hosts(tmp_path, wall):
    """A bank with its open call at a second host."""
    rows = [replace(row, at_token_host=row.is_open) for row in OTHER.rows]
    running = SimulatedBank(
        dialect=replace(OTHER, rows=rows),
        db_path=str(tmp_path / "two.db"),
        port=0,
        control_port=0,
        now=wall,
    )
    await running.start()
    yield running
    await running.close()


async def test_what_a_second_host_has_is_found_there_alone(two_hosts, http):
    await control(two_hosts, http, "POST", "/accounts", {**NEW, "key": "k-1"})

    async def status(url, method, path):
        async with http.request(method, url + path, headers={"X-Key": "k-1"}) as answer:
            return answer.status

    first, second = two_hosts.url, two_hosts.token_url
    assert first != second
    assert [await status(url, "GET", "/api/balance") for url in (first, second)] == [200, 404]
    assert [await status(url, "GET", "/api/hello") for url in (first, second)] == [404, 200]
    calls = (await control(two_hosts, http, "GET", "/calls"))["data"]
    assert len(calls) == 4


async def test_a_bank_that_refuses_connections_does_so_at_both_hosts(two_hosts, http):
    fault = {"operation": "*", "fault": "refuse", "count": None}
    urls = (two_hosts.url, two_hosts.token_url)

    assert (await control(two_hosts, http, "POST", "/faults", fault))["fault"] == "refuse"
    for url in urls:
        with pytest.raises(aiohttp.ClientConnectorError):
            await http.get(url)
    await control(two_hosts, http, "DELETE", "/faults")

    assert (two_hosts.url, two_hosts.token_url) == urls
    assert [(await http.get(url)).status for url in urls] == [404, 404]
