"""What an account holds (contract 2.3)."""

from __future__ import annotations

from datetime import datetime

import msgspec

from gateway.domain.kernel.money import Money


class Balance(msgspec.Struct, frozen=True, kw_only=True):
    """
    The balance as the bank has just reported it.

    Attributes:
        blocked: Held back, not available for payout.
        updated_at: As the provider says; None when it does not.
    """

    balance: Money
    blocked: Money
    updated_at: datetime | None
