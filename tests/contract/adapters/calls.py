"""What several tests of calls share."""

from __future__ import annotations

from datetime import UTC, datetime

from gateway.domain.bank.providers import (
    Accepted,
    Outcome,
    ProviderAccount,
    ProviderAdapter,
)
from gateway.domain.kernel.windows import Window
from tests.world.waiting import until


def today() -> Window:
    day = datetime.now(UTC).date()
    return Window(day, day)


async def until_final(adapter: ProviderAdapter, account: ProviderAccount, key: str) -> Outcome:
    """Look a payout up until it is no longer processing."""
    found: list[Outcome] = []

    async def final() -> bool:
        found.append(await adapter.find_payout(account, key, ""))
        return not isinstance(found[-1], Accepted)

    await until(final)
    return found[-1]
