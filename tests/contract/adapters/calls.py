"""What several tests of calls share."""

from __future__ import annotations

from gateway.banks.port.providers import (
    Accepted,
    Outcome,
    ProviderAccount,
    ProviderAdapter,
)
from tests.world.waiting import until


async def until_final(adapter: ProviderAdapter, account: ProviderAccount, key: str) -> Outcome:
    """Look a payout up until it is no longer processing."""
    found: list[Outcome] = []

    async def final() -> bool:
        found.append(await adapter.find_payout(account, key, ""))
        return not isinstance(found[-1], Accepted)

    await until(final)
    return found[-1]
