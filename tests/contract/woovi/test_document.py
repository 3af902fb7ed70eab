"""Requests of the adapter and answers of the simulator, judged by the official document."""

from __future__ import annotations

import hashlib
import inspect
import re
from collections.abc import AsyncIterator

import msgspec
import pytest

from gateway.banks.client.messages import ProviderAnswer, ProviderRequest
from gateway.banks.port.charges import ChargeOrder, ChargeType, Payer
from gateway.banks.port.charges import ChargeStatus as Status
from gateway.banks.port.payout_orders import PayoutMethod, PayoutOrder
from gateway.banks.port.pix_keys import KeyOrder, PixKeyType
from gateway.banks.port.provider_callbacks import CallbackOrder
from gateway.banks.port.providers import Accepted, NotFound, Rejected, Settled
from gateway.banks.port.refunds import RefundOrder
from gateway.core.account import Environment
from gateway.core.clocks import Deadline
from gateway.core.money import Money
from provider_adapters.kit.factory import AdapterContext
from provider_adapters.testing.stages import WooviStage
from provider_adapters.testing.verify.stage import Charge
from provider_adapters.testing.verify.trial import PLENTY
from provider_adapters.woovi import requests
from provider_adapters.woovi.adapter import WooviAdapter
from provider_adapters.woovi.factory import WooviFactory
from tests.contract.woovi.judge import DOCUMENTS, Judge, document, judged, mocked
from tests.contract.woovi.samples import every_request
from tests.world.banks.witness import Witness
from tests.world.standing import around_today

KEY, REFUND_KEY = "0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"
URL = "http://127.0.0.1:1/callbacks/woovi/token"


@pytest.fixture
async def stage() -> AsyncIterator[WooviStage]:
    made = WooviStage()
    try:
        await made.start()
        yield made
    finally:
        await made.close()


@pytest.fixture
def judge() -> Judge:
    return Judge()


@pytest.fixture
async def adapter(stage: WooviStage, judge: Judge) -> AsyncIterator[WooviAdapter]:
    """The adapter, every call judged."""
    context = AdapterContext(
        name="woovi",
        environment=Environment.SANDBOX,
        observer=Witness(),
        transport=judged(judge),
    )
    settings = {"base_url": stage.address, "limits": msgspec.to_builtins(PLENTY)}
    made = WooviFactory()(settings, context)
    await made.start()
    yield made
    await made.close()


def soon() -> Deadline:
    return Deadline(30.0, lambda: 0.0)


def order(stage: WooviStage, method: PayoutMethod, key: str = KEY) -> PayoutOrder:
    return PayoutOrder(
        provider_key=key,
        method=method,
        value=Money(1050),
        destination=stage.payee(method),
        description="aluguel de novembro",
    )


async def test_read_requests_and_answers_match_the_document(
    stage: WooviStage, judge: Judge, adapter: WooviAdapter
):
    account = stage.accounts[0]
    await adapter.probe()
    await adapter.get_balance(account)
    await adapter.list_statement(account, around_today(), None, 10)
    (key,) = await adapter.list_keys(account)
    await adapter.get_key(account, key.public_id(account.account_id))
    owner = await adapter.look_up_key(account, stage.own_key(stage.accounts[1]))
    await adapter.list_received(account, around_today(), None, 10)
    await adapter.list_refunds(account, around_today(), None, 10)
    for absent in (adapter.get_charge, adapter.get_charge_payment, adapter.find_refund):
        with pytest.raises(NotFound):
            await absent(account, "nobody/knows%it")

    assert owner.name == "Loja 2"
    assert judge.problems == []


@pytest.mark.parametrize("method", list(PayoutMethod))
async def test_a_payout_from_order_to_settlement_matches_the_document(
    stage: WooviStage, judge: Judge, adapter: WooviAdapter, method: PayoutMethod
):
    account, wanted = stage.accounts[0], order(stage, method)
    ordered = await adapter.create_payout(account, wanted, soon())
    again = await adapter.create_payout(account, wanted, soon())
    await stage.settle()
    found = await adapter.find_payout(account, KEY, "")

    assert isinstance(ordered, Accepted)
    assert isinstance(again, Accepted)
    assert isinstance(found, Settled)
    assert judge.problems == []


async def test_failed_payouts_match_the_document(
    stage: WooviStage, judge: Judge, adapter: WooviAdapter
):
    account, wanted = stage.accounts[0], order(stage, PayoutMethod.PIX)
    poor = msgspec.structs.replace(wanted.value, centavos=99_999_999)
    low = await adapter.create_payout(
        account, PayoutOrder(provider_key=KEY, method=wanted.method, value=poor,
                             destination=wanted.destination, description=""), soon()
    )  # fmt: skip
    failing = PayoutOrder(
        provider_key=REFUND_KEY, method=wanted.method, value=Money(777_02),
        destination=wanted.destination, description="",
    )  # fmt: skip
    await adapter.create_payout(account, failing, soon())
    await stage.settle()
    failed = await adapter.find_payout(account, REFUND_KEY, "")
    with pytest.raises(NotFound):
        await adapter.find_payout(account, "0" * 32, "")

    assert isinstance(low, Rejected)
    assert isinstance(failed, Rejected)
    assert judge.problems == []


