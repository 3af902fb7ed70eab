"""What several tests of dialect share."""

from __future__ import annotations

import json

import aiohttp
import pytest

from provider_adapters.testing.bank.dialect import (
    Admission,
    Callback,
    Dialect,
    Row,
)
from provider_adapters.testing.bank.kernel import accounts, listeners
from provider_adapters.testing.bank.kernel.accounts import PayoutKind
from provider_adapters.testing.bank.kernel.books import BankIdentity
from provider_adapters.testing.bank.kernel.refusals import Code, Refusal
from provider_adapters.testing.bank.messages import Answer
from provider_adapters.testing.bank.server import SimulatedBank


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


OTHER = Dialect(
    identity=BankIdentity(name="Outro", ispb="12345678", compe="321", host="pix.outro.example"),
    rows=(
        Row("GET", "/api/balance", "balance", balance),
        Row("PUT", "/api/hook", "callbacks", listen),
        Row(
            "GET",
            "/api/hello",
            "access",
            lambda _: Answer(document=b"hi", headers={"Content-Type": "text/plain"}),
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
