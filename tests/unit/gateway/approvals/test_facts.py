"""What helps to decide on an order: payouts alike, within the companies that a person sees."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import UNSET

from gateway.approvals.facts import (
    RECIPIENT_DAYS,
    ApprovalFacts,
    DecisionFacts,
)
from gateway.approvals.model import Approval, ApprovalKind
from gateway.banks.readings import Readings
from gateway.domain.bank.payout_orders import PayoutMethod
from gateway.domain.bank.refunds import RefundRequest
from gateway.domain.kernel.company_scope import EVERY_COMPANY, CompanyScope
from gateway.domain.kernel.money import Money
from gateway.domain.payouts.payouts import PayoutRequest
from tests.unit.gateway.operations.backoffice.payout_finder import DIGESTS, finder_of
from tests.unit.standing_payouts import company_and_accounts
from tests.world.registers import NOON, Registers
from tests.world.stores.samples import ACCOUNT, COMPANY, SISTER, attempt, payout

MARIA, JOAO = "52998224725", "11144477735"
ORDER = PayoutRequest(
    reference="order-1",
    method=PayoutMethod.PIX,
    value=Money(1050),
    date=NOON.date(),
    description="",
    destination=payout().destination,
    destination_sent={},
)


def waiting(value: int = 1050) -> Approval:
    return Approval(
        id="5f0c8f6e-3d57-4a6d-9f53-0d4d5a0f7a09",
        kind=ApprovalKind.PAYOUT,
        account_id=ACCOUNT,
        company_id=COMPANY,
        subject=ACCOUNT,
        reference="order-1",
        centavos=value,
        sealed_order=b"",
        ordered_by="u",
        orderer="user:maria@example.com",
        ordered_at=NOON,
        ends_at=NOON + timedelta(hours=12),
    )


def facts_of(office: Registers) -> ApprovalFacts:
    nobody: Any = SimpleNamespace()
    readings = Readings(
        database=office.store.database, accounts=nobody, banks=nobody, now=office.clock
    )
    return ApprovalFacts(finder=finder_of(office), readings=readings)


async def put(office: Registers, reference: str, **changed: object) -> None:
    """Store a payout to Maria of ten reais and fifty, created now."""
    fields: dict[str, Any] = {
        "account_id": ACCOUNT,
        "value": Money(1050),
        "created_at": NOON,
        "payee_digest": DIGESTS.digest(MARIA),
        **changed,
    }
    made = replace(payout(reference), **fields)
    key = f"{made.account_id}{reference}"
    await office.store.payouts.add(replace(made, provider_key=key), attempt())


async def found(office: Registers, scope: CompanyScope = EVERY_COMPANY) -> DecisionFacts:
    return await facts_of(office).of(scope, waiting(), ORDER)


def references(listed: Any) -> set[str]:
    return {each.payout.reference for each in listed}


@pytest.fixture
async def office_with_accounts(office: Registers) -> Registers:
    await company_and_accounts(office.store)
    return office


async def test_payouts_to_the_same_recipient_are_told_from_every_account(
    office_with_accounts: Registers,
):
    office = office_with_accounts
    day = timedelta(days=1)
    await put(office, "new", created_at=NOON - day, value=Money(7))
    await put(office, "at the sister", account_id=SISTER, created_at=NOON - 2 * day)
    await put(office, "just within", created_at=NOON - RECIPIENT_DAYS * day, value=Money(8))
    await put(office, "too old", created_at=NOON - RECIPIENT_DAYS * day - timedelta(seconds=1))
    await put(office, "to another", payee_digest=DIGESTS.digest(JOAO), value=Money(9))

    told = await found(office)

    expected = ["new", "at the sister", "just within"]
    assert [each.payout.reference for each in told.to_recipient] == expected


async def test_payouts_of_the_same_value_are_those_of_the_account_today(
    office_with_accounts: Registers,
):
    """The local day has begun at three in the morning in UTC."""
    office = office_with_accounts
    other: dict[str, Any] = {"payee_digest": DIGESTS.digest(JOAO)}
    await put(office, "alike", **other)
    await put(office, "early", created_at=NOON.replace(hour=3), **other)
    await put(office, "yesterday", created_at=NOON.replace(hour=2, minute=59), **other)
    await put(office, "another value", value=Money(1051), **other)
    await put(office, "at the sister", account_id=SISTER, **other)

    told = await found(office)

    assert references(told.same_value) == {"alike", "early"}


async def test_the_payout_that_the_order_made_is_not_like_itself(office_with_accounts: Registers):
    office = office_with_accounts
    await put(office, "order-1")
    await put(office, "order-1", account_id=SISTER)

    told = await found(office)

    assert [each.payout.account_id for each in told.to_recipient] == [SISTER]
    assert list(told.same_value) == []


async def test_nothing_of_another_company_is_told(office_with_accounts: Registers):
    office = office_with_accounts
    await put(office, "alike")

    told = await found(office, CompanyScope(frozenset()))

    assert told == DecisionFacts()


async def test_what_the_account_held_is_told(office_with_accounts: Registers):
    facts = facts_of(office_with_accounts)

    told = await facts.of(EVERY_COMPANY, waiting(), ORDER)

    assert told.reading is not None
    assert (told.reading.account_id, told.reading.balance) == (ACCOUNT, UNSET)


async def test_a_refund_is_like_no_payout(office_with_accounts: Registers):
    """It goes back to whoever has paid."""
    office = office_with_accounts
    await put(office, "alike")
    order = RefundRequest(reference="r", payment="E1", value=Money(1050), description="")

    told = await facts_of(office).of(EVERY_COMPANY, waiting(), order)

    assert (list(told.to_recipient), list(told.same_value)) == ([], [])
    assert told.reading is not None
