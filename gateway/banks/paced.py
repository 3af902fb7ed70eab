"""Banks whose balances and movements are read within the follow-up's share of their limits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, cast

from gateway.banks.followup_rate import FollowupSlots
from gateway.banks.port.capabilities import Capabilities
from gateway.banks.port.providers import Bank, Banks, Page, ProviderAccount, ProviderAdapter
from gateway.banks.port.statements import Balance, Entry
from gateway.core.account import Account

if TYPE_CHECKING:
    from gateway.banks.port.providers import EveryCall
    from gateway.core.windows import Window

CALL_S: Final = 10.0
"""Of a bank for one call: a bank that hangs holds a place no longer."""


@dataclass(frozen=True, slots=True)
class PacedBanks:
    """
    Banks of which the balance and the statement alone are read, each call in its turn.

    Attributes:
        slots: Returns the places of a bank by its provider's name.
    """

    banks: Banks
    slots: Callable[[str], FollowupSlots]

    def of(self, account: Account) -> Bank | None:
        """Return the account's bank; raises as ``Banks.of``."""
        bank = self.banks.of(account)
        if bank is None:
            return None
        paced = _PacedReads(cast("EveryCall", bank.adapter), self.slots(bank.name))
        return replace(bank, adapter=cast("ProviderAdapter", paced))


@dataclass(frozen=True, slots=True)
class _PacedReads:
    adapter: EveryCall
    slots: FollowupSlots

    @property
    def capabilities(self) -> Capabilities:
        """What the bank offers."""
        return self.adapter.capabilities

    async def get_balance(self, account: ProviderAccount) -> Balance:
        """Read the balance."""
        async with self.slots.place(account.account_id), asyncio.timeout(CALL_S):
            return await self.adapter.get_balance(account)

    async def list_statement(
        self, account: ProviderAccount, window: Window, cursor: str | None, size: int
    ) -> Page[Entry]:
        """Read a page of movements."""
        async with self.slots.place(account.account_id), asyncio.timeout(CALL_S):
            return await self.adapter.list_statement(account, window, cursor, size)
