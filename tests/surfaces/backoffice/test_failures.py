"""A bank that fails: each route answers with its own code."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.world.backoffice.client import BackofficeClient
from tests.world.gateway.world import World

SHARED = pytest.mark.asyncio(loop_scope="module")


@dataclass(frozen=True)
class Asking:
    """
    One way to ask a bank.

    Attributes:
        operation: As the bank's faults name it.
        code: Of the endpoint's own 502.
    """

    name: str
    method: str
    path: str
    body: Callable[[BackofficeClient], object] | None
    operation: str
    code: str


def days(backoffice_client: BackofficeClient) -> dict[str, str]:
    return {"init": backoffice_client.world.today(), "ends": backoffice_client.world.today()}


def charge(_desk: BackofficeClient) -> object:
    key = "loja@example.com"
    return {"reference": uuid.uuid4().hex, "type": "Dynamic", "key": key, "value": 1}


def key(_desk: BackofficeClient) -> object:
    return {"type": "email", "key": f"{uuid.uuid4().hex}@example.com"}


def lookup(_desk: BackofficeClient) -> object:
    return {"key": "maria@example.com"}


BALANCE = Asking("balance", "GET", "/balance", None, "balance", "SVC.ACC.006")
ASKINGS = [
    BALANCE,
    Asking("blocks", "GET", "/blocks", None, "balance", "SVC.ACC.006"),
    Asking("statement", "GET", "/transactions?{days}", None, "statement", "SVC.ACC.007"),
    Asking("report", "GET", "/report?{days}&format=json", None, "statement", "SVC.ACC.007"),
    Asking("keys", "GET", "/pix/keys", None, "keys", "SVC.PIX.002"),
    Asking("key", "GET", "/pix/keys/{key}", None, "keys", "SVC.PIX.002"),
    Asking("qrcode", "GET", "/pix/qrcode/{paid}", None, "charge", "SVC.PIX.005"),
    Asking("received", "POST", "/pix/transactions/search", days, "payment", "SVC.PIX.007"),
    Asking("refunds", "POST", "/pix/refunds/search", days, "refund_read", "SVC.PIX.007"),
    Asking("refund", "GET", "/pix/refunds/any", None, "refund_read", "SVC.PIX.007"),
    Asking("lookup", "POST", "/pix/keys/lookup", lookup, "keys", "SVC.PIX.002"),
    Asking("new key", "POST", "/pix/keys", key, "keys", "SVC.PIX.002"),
    Asking("no key", "DELETE", "/pix/keys/{key}", None, "keys", "SVC.PIX.002"),
    Asking("charge", "POST", "/pix/qrcode", charge, "charge", "SVC.PIX.005"),
    Asking("no charge", "DELETE", "/pix/qrcode/{pending}", None, "charge", "SVC.PIX.005"),
]

FAULTS = ["refuse", "reset_before", "status", "malformed", "wrong_types"]
FAILING = [(each, "status") for each in ASKINGS]
FAILING += [(BALANCE, each) for each in FAULTS if each != "status"]
"""Each endpoint with one fault, and one endpoint with each."""


async def ask(backoffice_client: BackofficeClient, asking: Asking, account: str = "main") -> Any:
    demo = backoffice_client.world.demo
    path = asking.path.format(
        days="init={init}&ends={ends}".format(**days(backoffice_client)),
        key=demo["pix_keys"]["main"][0],
        paid=demo["charges"]["paid"],
        pending=demo["charges"]["pending"],
    )
    body = asking.body(backoffice_client) if asking.body else None
    return await backoffice_client.ask(asking.method, backoffice_client.at(path, account), body)


@SHARED
@pytest.mark.parametrize(
    ("asking", "fault"), FAILING, ids=[f"{asking.name} {fault}" for asking, fault in FAILING]
)
async def test_a_failing_bank_has_the_endpoints_own_code(
    backoffice_client: BackofficeClient, asking: Asking, fault: str
):
    """502 with Retry-After, for any cause, without the bank's words."""
    async with backoffice_client.world.failing(asking.operation, fault):
        answer = await ask(backoffice_client, asking)

    assert answer.verdict == (502, asking.code)


@SHARED
async def test_a_silent_bank_has_the_endpoints_own_code(hurried_world: World):
    async with hurried_world.failing("balance", "hang"):
        answer = await ask(BackofficeClient(hurried_world), BALANCE)

    assert answer.verdict == (502, BALANCE.code)
