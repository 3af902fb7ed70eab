"""
Balances as they were last read: asked for while somebody looks, at most once a minute each.

Whoever looks is told what is kept at once; what is older than a minute is asked anew meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from gateway.domain.accounts.accounts import Account, Accounts
from gateway.domain.backoffice.readings import AccountReading, AccountReadings
from gateway.domain.bank.capabilities import PortCall
from gateway.domain.bank.providers import Banks, ProviderError
from gateway.domain.kernel.clocks import Now
from gateway.domain.kernel.company_scope import CompanyScope
from gateway.domain.kernel.errors import ServiceError
from gateway.operations.bank.connections import bank_of, offered

_log = logging.getLogger(__name__)

READ_AT_MOST: Final = 50
"""Accounts of one view: each costs its bank a call a minute while somebody looks."""
_FRESH: Final = timedelta(minutes=1)
_AT_ONCE: Final = 4
"""Calls at once: partners' calls come first in the bank's bulkhead."""
_PATIENCE_S: Final = 8.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """
    Reads balances for people who look at many accounts.

    Attributes:
        wanted: Ids of accounts to be asked about; a set of this process.
        wake: Set when one was added.
    """

    records: AccountReadings
    accounts: Accounts
    banks: Banks
    now: Now
    wanted: set[str] = field(default_factory=set)
    wake: asyncio.Event = field(default_factory=asyncio.Event)

    async def look(self, scope: CompanyScope, _taken: None) -> Sequence[AccountReading]:
        """Return what is kept of the first accounts in scope; ask what is not fresh meanwhile."""
        found = await self.records.visible(scope, READ_AT_MOST)
        self._want(found)
        return found

    async def of(self, scope: CompanyScope, account_id: str) -> AccountReading | None:
        """Return what is kept of one account; ask if it is not fresh meanwhile."""
        found = await self.records.of(account_id, scope)
        self._want([found] if found else [])
        return found

    def _want(self, found: Sequence[AccountReading]) -> None:
        """Have those asked that nobody has asked within the last minute."""
        before = self.now() - _FRESH
        old = {each.account_id for each in found if not _asked_since(each, before)}
        if old:
            self.wanted.update(old)
            self.wake.set()

    async def turn(self) -> int:
        """Ask about every account that is wanted; return how many answered."""
        places = asyncio.Semaphore(_AT_ONCE)
        asked = sorted(self.wanted)
        self.wanted.clear()

        async def one(account_id: str) -> bool:
            async with places:
                return await self._asked(account_id)

        async with asyncio.TaskGroup() as asking:
            tasks = [asking.create_task(one(each)) for each in asked]
        return sum(each.result() for each in tasks)

    async def _asked(self, account_id: str) -> bool:
        """Ask about one, unless somebody did; a bank that does not answer leaves what is kept."""
        now = self.now()
        account = await self.accounts.find(account_id)
        if account is None or not await self.records.claim(account_id, now, now - _FRESH):
            return False
        try:
            async with asyncio.timeout(_PATIENCE_S):
                await self._keep(account)
        except (ServiceError, ProviderError, TimeoutError) as problem:
            _log.info("balance_not_read account_id=%s: %s", account_id, type(problem).__name__)
            return False
        return True

    async def _keep(self, account: Account) -> None:
        bank = bank_of(self.banks, account)
        balance = await offered(bank, PortCall.GET_BALANCE).get_balance(bank.account)
        await self.records.keep(account.id, balance, self.now())


def _asked_since(reading: AccountReading, before: datetime) -> bool:
    return reading.asked_at is not None and reading.asked_at > before
