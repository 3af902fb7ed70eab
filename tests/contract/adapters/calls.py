"""What several tests of calls share."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cache

from gateway.banks.port.providers import (
    Accepted,
    Outcome,
    ProviderAccount,
    ProviderAdapter,
)
from gateway.core.windows import Window
from tests.world.waiting import until


@cache
def around_today() -> Window:
    """Return days that a test does not leave at midnight."""
    day = datetime.now(UTC).date()
    return Window(day - timedelta(days=1), day + timedelta(days=1))


async def until_final(adapter: ProviderAdapter, account: ProviderAccount, key: str) -> Outcome:
    """Look a payout up until it is no longer processing."""
    found: list[Outcome] = []

    async def final() -> bool:
        found.append(await adapter.find_payout(account, key, ""))
        return not isinstance(found[-1], Accepted)

    await until(final)
    return found[-1]
