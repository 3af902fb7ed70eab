"""The sandbox bank's magic amounts, destinations and faults, as its adapter reports them."""

from __future__ import annotations

import pytest

from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.providers import (
    ProviderAdapter,
    Rejected,
)
from tests.world.banks.harness import FAR, order
from tests.world.banks.sandbox import BankWorld


@pytest.mark.parametrize(
    ("pix_key", "failure", "forbidden"),
    [
        ("notfound@example.com", FailureCode.KEY_NOT_FOUND, False),
        ("owner@example.com", FailureCode.OWNER_MISMATCH, False),
        ("limit@example.com", FailureCode.LIMIT_EXCEEDED, True),
    ],
)
async def test_magic_keys_are_refused_with_their_code(
    adapter: ProviderAdapter,
    bank_world: BankWorld,
    pix_key: str,
    failure: FailureCode,
    forbidden: bool,
):
    outcome = await adapter.create_payout(bank_world.account, order(pix_key=pix_key), FAR)

    assert isinstance(outcome, Rejected)
    assert (outcome.failure, outcome.forbidden) == (failure, forbidden)
