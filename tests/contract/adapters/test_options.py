"""What banks offer beyond the nine calls, against one that keeps a ledger."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.providers import (
    Refused,
)
from gateway.banks.port.refunds import RefundStatus
from gateway.banks.port.statements import BlockKind, Direction, MovementKind
from gateway.core.money import Money
from tests.contract.adapters.options import (
    REFUND_KEY,
    Offering,
    charge_order,
    refund_order,
    refunded,
)
from tests.world.banks.harness import FAR
from tests.world.banks.sandbox import BankWorld, Paid
from tests.world.standing import around_today
from tests.world.waiting import until


async def until_settled(adapter: Offering, bank_world: BankWorld, key: str = REFUND_KEY):
    found = []

    async def settled() -> bool:
        found.append(await adapter.find_refund(bank_world.account, key))
        return found[-1].status is not RefundStatus.PROCESSING

    await until(settled)
    return found[-1]


async def test_a_charge_on_another_person_s_key_is_refused(
    adapter: Offering, bank_world: BankWorld
):
    with pytest.raises(Refused):
        await adapter.create_charge(bank_world.account, charge_order(key="maria@example.com"))


async def test_a_failed_refund_leaves_the_balance_unchanged(
    adapter: Offering, bank_world: BankWorld
):
    """R$ 777.02, the bank's magic amount."""
    said = await bank_world.tell(
        f"/accounts/{bank_world.account.provider_account}/incoming", {"value": 1000.00}
    )
    large = Paid("", said["e2e_id"])
    before = await adapter.get_balance(bank_world.account)

    await adapter.create_refund(bank_world.account, refund_order(large, 777_02), FAR)
    refund = await until_settled(adapter, bank_world)

    assert (refund.status, refund.failure) == (RefundStatus.FAILED, FailureCode.REJECTED)
    assert (await adapter.get_balance(bank_world.account)).balance == before.balance
    assert await refunded(bank_world) == []


async def test_movements_that_are_not_pix_have_their_kind(adapter: Offering, bank_world: BankWorld):
    for kind in ("ted_in", "ted_out", "boleto_in", "boleto_out", "fee"):
        await bank_world.tell(
            f"/accounts/{bank_world.account.provider_account}/movements",
            {"kind": kind, "value": 1.00},
        )

    page = await adapter.list_statement(bank_world.account, around_today(), None, 5)

    assert [(each.kind, each.direction, each.is_pix) for each in page.items] == [
        (MovementKind.FEE, Direction.DEBIT, False),
        (MovementKind.BOLETO, Direction.DEBIT, False),
        (MovementKind.BOLETO, Direction.CREDIT, False),
        (MovementKind.TED, Direction.DEBIT, False),
        (MovementKind.TED, Direction.CREDIT, False),
    ]


@pytest.mark.parametrize("kind", list(BlockKind))
async def test_a_block_has_its_kind_amount_beginning_and_reference(
    adapter: Offering, bank_world: BankWorld, kind: BlockKind
):
    where = f"/accounts/{bank_world.account.provider_account}/block"
    before = datetime.now(UTC)
    await bank_world.tell(where, {"value": 10.50, "kind": kind.value, "reference": "0001-22"})

    [block] = await adapter.list_blocks(bank_world.account)

    assert (block.kind, block.value, block.reference) == (kind, Money(1050), "0001-22")
    assert block.since is not None
    assert abs((block.since - before).total_seconds()) < 300
