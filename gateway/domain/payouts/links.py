"""Which of our payouts stand behind movements of a statement."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from gateway.domain.payouts.payouts import Payout


class PayoutLinks(Protocol):
    """Finds payouts of an account by what its bank tells of a movement."""

    async def behind(
        self, account_id: str, e2e_ids: Collection[str], provider_keys: Collection[str]
    ) -> Sequence[Payout]:
        """Return those with one of these end-to-end ids or keys; raises ``StoreUnavailable``."""
        ...
