"""What several tests of calls share."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from gateway.domain.bank.providers import (
    Accepted,
    Outcome,
    ProviderAccount,
    ProviderAdapter,
)
from gateway.domain.kernel.windows import Window


def today() -> Window:
    day = datetime.now(UTC).date()
    return Window(day, day)


async def until_final(adapter: ProviderAdapter, account: ProviderAccount, key: str) -> Outcome:
    """Look a payout up until it is no longer processing."""
    for _ in range(100):
        outcome = await adapter.find_payout(account, key, "")
        if not isinstance(outcome, Accepted):
            return outcome
        await asyncio.sleep(0.02)
    return outcome
