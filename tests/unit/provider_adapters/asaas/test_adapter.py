"""The adapter in front of its simulator: what the suite does not ask."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime, timedelta

import pytest

from gateway.banks.port.charges import ChargeOrder, ChargeStatus, ChargeType, Payer
from gateway.banks.port.payout_orders import PayoutOrder
from gateway.banks.port.pix_keys import KeyOrder, PixKeyStatus, PixKeyType
from gateway.banks.port.provider_callbacks import CallbackOrder
from gateway.banks.port.providers import (
    Accepted,
    NotFound,
    NotSupported,
    ProviderAccount,
    Refused,
    Rejected,
    Unknown,
)
from gateway.banks.port.statements import MovementKind
from gateway.core.money import Money
from gateway.core.windows import Window
from provider_adapters.asaas.adapter import AsaasAdapter
from provider_adapters.testing.asaas import ASAAS
from provider_adapters.testing.stages import AsaasStage
from provider_adapters.testing.verify.stage import Charge, ChargePaid, Movement, Received
from tests.world.banks.asaas import by_key, made
from tests.world.banks.harness import FAR, order

MARIA = Payer(name="Maria Silva", tax_number="52998224725")
ORDER = ChargeOrder(
    reference="pedido/1", type=ChargeType.DYNAMIC, key="k", value=Money(1050), payer=MARIA
)


class Strict(AsaasStage):
    """The bank as it is: the same again within 15 minutes is refused."""

    dialect = ASAAS


@pytest.fixture
async def stage() -> AsyncIterator[AsaasStage]:
    standing = Strict()
    await standing.start()
    yield standing
    await standing.close()


@pytest.fixture
async def adapter(stage: AsaasStage) -> AsyncIterator[AsaasAdapter]:
    standing = made({"base_url": stage.address})
    await standing.start()
    yield standing
    await standing.close()


@pytest.fixture
def account(stage: AsaasStage) -> ProviderAccount:
    return stage.accounts[0]


def local_days(days: int = 3) -> Window:
    """The days around now, whatever the bank's zone makes of it."""
    today = datetime.now(UTC).date()
    return Window(today - timedelta(days=days), today + timedelta(days=1))


async def test_a_twin_within_15_minutes_is_unknown_and_not_paid(
    stage: AsaasStage, adapter: AsaasAdapter, account: ProviderAccount
):
    """The bank's 409 tells nothing of which order it has: a person looks."""
    first, twin = order(), order(key="f" * 32)

    assert isinstance(await adapter.create_payout(account, first, FAR), Accepted)
    outcome = await adapter.create_payout(account, twin, FAR)

    assert isinstance(outcome, Unknown)
    assert await stage.executions(twin.provider_key) == []


async def test_what_can_never_be_sent_is_rejected_and_the_bank_not_asked(
    stage: AsaasStage, adapter: AsaasAdapter, account: ProviderAccount
):
    outcome = await adapter.create_payout(account, by_key(PixKeyType.PHONE, "+14155552671"), FAR)

    assert isinstance(outcome, Rejected)
    assert not outcome.evidence.bytes_left
    assert (await stage.control.get("calls"))["data"] == []


async def test_a_payout_whose_id_is_not_known_is_not_looked_for(
    adapter: AsaasAdapter, account: ProviderAccount
):
    with pytest.raises(NotSupported):
        await adapter.find_payout(account, "0" * 32, "")


async def test_a_payout_by_phone_arrives(adapter: AsaasAdapter, account: ProviderAccount):
    made_of: PayoutOrder = by_key(PixKeyType.PHONE, "+5547999999999")

    assert isinstance(await adapter.create_payout(account, made_of, FAR), Accepted)


async def test_a_statement_tells_pix_from_the_rest_charges_among_them(
    stage: AsaasStage, adapter: AsaasAdapter, account: ProviderAccount
):
    reference = await stage.put(account, Charge(value=Money(501)))
    await stage.put(account, ChargePaid(reference=reference))
    await stage.put(account, Received(value=Money(502)))
    await stage.put(account, Movement(value=Money(503), kind=MovementKind.FEE))

    page = await adapter.list_statement(account, local_days(), None, 100)

    kinds = {entry.value.centavos: (entry.is_pix, entry.kind) for entry in page.items}
    assert kinds[501] == kinds[502] == (True, MovementKind.PIX)
    assert kinds[503] == (False, MovementKind.FEE)


async def test_what_came_in_is_listed_and_found(
    stage: AsaasStage, adapter: AsaasAdapter, account: ProviderAccount
):
    e2e_id = await stage.put(account, Received(value=Money(502)))

    page = await adapter.list_received(account, local_days(), None, 100)
    found = await adapter.find_received(account, e2e_id)

    assert found in page.items
    assert (found.value, found.e2e_id) == (Money(502), e2e_id)
    with pytest.raises(NotFound):
        await adapter.find_received(account, "E19540550202611221031dYr4Cp2gfAp")


