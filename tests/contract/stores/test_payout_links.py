"""Payouts behind movements of a statement, on both databases."""

from __future__ import annotations

import pytest

from gateway.app.store import Store
from gateway.payouts.model import PayoutState
from tests.contract.stores.databases import both
from tests.world.stores.samples import ACCOUNT, SISTER, attempt, change, of, payout


@pytest.fixture
async def paid(store: Store) -> str:
    """A payout whose end-to-end id is known; return its key."""
    ordered = payout()
    await store.payouts.add(ordered, attempt())
    step = change(PayoutState.SENDING, PayoutState.PAID)
    assert await store.payouts.record(of(step, e2e_id="E1"))
    return ordered.provider_key


@both
@pytest.mark.parametrize(("ids", "many"), [(["E1"], 1), (["E2"], 0), ([""], 0), ([], 0)])
async def test_a_payout_is_found_by_its_end_to_end_id(
    store: Store, paid: str, ids: list[str], many: int
):
    assert len(await store.payouts.behind(ACCOUNT, ids, [])) == many


@both
async def test_a_payout_is_found_by_its_provider_key(store: Store, paid: str):
    (found,) = await store.payouts.behind(ACCOUNT, [], [paid])

    assert found.reference == "order-1"


@both
async def test_a_payout_of_another_account_is_not_found(store: Store, paid: str):
    assert await store.payouts.behind(SISTER, ["E1"], [paid]) == []
