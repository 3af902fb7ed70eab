"""What an account holds (contract 2.3)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from gateway.domain.money import Money


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """
    The balance as the provider told it just now.

    Attributes:
        blocked: Held back, not available for payout.
        updated_at: As the provider says; None when it does not.
    """

    balance: Money
    blocked: Money
    updated_at: datetime | None
