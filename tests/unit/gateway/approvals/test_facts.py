"""What helps to decide on an order: payouts alike, and what the account held."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import UNSET
from msgspec.structs import replace as replace_struct

from gateway.app.build_payouts import tax_number_digests
from gateway.approvals.facts import ApprovalFacts, DecisionFacts
from gateway.banks.model import Reading
from gateway.banks.readings import Readings
from gateway.core.access import Staff
from gateway.core.approvals import Approval, ApprovalKind, WaitingMoney
from gateway.core.money import Money, Sum
from gateway.payouts.documents import PayoutsAlike
from gateway.refunds.orders import RefundRequest
from tests.unit.standing_payouts import ORDER, company_and_accounts
from tests.world.exports import signed_in
from tests.world.registers import NOON, Registers
from tests.world.stores.samples import ACCOUNT, COMPANY, attempt, event, payout

WAITING = Approval(
    id="5f0c8f6e-3d57-4a6d-9f53-0d4d5a0f7a09",
    kind=ApprovalKind.PAYOUT,
    account_id=ACCOUNT,
    company_id=COMPANY,
    subject=ACCOUNT,
    reference="order-1",
    centavos=1050,
    sealed_order=b"",
    ordered_by="u",
    orderer="user:maria@example.com",
    ordered_at=NOON,
    ends_at=NOON + timedelta(hours=12),
)


@pytest.fixture
async def facts(office: Registers) -> ApprovalFacts:
    await company_and_accounts(office.store)
    await office.store.payouts.add(payout("alike", created_at=NOON), attempt())
    nobody: Any = SimpleNamespace()
    database = office.store.database
    readings = Readings(database=database, find_account=nobody, banks=nobody, now=office.clock)
    orders = office.store.approvals
    return ApprovalFacts(payouts=office.payouts, readings=readings, orders=orders)


async def test_the_last_balance_reading_of_the_account_is_shown(
    office: Registers, facts: ApprovalFacts
):
    told = await facts.of(Staff(office.acting), WAITING, ORDER)

    assert [each.payout.reference for each in told.alike.same_value] == ["alike"]
    assert told.reading is not None
    assert (told.reading.account_id, told.reading.balance) == (ACCOUNT, UNSET)


async def test_the_orderer_of_a_payout_sees_no_others_to_its_recipient(
    office: Registers, facts: ApprovalFacts
):
    """They could order for one CPF after another, to complete a hidden one."""
    digest = tax_number_digests(office.kernel).digest(ORDER.destination.tax_number)
    paid = replace(payout("paid", created_at=NOON), provider_key="paid", payee_digest=digest)
    await office.store.payouts.add(paid, attempt())

    own, of_others = [
        await facts.of(replace(signed_in(), acting=office.acting), order, ORDER)
        for order in (replace(WAITING, ordered_by="maria"), WAITING)
    ]

    assert [each.payout.reference for each in of_others.alike.to_recipient] == ["paid"]
    assert own.alike.to_recipient == ()
    assert own.alike.same_value == of_others.alike.same_value


async def test_a_refund_has_no_similar_payouts(office: Registers, facts: ApprovalFacts):
    """It goes back to whoever has paid."""
    order = RefundRequest(reference="r", payment="E1", value=Money(1050), description="")

    told = await facts.of(Staff(office.acting), WAITING, order)

    assert told.alike == PayoutsAlike()
    assert told.reading is not None


async def test_other_waiting_orders_of_the_account_are_added_up(
    office: Registers, facts: ApprovalFacts
):
    other = replace(WAITING, id="b", reference="order-2", centavos=6_000_000)
    for each in (WAITING, other):
        await office.store.approvals.add(each, event())

    told = await facts.of(Staff(office.acting), WAITING, ORDER)

    assert told.waiting == WaitingMoney(1, Sum(6_000_000), (other,))


def test_the_remaining_balance_subtracts_blocked_and_waiting_money():
    reading = Reading(
        account_id="a",
        account_name="Matriz",
        provider="p",
        balance=Sum(7_647_574),
        blocked=Sum(100),
        read_at=NOON,
    )
    waiting = WaitingMoney(1, Sum(6_000_000))

    left = DecisionFacts(reading=reading, waiting=waiting).left(Money(6_000_001))
    unread = DecisionFacts(reading=replace_struct(reading, balance=UNSET), waiting=waiting)

    assert left == Sum(7_647_574 - 100 - 6_000_000 - 6_000_001)
    assert unread.left(Money(1)) is None
    assert DecisionFacts().left(Money(1)) is None
