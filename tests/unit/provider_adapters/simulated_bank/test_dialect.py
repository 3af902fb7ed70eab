"""A bank in another dress: same books, own paths, credentials, refusals and callbacks."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from provider_adapters.simulated_bank.dialect import (
    Admission,
    BankRequest,
    Callback,
    Dialect,
    Row,
)
from provider_adapters.simulated_bank.kernel import accounts, listeners
from provider_adapters.simulated_bank.kernel.accounts import PayoutKind
from provider_adapters.simulated_bank.kernel.books import BankIdentity
from provider_adapters.simulated_bank.kernel.refusals import Code, Refusal
from provider_adapters.simulated_bank.messages import Answer
from provider_adapters.simulated_bank.server import SimulatedBank


def authenticate(request):
    found = accounts.by_token(request.books, request.headers.get("X-Key", ""))
    if found is None:
        raise Refusal(Code.UNAUTHORIZED, "who is this?")
    return found


def admit(books, _, given):
    key = given.text("key", "") or books.random_hex(4)
    return Admission(token=key, credentials={"client": "c", "key": key})


def balance(request):
    held = accounts.balance(request.books, request.account.id)
    return Answer(document={"cents": held.owned, "at": request.target})


def listen(request):
    url, secret = request.body.text("to"), request.body.text("secret")
    listeners.add(request.books, request.account.id, url, secret)
    return Answer(document=None, status=204)


def callback(_, event, to):
    if event.kind is not listeners.EventKind.CHARGE:
        return None
    body = json.dumps({"paid": event.subject}).encode()
    return Callback(url=f"{to.url}/charge", body=body, headers={"X-Secret": to.secret})


HELLO = Answer(document=b"hi", content_type="text/plain")
OTHER = Dialect(
    identity=BankIdentity(name="Outro", ispb="12345678", compe="321", host="pix.outro.example"),
    rows=(
        Row("GET", "/api/balance", "balance", balance),
        Row("PUT", "/api/hook", "callbacks", listen),
        Row(
            "GET",
            "/api/hello",
            "access",
            lambda _: Answer(document=b"hi", content_type="text/plain"),
            is_open=True,
        ),
        Row("GET", "/api/nobody", "access", balance, is_open=True),
    ),
    authenticate=authenticate,
    refusal=lambda problem: Answer(document={"errors": [problem.code]}, status=problem.status),
    payout=lambda record: {"id": record.id},
    callback=callback,
    admit=admit,
    payout_kind=PayoutKind.DUP,
    secret_headers=frozenset({"x-key"}),
)


@pytest.fixture
async def bank(tmp_path, wall):
    running = SimulatedBank(
        dialect=OTHER, db_path=str(tmp_path / "other.db"), port=0, control_port=0, now=wall
    )
    await running.start()
    yield running
    await running.close()


@pytest.fixture
async def http():
    async with aiohttp.ClientSession() as session:
        yield session


async def control(bank, http, method, path, body=None):
    url = f"http://127.0.0.1:{bank.control_port}/control{path}"
    async with http.request(method, url, json=body) as answer:
        return await answer.json()


async def ask(bank, http, method, path, key="", **more):
    url = f"http://127.0.0.1:{bank.port}{path}"
    async with http.request(method, url, headers={"X-Key": key}, **more) as answer:
        return answer.status, await answer.text()


NEW = {"name": "Loja", "tax_number": "11222333000181", "balance": 5, "id": "cc_1"}


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
        async with asyncio.timeout(5):
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
