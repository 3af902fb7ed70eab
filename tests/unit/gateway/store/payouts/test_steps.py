"""Writes of one transaction each: what they are told, and what they refuse before they ask."""

from dataclasses import replace

import pytest

from gateway.domain.payouts.payouts import PayoutState
from gateway.store.engine import Store
from gateway.store.payouts.steps import (
    Claim,
    Intent,
    Write,
    WriteResult,
    check,
    take_step,
    write_one,
)
from tests.contract.stores.samples import attempt, change, payout

SENDING, NOT_SENT, PAID = PayoutState.SENDING, PayoutState.NOT_SENT, PayoutState.PAID


async def written(store: Store, write: Write) -> WriteResult:
    """Do it in a transaction of its own."""
    async with store.database.writing() as connection:
        return await write_one(store.database, connection, write)


async def test_each_kind_is_told_how_it_went(store: Store) -> None:
    claim = Claim(replace(payout(), state=NOT_SENT), attempt(2))
    writes = [
        Intent(payout(), attempt()),
        Intent(payout(centavos=7), attempt()),
        claim,
        change(SENDING, NOT_SENT),
        change(SENDING, NOT_SENT),
        claim,
    ]

    told = [await written(store, each) for each in writes]

    assert told == [True, payout(), False, True, False, True]


async def test_a_step_may_share_a_transaction_of_its_caller_s(store: Store) -> None:
    await written(store, Intent(payout(), attempt()))

    async with store.database.writing() as connection:
        done = await take_step(connection, change(SENDING, PAID))
        await connection.rollback()

    assert done
    assert await store.payouts.find(payout().account_id, "order-1") == payout()


def test_only_a_claim_leads_to_sending() -> None:
    with pytest.raises(ValueError, match="claim"):
        check(change(NOT_SENT, SENDING))
