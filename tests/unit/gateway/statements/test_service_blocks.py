"""Blocks are read live, from banks that tell them."""

from datetime import timedelta

import pytest

from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.providers import NotSupported
from gateway.banks.port.statements import Block, BlockKind
from gateway.core.money import Money
from tests.unit.gateway.statements.linked_statements import at
from tests.unit.offering import OfferingBank, lessened, staff
from tests.world.payouts import OneBank, ScriptedBank
from tests.world.people import account
from tests.world.standing import NOON


def block(days: int | None, kind: BlockKind = BlockKind.COURT) -> Block:
    since = None if days is None else NOON + timedelta(days=days)
    return Block(kind=kind, value=Money(100), since=since, reference="0001-22")


async def test_blocks_are_sorted_oldest_first_with_unknown_ages_before():
    bank = OfferingBank(reads={"list_blocks": [block(2), block(None), block(1)]})

    found = await at(OneBank(bank)).blocks(staff(), account())

    assert list(found) == [block(None), block(1), block(2)]


@pytest.mark.parametrize(
    "bank",
    [
        OfferingBank(capabilities=lessened(PortCall.LIST_BLOCKS), reads={"list_blocks": []}),
        ScriptedBank(),
    ],
    ids=["not declared", "no such call"],
)
async def test_a_bank_without_blocks_is_not_asked(bank: ScriptedBank):
    with pytest.raises(NotSupported):
        await at(OneBank(bank)).blocks(staff(), account())
