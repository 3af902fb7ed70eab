"""What is due for a look, claimed as a process does that has room for some of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from gateway.app.store import Store
from gateway.payouts.model import Payout
from gateway.payouts.schedule import MOST_ACCOUNTS, DueAccount, DueClaim

_ROOM = 1_000


async def claim_due(store: Store, owner: str, now: datetime, until: datetime) -> list[Payout]:
    """Claim all that is due, at every bank."""
    claimed: list[Payout] = []
    for each in await store.follow_ups.due(now):
        claimed += await store.follow_ups.claim_due(claim_of([each], owner, now, until))
    return claimed


def claim_of(
    accounts: Sequence[DueAccount], owner: str, now: datetime, until: datetime
) -> DueClaim:
    return DueClaim(
        provider=accounts[0].provider,
        owner=owner,
        at=now,
        until=until,
        account_ids=[each.account_id for each in accounts[:MOST_ACCOUNTS]],
        each=_ROOM,
        most=_ROOM,
    )