async def test_a_charge_is_made_read_paid_and_stays_paid(
    stage: AsaasStage, adapter: AsaasAdapter, account: ProviderAccount
):
    charge = await adapter.create_charge(account, ORDER)
    assert await adapter.get_charge(account, "pedido/1") == charge
    assert (charge.status, charge.payer, charge.receiver.name) == (
        ChargeStatus.ACTIVE,
        MARIA,
        "Loja 1",
    )
    assert charge.emv.startswith("000201")
    e2e_id = await stage.put(account, ChargePaid(reference="pedido/1"))

    payment = await adapter.get_charge_payment(account, "pedido/1")

    assert (payment.e2e_id, payment.value) == (e2e_id, Money(1050))
    assert payment.paid_at is not None
    assert (await adapter.get_charge(account, "pedido/1")).status is ChargeStatus.PAID
    with pytest.raises(Refused, match="charge_paid"):
        await adapter.cancel_charge(account, "pedido/1")
    with pytest.raises(Refused, match="in_use"):
        await adapter.create_charge(account, ORDER)


async def test_a_customer_is_made_once(
    stage: AsaasStage, adapter: AsaasAdapter, account: ProviderAccount
):
    for number in range(2):
        await adapter.create_charge(account, dataclasses.replace(ORDER, reference=f"r/{number}"))

    calls = (await stage.control.get("calls"))["data"]
    posts = [each["path"] for each in calls if each["method"] == "POST"]
    assert posts == ["/v3/customers", "/v3/payments", "/v3/payments"]


async def test_a_charge_is_cancelled_and_may_be_cancelled_again(
    adapter: AsaasAdapter, account: ProviderAccount
):
    await adapter.create_charge(account, ORDER)

    for _ in range(2):
        gone = await adapter.cancel_charge(account, "pedido/1")
        assert gone.status is ChargeStatus.CANCELED

    with pytest.raises(NotFound):
        await adapter.cancel_charge(account, "pedido/2")


@pytest.mark.parametrize(
    "changes",
    [
        {"type": ChargeType.STATIC},
        {"reusable": True},
        {"expires_in": 3600},
        {"value": None},
        {"payer": None},
        {"payer": Payer(name="Maria")},
        {"payer": Payer(tax_number="52998224725")},
    ],
)
async def test_a_charge_that_the_bank_cannot_make_is_not_begun(
    stage: AsaasStage, adapter: AsaasAdapter, account: ProviderAccount, changes: dict[str, object]
):
    with pytest.raises(NotSupported):
        await adapter.create_charge(account, dataclasses.replace(ORDER, **changes))  # type: ignore[arg-type]

    assert (await stage.control.get("calls"))["data"] == []


async def test_keys_are_random_alone_and_given_up(adapter: AsaasAdapter, account: ProviderAccount):
    key = await adapter.create_key(account, KeyOrder(PixKeyType.EVP, ""))
    public_id = key.public_id(account.account_id)

    assert await adapter.get_key(account, public_id) == key
    gone = await adapter.cancel_key(account, key)

    assert (gone.key, gone.status) == (key.key, PixKeyStatus.CANCELED)
    assert gone in await adapter.list_keys(account)
    with pytest.raises(NotSupported):
        await adapter.create_key(account, KeyOrder(PixKeyType.EMAIL, "a@example.com"))
    with pytest.raises(NotFound):
        await adapter.get_key(account, "5f1c3a52-7f0e-4c2b-9d3f-000000000000")


async def test_callbacks_are_registered_listed_and_removed(
    adapter: AsaasAdapter, account: ProviderAccount
):
    url = "http://127.0.0.1:1/callbacks/asaas/token"

    made_one = await adapter.register_callback(account, CallbackOrder(url=url, secret=b"s" * 40))

    assert made_one.url == url
    assert await adapter.list_callbacks(account) == [made_one]
    await adapter.remove_callback(account, made_one.id)
    assert await adapter.list_callbacks(account) == []


async def test_the_bank_is_reached_without_an_account(adapter: AsaasAdapter):
    await adapter.probe()


async def test_a_list_of_received_payments_of_another_time_is_empty(
    stage: AsaasStage, adapter: AsaasAdapter, account: ProviderAccount
):
    await stage.put(account, Received(value=Money(502)))

    page = await adapter.list_received(account, Window(date(2020, 1, 1), date(2020, 1, 2)), None, 9)

    assert page.items == []