async def test_a_charge_from_creation_to_refund_matches_the_document(
    stage: WooviStage, judge: Judge, adapter: WooviAdapter
):
    account = stage.accounts[0]
    wanted = ChargeOrder(
        reference="pedido/1", type=ChargeType.DYNAMIC, key=stage.own_key(account),
        value=Money(1050), expires_in=600, description="pedido 1",
        payer=Payer(name="Ana", tax_number="52998224725"),
    )  # fmt: skip
    await adapter.create_charge(account, wanted)
    await adapter.cancel_charge(account, wanted.reference)
    paid = await stage.put(account, Charge(value=Money(1050), status=Status.PAID))
    shown = await adapter.get_charge_payment(account, paid)
    refund = RefundOrder(
        provider_key=REFUND_KEY, reference="r/1", payment_e2e_id=shown.e2e_id, value=Money(50),
        description="troca",
    )  # fmt: skip
    await adapter.create_refund(account, refund, soon())
    await stage.settle()
    found = await adapter.find_refund(account, REFUND_KEY)
    payment = await adapter.find_received(account, shown.e2e_id)
    listed = await adapter.list_received(account, around_today(), None, 10)
    refunds = await adapter.list_refunds(account, around_today(), None, 10)

    assert (found.payment_e2e_id, payment.refunded) == (shown.e2e_id, Money(50))
    assert [each.refunded.centavos for each in listed.items if each.reference == paid] == [50]
    assert [each.provider_key for each in refunds.items] == [REFUND_KEY]
    assert judge.problems == []


async def test_keys_and_callbacks_match_the_document(
    stage: WooviStage, judge: Judge, adapter: WooviAdapter
):
    account = stage.accounts[0]
    made = await adapter.create_key(account, KeyOrder(PixKeyType.EVP, ""))
    await adapter.cancel_key(account, made)
    await adapter.create_key(account, KeyOrder(PixKeyType.CNPJ, "11222333000181"))
    registered = await adapter.register_callback(account, CallbackOrder(url=URL))
    assert [each.url for each in await adapter.list_callbacks(account)] == [URL]
    await adapter.remove_callback(account, registered.id)

    assert await adapter.list_callbacks(account) == ()
    assert judge.problems == []


async def test_a_refused_request_matches_the_document(
    stage: WooviStage, judge: Judge, adapter: WooviAdapter
):
    await adapter.create_payout(stage.stranger(), order(stage, PayoutMethod.PIX), soon())

    assert (judge.statuses, judge.problems) == ({401}, [])


def asked(method: str, path: str, document: object = None, app_id: str = "x") -> ProviderRequest:
    body = b"" if document is None else msgspec.json.encode(document)
    headers = {"Authorization": app_id} if app_id else {}
    return ProviderRequest(
        operation="x", method=method, template=path, path=path, headers=headers, body=body
    )


def test_the_published_document_is_unmodified():
    published = (DOCUMENTS / "openpix-f416b4d.json").read_bytes()

    assert hashlib.sha256(published).hexdigest().startswith("1db9c46adb393e3a")


@pytest.mark.parametrize("request_of_ours", every_request(), ids=repr)
def test_every_possible_request_matches_the_document(request_of_ours: ProviderRequest):
    judge = Judge()

    judge.request(request_of_ours)

    assert judge.problems == []


def test_every_request_is_among_the_samples():
    """A new request must be added to the samples."""
    built = {each.template for each in every_request()}
    source = inspect.getsource(requests)

    for path in re.findall(r'_get\(\s*account, [a-z_"]+, "([^"]+)"', source):
        assert f"/api/v1{path}" in built


PAYMENT = {
    "type": "PIX_KEY", "value": 100, "destinationAlias": "a@b.c", "destinationAliasType": "EMAIL",
    "correlationID": "1",
}  # fmt: skip


@pytest.mark.parametrize(
    "wrong",
    [
        asked("GET", "/api/v1/pix-keys", app_id=""),
        asked("POST", "/api/v1/payment", {**PAYMENT, "value": "100"}),
        asked("POST", "/api/v1/payment", {**PAYMENT, "destinationAliasType": "EVP"}),
        asked("POST", "/api/v1/payment", {**PAYMENT, "correlationID": None}),
        asked("POST", "/api/v1/payment", {"type": "MANUAL", "value": 1, "correlationID": "1"}),
        asked("POST", "/api/v1/charge", {"correlationID": "1"}),
        asked("POST", "/api/v1/pix-keys", {"type": "EVP"}),
        asked("GET", "/api/v1/statement?start=2026-11-22&end=2026-11-23"),
        asked("GET", "/api/v1/balance"),
        asked("PUT", "/api/v1/payment", PAYMENT),
    ],
    ids=lambda request: f"{request.method} {request.path} {request.body!r}"[:60],
)
def test_the_document_checker_finds_faults(wrong: ProviderRequest):
    assert list(document().iter_request_errors(mocked(wrong)))


@pytest.mark.parametrize(
    ("read", "wrong"),
    [
        ("/api/v1/payment/1", {"payment": {"status": "PAGO"}}),
        ("/api/v1/payment/1", {"payment": {"value": "100"}}),
        ("/api/v1/charge/1", {"charge": {"status": "CANCELED"}}),
        ("/api/v1/transaction/1", {"transaction": {"type": "CONFIRMED"}}),
        ("/api/v1/refund/1", {"pixTransactionRefund": {"status": "PAID"}}),
        ("/api/v1/pix-keys", {"pixKeys": [{"type": "RANDOM"}]}),
        ("/api/v1/statement", {"lines": []}),
        ("/api/v1/account/1", {"account": {"balance": {"total": "1"}}}),
    ],
)
def test_the_judge_finds_invalid_answers(read: str, wrong: object):
    judge = Judge()
    said = ProviderAnswer(status=200, headers={}, body=msgspec.json.encode(wrong))

    judge.answer(asked("GET", read), said)

    assert judge.problems
