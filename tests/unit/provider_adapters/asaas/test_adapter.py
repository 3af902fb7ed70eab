"""The adapter in front of its simulator: what the suite does not ask."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from gateway.banks.port.charges import ChargeOrder, ChargeType, Payer
from gateway.banks.port.pix_keys import KeyOrder, PixKeyType
from gateway.banks.port.providers import Accepted, NotSupported, ProviderAccount, Rejected, Unknown
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


async def test_a_duplicate_within_15_minutes_is_unknown_and_not_paid(
    stage: AsaasStage, adapter: AsaasAdapter, account: ProviderAccount
):
    """The bank's 409 does not say which order it has, so a person decides."""
    first, twin = order(), order(key="f" * 32)

    assert isinstance(await adapter.create_payout(account, first, FAR), Accepted)
    outcome = await adapter.create_payout(account, twin, FAR)

    assert isinstance(outcome, Unknown)
    assert await stage.executions(twin.provider_key) == []


async def test_an_unsendable_order_is_rejected_without_a_bank_call(
    stage: AsaasStage, adapter: AsaasAdapter, account: ProviderAccount
):
    outcome = await adapter.create_payout(account, by_key(PixKeyType.PHONE, "+14155552671"), FAR)

    assert isinstance(outcome, Rejected)
    assert not outcome.evidence.bytes_left
    assert (await stage.control.get("calls"))["data"] == []


async def test_a_statement_distinguishes_pix_including_charges_from_the_rest(
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


async def test_a_customer_is_created_once(
    stage: AsaasStage, adapter: AsaasAdapter, account: ProviderAccount
):
    for number in range(2):
        await adapter.create_charge(account, dataclasses.replace(ORDER, reference=f"r/{number}"))

    calls = (await stage.control.get("calls"))["data"]
    posts = [each["path"] for each in calls if each["method"] == "POST"]
    assert posts == ["/v3/customers", "/v3/payments", "/v3/payments"]


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
async def test_an_unsupported_charge_is_refused_without_a_bank_call(
    stage: AsaasStage, adapter: AsaasAdapter, account: ProviderAccount, changes: dict[str, object]
):
    with pytest.raises(NotSupported):
        await adapter.create_charge(account, dataclasses.replace(ORDER, **changes))  # type: ignore[arg-type]

    assert (await stage.control.get("calls"))["data"] == []


async def test_only_random_keys_can_be_created_at_asaas(
    stage: AsaasStage, adapter: AsaasAdapter, account: ProviderAccount
):
    with pytest.raises(NotSupported):
        await adapter.create_key(account, KeyOrder(PixKeyType.EMAIL, "a@example.com"))
    assert (await stage.control.get("calls"))["data"] == []
