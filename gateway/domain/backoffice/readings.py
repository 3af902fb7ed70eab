"""What accounts held when their banks were last asked; no page waits for a bank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from gateway.domain.bank.statements import Balance
from gateway.domain.kernel.company_scope import CompanyScope
from gateway.domain.kernel.money import Money


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountReading:
    """
    An account, and what it held.

    Attributes:
        balance: None until its bank has answered; ``blocked`` also where it does not tell.
        read_at: When it answered last; None for never.
        asked_at: When somebody set out to ask it last; None for never.
    """

    account_id: str
    account_name: str
    provider: str
    balance: Money | None
    blocked: Money | None
    read_at: datetime | None
    asked_at: datetime | None


class AccountReadings(Protocol):
    """The latest reading of each account."""

    async def visible(self, scope: CompanyScope, most: int) -> Sequence[AccountReading]:
        """Return the active, verified accounts at banks that are in scope, oldest first."""
        ...

    async def of(self, account_id: str, scope: CompanyScope) -> AccountReading | None:
        """Return that of one of these accounts; None for any other."""
        ...

    async def claim(self, account_id: str, now: datetime, before: datetime) -> bool:
        """Set out to ask an account's bank; False where somebody has since ``before``."""
        ...

    async def keep(self, account_id: str, held: Balance, at: datetime) -> None:
        """Keep what an account held at an instant, unless a later answer is there."""
        ...
