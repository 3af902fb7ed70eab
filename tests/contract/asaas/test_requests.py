"""Every request of the adapter is one of the bank's collection."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from uuid import uuid4

import pytest

from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.payout_orders import PayoutOrder
from gateway.banks.port.pix_keys import KeyOrder, PixKeyType
from gateway.banks.port.provider_callbacks import CallbackOrder
from gateway.banks.port.providers import Accepted, ProviderAccount
from gateway.core.clocks import Deadline
from gateway.core.money import Money
from provider_adapters.asaas.adapter import AsaasAdapter
from provider_adapters.testing.stages import AsaasStage
from provider_adapters.testing.verify.relay import Relay
from provider_adapters.testing.verify.stage import Charge, ChargePaid, Received
from tests.contract.asaas.collection import corrected
from tests.world.banks.asaas import by_account, by_key, made
from tests.world.standing import around_today

JUDGE = corrected()
KEYED = {"access_token": "$aact_hmlg_1", "user-agent": "pixgate"}
SENT = KEYED | {"content-type": "application/json"}
SOON = Deadline(10.0, lambda: 0.0)
PAYOUT = frozenset({PortCall.CREATE_PAYOUT, PortCall.FIND_PAYOUT})


@dataclasses.dataclass(frozen=True)
class Judged:
    """The adapter and its bank, with a relay between that remembers the requests."""

    adapter: AsaasAdapter
    stage: AsaasStage
    relay: Relay

    @property
    def account(self) -> ProviderAccount:
        return self.stage.accounts[0]

    def targets(self) -> list[str]:
        return [f"{each.method} {each.path}" for each in self.relay.seen]

    def violations(self) -> list[str]:
        return [
            f"{each.method} {each.path}: {wrong}"
            for each in self.relay.seen
            for wrong in JUDGE.violations(each.method, each.path, headers(each.head), each.body)
        ]


def headers(head: bytes) -> dict[str, str]:
    lines = head.decode("latin-1").split("\r\n")[1:]
    pairs = (line.partition(":") for line in lines if line)
    return {name.lower(): value.strip() for name, _, value in pairs}


@pytest.fixture
async def judged() -> AsyncIterator[Judged]:
    stage = AsaasStage()
    await stage.start()
    try:
        relay = Relay(stage.address)
        async with relay.open():
            adapter = made({"base_url": relay.address})
            await adapter.start()
            try:
                yield Judged(adapter, stage, relay)
            finally:
                await adapter.close()
    finally:
        await stage.close()


async def balance(judged: Judged) -> None:
    await judged.adapter.get_balance(judged.account)


async def statement(judged: Judged) -> None:
    reference = await judged.stage.put(judged.account, Charge(value=Money(500)))
    await judged.stage.put(judged.account, ChargePaid(reference=reference))
    page = await judged.adapter.list_statement(judged.account, around_today(), None, 10)
    assert page.items
    assert any("paymentDate" in each for each in judged.targets())


async def charge(judged: Judged) -> None:
    order = judged.stage.charge_order("key")
    await judged.adapter.create_charge(judged.account, order)
    await judged.adapter.get_charge(judged.account, order.reference)
    await judged.stage.put(judged.account, ChargePaid(reference=order.reference))
    await judged.adapter.get_charge_payment(judged.account, order.reference)


async def cancelled(judged: Judged) -> None:
    order = dataclasses.replace(judged.stage.charge_order("key"), description="Pedido 1")
    await judged.adapter.create_charge(judged.account, order)
    await judged.adapter.cancel_charge(judged.account, order.reference)


async def keys(judged: Judged) -> None:
    key = await judged.adapter.create_key(judged.account, KeyOrder(PixKeyType.EVP, ""))
    named = key.public_id(judged.account.account_id)
    assert await judged.adapter.get_key(judged.account, named) == key
    assert key in await judged.adapter.list_keys(judged.account)
    await judged.adapter.cancel_key(judged.account, key)


async def received(judged: Judged) -> None:
    e2e_id = await judged.stage.put(judged.account, Received(value=Money(700)))
    await judged.adapter.find_received(judged.account, e2e_id)
    page = await judged.adapter.list_received(judged.account, around_today(), None, 10)
    assert page.items


async def callbacks(judged: Judged) -> None:
    adapter = dataclasses.replace(judged.adapter, callback_email="ops@example.com")
    order = CallbackOrder(url="http://127.0.0.1:1/callbacks/a", secret=b"0" * 40)
    registered = await adapter.register_callback(judged.account, order)
    assert registered in await adapter.list_callbacks(judged.account)
    await adapter.remove_callback(judged.account, registered.id)


def payout(order: PayoutOrder) -> Callable[[Judged], Awaitable[None]]:
    async def run(judged: Judged) -> None:
        sent = dataclasses.replace(order, provider_key=uuid4().hex)
        outcome = await judged.adapter.create_payout(judged.account, sent, SOON)
        assert isinstance(outcome, Accepted), outcome
        found = await judged.adapter.find_payout(
            judged.account, sent.provider_key, outcome.provider_id
        )
        assert isinstance(found, Accepted), found

    return run


RUNS: Mapping[str, tuple[Callable[[Judged], Awaitable[None]], frozenset[PortCall]]] = {
    "balance": (balance, frozenset({PortCall.GET_BALANCE})),
    "statement": (statement, frozenset({PortCall.LIST_STATEMENT})),
    "charge": (
        charge,
        frozenset({PortCall.CREATE_CHARGE, PortCall.GET_CHARGE, PortCall.GET_CHARGE_PAYMENT}),
    ),
    "cancelled": (cancelled, frozenset({PortCall.CANCEL_CHARGE})),
    "keys": (
        keys,
        frozenset({PortCall.CREATE_KEY, PortCall.GET_KEY, PortCall.LIST_KEYS, PortCall.CANCEL_KEY}),
    ),
    "received": (received, frozenset({PortCall.FIND_RECEIVED, PortCall.LIST_RECEIVED})),
    "callbacks": (
        callbacks,
        frozenset({PortCall.REGISTER_CALLBACK, PortCall.LIST_CALLBACKS, PortCall.REMOVE_CALLBACK}),
    ),
    "payout to an account": (payout(by_account()), PAYOUT),
    "payout to a phone": (payout(by_key(PixKeyType.PHONE, "+5511987654321")), PAYOUT),
    "payout to a CPF": (payout(by_key(PixKeyType.CPF, "52998224725")), PAYOUT),
}


@pytest.mark.parametrize("name", RUNS)
async def test_every_request_is_in_the_collection(judged: Judged, name: str):
    run, _ = RUNS[name]

    await run(judged)

    assert judged.relay.seen
    assert judged.violations() == []


def test_every_call_is_checked_against_the_collection():
    """The probe has no key, which every request of the collection has."""
    declared = made({"base_url": "http://127.0.0.1:1"}).capabilities.calls

    assert frozenset().union(*(calls for _, calls in RUNS.values())) == declared - {PortCall.PROBE}


def body(**fields: object) -> bytes:
    return json.dumps(fields).encode()


@pytest.mark.parametrize(
    ("method", "target", "sent", "document", "violations"),
    [
        ("GET", "/v3/finance/balance", KEYED, b"", []),
        ("GET", "/v3/transfers/1", KEYED, b"", []),
        ("POST", "/v3/transfers", SENT, body(value=1, externalReference="a"), []),
        ("POST", "/v3/transfers", SENT, body(value=1.5), []),
        ("GET", "/v3/finance/balances", KEYED, b"", ["GET /v3/finance/balances is no call"]),
        ("PATCH", "/v3/transfers", SENT, b"{}", ["PATCH /v3/transfers is no call"]),
        ("GET", "/v3/pix/addressKeys//a", KEYED, b"", ["GET /v3/pix/addressKeys//a is no call"]),
        ("GET", "/v3/transfers?key=a", KEYED, b"", ["query key"]),
        ("GET", "/v3/finance/balance", {"user-agent": "a"}, b"", ["no access_token"]),
        ("GET", "/v3/finance/balance", {"access_token": "a"}, b"", ["no user-agent"]),
        ("GET", "/v3/finance/balance", KEYED, b"{}", ["a GET has no body"]),
        ("DELETE", "/v3/pix/addressKeys/1", KEYED, b"{}", ["a DELETE has no body"]),
        ("POST", "/v3/transfers", KEYED, body(value=1), ["a body is application/json"]),
        (
            "POST",
            "/v3/transfers",
            SENT,
            body(value="1.00"),
            ["field value is a number and not a str"],
        ),
        ("POST", "/v3/transfers", SENT, body(idempotencyKey="a"), ["field idempotencyKey"]),
        (
            "POST",
            "/v3/transfers",
            SENT,
            body(bankAccount={"bank": {"number": "341"}}),
            ["field bankAccount.bank.number"],
        ),
    ],
)
def test_the_checker_accepts_valid_and_rejects_invalid_requests(
    method: str, target: str, sent: Mapping[str, str], document: bytes, violations: list[str]
):
    assert JUDGE.violations(method, target, sent, document) == violations
